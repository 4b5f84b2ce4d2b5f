#include "gui/models/draft_model.hpp"

#include <QMimeData>
#include <algorithm>
#include <utility>

#include "gui/session/in_qt.hpp"

namespace interlace::gui {

namespace {

using schedule::RecordStep;
using schedule::Schedule;
using schedule::StageStep;
using schedule::Step;
using schedule::StreamIndex;
using schedule::WaitStep;

const QString kRowMime = QStringLiteral("application/x-interlace-schedule-row");
const QString kHost = QStringLiteral("host");

QString name_of(const Schedule& schedule, StreamIndex stream) { return in_qt(schedule.stream(stream).name); }

QString names_of(const Schedule& schedule, const std::vector<StreamIndex>& streams) {
  QStringList names;
  for (const StreamIndex stream : streams) names << name_of(schedule, stream);
  return names.join(QStringLiteral(", "));
}

QString joined(const std::vector<std::string>& texts) {
  QStringList all;
  for (const std::string& text : texts) all << in_qt(text);
  return all.join(QStringLiteral(", "));
}

QString title_of(const Step& step) {
  if (const auto* stage = std::get_if<StageStep>(&step.action)) {
    QString title = in_qt(schedule::to_string(stage->stage));
    if (stage->part) title += QStringLiteral(" (%1)").arg(in_qt(schedule::to_string(*stage->part)));
    if (stage->module) title += QStringLiteral(" of %1").arg(in_qt(*stage->module));
    return title;
  }
  if (const auto* record = std::get_if<RecordStep>(&step.action)) {
    return QStringLiteral("record %1").arg(in_qt(record->event));
  }
  return std::holds_alternative<WaitStep>(step.action) ? QStringLiteral("wait") : QStringLiteral("for each module");
}

/// All that a stage says beside stage, batch, stream and waits.
QString rest_of(const Schedule& schedule, const StageStep& stage) {
  QStringList words;
  if (!stage.record_stream.empty()) words << "record_stream " + names_of(schedule, stage.record_stream);
  if (stage.alloc) words << "alloc " + name_of(schedule, *stage.alloc);
  if (stage.kept_until) words << "kept until " + in_qt(schedule::to_string(*stage.kept_until));
  if (stage.mode) words << in_qt(schedule::to_string(*stage.mode));
  if (stage.async) words << QStringLiteral("async");
  if (stage.record) words << "records " + in_qt(*stage.record);
  if (!stage.reads.empty()) words << "reads " + joined(stage.reads);
  if (!stage.writes.empty()) words << "writes " + joined(stage.writes);
  if (!stage.frees.empty()) words << "frees " + joined(stage.frees);
  return words.join(QStringLiteral("; "));
}

QVariant batch_of(const Step& step) {
  if (const auto* stage = std::get_if<StageStep>(&step.action)) return stage->batch;
  const auto* wait = std::get_if<WaitStep>(&step.action);
  if (wait != nullptr && std::holds_alternative<std::string>(wait->source)) return wait->event_batch;
  return {};
}

QString stream_of(const Schedule& schedule, const Step& step) {
  if (const auto* stage = std::get_if<StageStep>(&step.action)) return name_of(schedule, stage->stream);
  if (const auto* record = std::get_if<RecordStep>(&step.action)) return name_of(schedule, record->stream);
  const auto* wait = std::get_if<WaitStep>(&step.action);
  if (wait == nullptr) return {};
  return wait->waiter ? name_of(schedule, *wait->waiter) : kHost;
}

QString waits_of(const Schedule& schedule, const Step& step) {
  if (const auto* stage = std::get_if<StageStep>(&step.action)) return names_of(schedule, stage->after);
  const auto* wait = std::get_if<WaitStep>(&step.action);
  if (wait == nullptr) return {};
  if (const auto* stream = std::get_if<StreamIndex>(&wait->source)) return name_of(schedule, *stream);
  return in_qt(std::get<std::string>(wait->source));
}

/// "main, memcpy" as names.
std::vector<std::string> names_in(const QString& text) {
  std::vector<std::string> names;
  const QStringList parts = text.split(u',', Qt::SkipEmptyParts);
  names.reserve(static_cast<std::size_t>(parts.size()));
  for (const QString& part : parts) names.push_back(part.trimmed().toStdString());
  return names;
}

}  // namespace

DraftModel::DraftModel(Draft draft, QObject* parent)
    : QAbstractTableModel(parent), draft_(std::move(draft)), rows_(draft_.rows()) {}

void DraftModel::set_draft(Draft draft) {
  beginResetModel();
  draft_ = std::move(draft);
  rows_ = draft_.rows();
  verdict_.reset();
  endResetModel();
  Q_EMIT edited(std::nullopt);
}

void DraftModel::set_verdict(VerdictPtr verdict) {
  verdict_ = std::move(verdict);
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

DraftRow::Kind DraftModel::kind(int row) const { return rows_[static_cast<std::size_t>(row)].kind; }

QStringList DraftModel::streams_for(int row) const {
  QStringList names;
  for (const schedule::Stream& stream : draft_.schedule().streams) names << in_qt(stream.name);
  if (kind(row) == DraftRow::Kind::kWait) names << kHost;
  return names;
}

QStringList DraftModel::sources() const {
  QStringList names;
  for (const schedule::Stream& stream : draft_.schedule().streams) names << in_qt(stream.name);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const Step& step = draft_.step(row);
    if (const auto* record = std::get_if<RecordStep>(&step.action)) names << in_qt(record->event);
    const auto* stage = std::get_if<StageStep>(&step.action);
    if (stage != nullptr && stage->record) names << in_qt(*stage->record);
  }
  names.removeDuplicates();
  return names;
}

template <class Edit>
bool DraftModel::change(Edit edit, std::optional<int> row) {
  Draft next = draft_;
  if (!edit(next)) return false;
  const bool same_rows = next.rows().size() == rows_.size();
  if (!same_rows) beginResetModel();
  draft_ = std::move(next);
  rows_ = draft_.rows();
  verdict_.reset();  // it is of another schedule
  if (!same_rows) {
    endResetModel();
  } else if (!rows_.empty()) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
  }
  Q_EMIT edited(row);
  return true;
}

