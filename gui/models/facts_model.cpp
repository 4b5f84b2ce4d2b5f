#include "gui/models/facts_model.hpp"

#include "gui/models/csv.hpp"

namespace interlace::gui {

namespace {

/// Tool tips break lines at spaces only, and a name may have none.
QString in_lines(const QString& text) {
  constexpr qsizetype kColumns = 100;
  QStringList lines;
  for (qsizetype at = 0; at < text.size(); at += kColumns) lines << text.mid(at, kColumns).toHtmlEscaped();
  return QStringLiteral("<p style='white-space:pre'>%1</p>").arg(lines.join(QStringLiteral("<br>")));
}

}  // namespace

void FactsModel::set(std::vector<Fact> facts) {
  beginResetModel();
  facts_ = std::move(facts);
  endResetModel();
}

int FactsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(facts_.size());
}

int FactsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 2; }

QVariant FactsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Fact& fact = facts_[static_cast<std::size_t>(index.row())];
  const bool shortened = index.column() == 1 && !fact.whole.isEmpty();
  if (role == kWholeTextRole) return shortened ? fact.whole : QVariant();
  if (role == Qt::ToolTipRole && shortened) return in_lines(fact.whole);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  return index.column() == 0 ? fact.what : fact.text;
}

}  // namespace interlace::gui
