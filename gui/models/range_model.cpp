#include "gui/models/range_model.hpp"

#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

void RangeModel::set(const trace::Trace& trace, const RangeTotals& totals) {
  beginResetModel();
  lines_.clear();
  QString all = tr("all in the range of %1, busy for %2")
                    .arg(QString::fromStdString(duration_text(totals.range.length())))
                    .arg(QString::fromStdString(duration_text(totals.busy)));
  if (totals.cut > 0) all += tr("; %1 of them only partly in it, counted whole").arg(totals.cut);
  lines_.push_back({all, totals.count, totals.sum, totals.shortest, totals.average(), totals.longest});
  for (const NameTotals& of : totals.names) {
    const std::string_view name = trace.text(of.name);
    lines_.push_back({QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())), of.count, of.sum,
                      of.shortest, of.average(), of.longest});
  }
  endResetModel();
}

void RangeModel::clear() {
  beginResetModel();
  lines_.clear();
  endResetModel();
}

int RangeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int RangeModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant RangeModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((index.column() == kName ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  const Line& line = lines_[static_cast<std::size_t>(index.row())];
  if (role == Qt::ToolTipRole && index.column() == kName) return line.name;
  if (role != Qt::DisplayRole && role != Qt::UserRole) return {};
  const auto time = [role](Nanoseconds ns) {
    return role == Qt::UserRole ? QVariant(static_cast<qlonglong>(ns))
                                : QVariant(QString::fromStdString(duration_text(ns)));
  };
  switch (index.column()) {
    case kName: return line.name;
    case kCount: return static_cast<qlonglong>(line.count);
    case kSum: return time(line.sum);
    case kShortest: return time(line.shortest);
    case kAverage: return time(line.average);
    case kLongest: return time(line.longest);
    default: return {};
  }
}

QVariant RangeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kName: return tr("operation");
    case kCount: return tr("count");
    case kSum: return tr("sum");
    case kShortest: return tr("min");
    case kAverage: return tr("avg");
    case kLongest: return tr("max");
    default: return {};
  }
}

}  // namespace interlace::gui