bool DraftModel::move_row(int from, int to) {
  if (from < 0 || to < 0) return false;
  return change_place(
      [&](Draft& draft) { return draft.move(static_cast<std::size_t>(from), static_cast<std::size_t>(to)); });
}

bool DraftModel::move_row_by_one(int from, bool up) {
  if (from < 0) return false;
  return change_place([&](Draft& draft) { return draft.move_by_one(static_cast<std::size_t>(from), up); });
}

template <class Move>
bool DraftModel::change_place(Move move) {
  Draft tried = draft_;
  const auto landed = move(tried);
  if (!landed) return false;
  return change(
      [&](Draft& draft) {
        draft = std::move(tried);
        return true;
      },
      static_cast<int>(*landed));
}

bool DraftModel::add_wait(int row, const QString& waiter, const QString& source) {
  return row >= 0 &&
         change(
             [&](Draft& draft) {
               return draft.add_wait(static_cast<std::size_t>(row), waiter.toStdString(), source.toStdString());
             },
             row);
}

bool DraftModel::remove_row(int row) {
  if (row < 0 || row >= rowCount()) return false;
  return change([&](Draft& draft) { return draft.remove(static_cast<std::size_t>(row)); }, row);
}

bool DraftModel::add_stream(const QString& name) {
  return change([&](Draft& draft) { return draft.add_stream(name.toStdString()); }, std::nullopt);
}

bool DraftModel::rename(const QString& name) {
  return change([&](Draft& draft) { return draft.rename(name.toStdString()); }, std::nullopt);
}

bool DraftModel::repair() {
  if (!verdict_ || !verdict_->repaired) return false;
  return change(
      [repaired = *verdict_->repaired](Draft& draft) {
        draft.replace(repaired);
        return true;
      },
      std::nullopt);
}

bool DraftModel::undo() {
  if (!draft_.can_undo()) return false;
  return change(
      [](Draft& draft) {
        draft.undo();
        return true;
      },
      std::nullopt);
}

bool DraftModel::redo() {
  if (!draft_.can_redo()) return false;
  return change(
      [](Draft& draft) {
        draft.redo();
        return true;
      },
      std::nullopt);
}

int DraftModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int DraftModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant DraftModel::text(int row, int column) const {
  const Step& step = draft_.step(static_cast<std::size_t>(row));
  const Schedule& schedule = draft_.schedule();
  switch (column) {
    case kLine: return row + 1;
    case kStep: {
      const bool inside = rows_[static_cast<std::size_t>(row)].inner.has_value();
      return (inside ? QStringLiteral("    ") : QString()) + title_of(step);
    }
    case kBatch: return batch_of(step);
    case kStream: return stream_of(schedule, step);
    case kWaitsFor: return waits_of(schedule, step);
    case kMore: {
      const auto* stage = std::get_if<StageStep>(&step.action);
      return stage == nullptr ? QString() : rest_of(schedule, *stage);
    }
    default: return {};
  }
}

QVariant DraftModel::finding(int row, int role) const {
  if (!verdict_) return {};
  const Remark* worst = nullptr;
  QStringList all;
  for (const Remark& remark : verdict_->remarks) {
    if (remark.line != row + 1) continue;
    if (worst == nullptr || remark.gravity > worst->gravity) worst = &remark;
    all << in_qt(remark.text);
  }
  if (worst == nullptr) return {};
  switch (role) {
    case Qt::DisplayRole: return in_qt(worst->text);
    case Qt::ToolTipRole: return all.join(QStringLiteral("\n\n"));
    default: return static_cast<int>(worst->gravity);
  }
}

QVariant DraftModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == kGravityRole || role == Qt::ToolTipRole) return finding(index.row(), role);
  if (role == Qt::TextAlignmentRole) {
    const bool number = index.column() == kLine || index.column() == kBatch;
    return ((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter).toInt();
  }
  if (role != Qt::DisplayRole && role != Qt::EditRole) return {};
  if (index.column() == kFinding) return finding(index.row(), Qt::DisplayRole);
  return text(index.row(), index.column());
}

bool DraftModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
  const auto row = static_cast<std::size_t>(index.row());
  const auto edit = [&](Draft& draft) {
    switch (index.column()) {
      case kBatch: return draft.set_batch(row, value.toInt());
      case kStream: return draft.set_stream(row, value.toString().toStdString());
      case kWaitsFor: return draft.set_waits(row, names_in(value.toString()));
      default: return false;
    }
  };
  return change(edit, index.row());
}

QVariant DraftModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kLine: return tr("line");
    case kStep: return tr("step");
    case kBatch: return tr("batch");
    case kStream: return tr("stream");
    case kWaitsFor: return tr("waits for");
    case kMore: return tr("more");
    case kFinding: return tr("finding");
    default: return {};
  }
}

Qt::ItemFlags DraftModel::flags(const QModelIndex& index) const {
  // Between rows one can drop, on them not.
  if (!index.isValid()) return Qt::ItemIsDropEnabled;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled;
  const Step& step = draft_.step(static_cast<std::size_t>(index.row()));
  const DraftRow::Kind of = kind(index.row());
  const bool waits = of == DraftRow::Kind::kStage || of == DraftRow::Kind::kWait;
  const bool editable = (index.column() == kBatch && batch_of(step).isValid()) ||
                        (index.column() == kStream && of != DraftRow::Kind::kGroup) ||
                        (index.column() == kWaitsFor && waits);
  if (editable) flags |= Qt::ItemIsEditable;
  return flags;
}

QStringList DraftModel::mimeTypes() const { return {kRowMime}; }

QMimeData* DraftModel::mimeData(const QModelIndexList& indexes) const {
  if (indexes.isEmpty()) return nullptr;
  auto* data = new QMimeData;  // the caller's
  data->setData(kRowMime, QByteArray::number(indexes.front().row()));
  return data;
}

bool DraftModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int /*column*/,
                              const QModelIndex& parent) {
  if (action != Qt::MoveAction || data == nullptr || !data->hasFormat(kRowMime)) return false;
  const int to = row >= 0 ? row : (parent.isValid() ? parent.row() : rowCount());
  return move_row(data->data(kRowMime).toInt(), to);
}

}  // namespace interlace::gui
