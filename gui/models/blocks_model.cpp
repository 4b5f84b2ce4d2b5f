#include "gui/models/blocks_model.hpp"

#include <algorithm>
#include <utility>

#include "gui/timeline/memory_plot.hpp"
#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

void BlocksModel::set(RunPtr run, std::size_t curve, Nanoseconds at, Nanoseconds anchor) {
  beginResetModel();
  run_ = std::move(run);
  curve_ = curve;
  anchor_ = anchor;
  alive_ = run_->memory()[curve_].alive_at(at);
  endResetModel();
}

void BlocksModel::clear() {
  beginResetModel();
  run_.reset();
  alive_.clear();
  endResetModel();
}

int BlocksModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !run_ || run_->memory()[curve_].allocated.empty()) return 0;
  // What is always there, the blocks, and how many are left out.
  return 1 + static_cast<int>(std::min(alive_.size(), kMost)) + (alive_.size() > kMost ? 1 : 0);
}

int BlocksModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

bool BlocksModel::left_out(int row) const { return static_cast<std::size_t>(row) > kMost; }

QVariant BlocksModel::time(std::optional<Nanoseconds> at, bool sorted) const {
  if (!at) return {};
  if (sorted) return static_cast<qlonglong>(*at);
  const Nanoseconds from_zero = *at - anchor_;
  const QString text = QString::fromStdString(duration_text(std::abs(from_zero)));
  return from_zero < 0 ? QStringLiteral("-") + text : text;
}

QVariant BlocksModel::of_block(const analysis::BlockLife& block, int column, bool sorted) const {
  const Tags& tags = run_->scene().tags();
  const auto& pools = run_->memory()[curve_].pools;
  switch (column) {
    case kBytes: return sorted ? QVariant(static_cast<qlonglong>(block.bytes)) : QVariant(bytes_text(block.bytes));
    case kStage:
      if (!block.made_by) return tr("before the first event");
      return QString::fromStdString(tags.stages()[tags.stage_of(*block.made_by)]);
    case kBatch: {
      const auto batch = block.made_by ? tags.batch_of(*block.made_by) : std::nullopt;
      return batch ? QVariant(*batch) : QVariant();
    }
    case kPool: return block.pool ? QVariant(pool_name(run_->trace(), pools[*block.pool])) : QVariant();
    case kSince: return time(block.begin, sorted);
    case kUntil: return time(block.end, sorted);
    default: return {};
  }
}

QVariant BlocksModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool words = index.column() == kStage || index.column() == kPool;
    return ((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter).toInt();
  }
  if (role != Qt::DisplayRole && role != Qt::UserRole) return {};
  const bool sorted = role == Qt::UserRole;
  const analysis::MemoryCurve& curve = run_->memory()[curve_];
  if (index.row() == 0) {
    if (index.column() == kStage) return tr("always there");
    if (index.column() != kBytes) return {};
    return sorted ? QVariant(static_cast<qlonglong>(curve.persistent)) : QVariant(bytes_text(curve.persistent));
  }
  if (left_out(index.row())) {
    if (index.column() != kStage) return {};
    return tr("%1 smaller blocks").arg(static_cast<qulonglong>(alive_.size() - kMost));
  }
  return of_block(curve.blocks[alive_[static_cast<std::size_t>(index.row()) - 1]], index.column(), sorted);
}

QVariant BlocksModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kBytes: return tr("bytes");
    case kStage: return tr("made in");
    case kBatch: return tr("batch");
    case kPool: return tr("pool of");
    case kSince: return tr("since");
    case kUntil: return tr("until");
    default: return {};
  }
}

}  // namespace interlace::gui
