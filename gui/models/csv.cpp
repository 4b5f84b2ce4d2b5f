#include "gui/models/csv.hpp"

#include <QAbstractItemModel>
#include <QStringList>

namespace interlace::gui {

namespace {

QString field(QString text) {
  if (!text.contains(u'"') && !text.contains(u',') && !text.contains(u'\n') && !text.contains(u'\r')) return text;
  return u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"';
}

}  // namespace

QString csv_of(const QAbstractItemModel& table) {
  QString text;
  const auto add_line = [&](auto cell_of) {
    QStringList cells;
    for (int column = 0; column < table.columnCount(); ++column) cells << field(cell_of(column).toString());
    text += cells.join(u',') + QStringLiteral("\r\n");
  };
  add_line([&](int column) { return table.headerData(column, Qt::Horizontal); });
  for (int row = 0; row < table.rowCount(); ++row) {
    add_line([&](int column) {
      const QModelIndex cell = table.index(row, column);
      const QVariant whole = cell.data(kWholeTextRole);
      return whole.isValid() ? whole : cell.data();
    });
  }
  return text;
}

}  // namespace interlace::gui
