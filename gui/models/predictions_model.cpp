#include "gui/models/predictions_model.hpp"

#include <QFont>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/csv.hpp"
#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

namespace {

constexpr double kNsPerMs = 1e6;

QVariant ms(Nanoseconds time) { return static_cast<double>(time) / kNsPerMs; }

QString ms_text(Nanoseconds time) { return QString::fromStdString(milliseconds_text(time)); }

QVariant of_overlap(const analysis::OverlapSummary& overlap, int column) {
  switch (column) {
    case PredictionsModel::kHidden: {
      const auto ratio = overlap.communication_hidden_ratio();
      return ratio ? QVariant(*ratio * 100) : QVariant();
    }
    case PredictionsModel::kExposedCommunication: return ms(overlap.exposed_communication_ns);
    case PredictionsModel::kExposedCopy: return ms(overlap.exposed_copy_ns);
    case PredictionsModel::kIdle: return ms(overlap.idle_ns);
    default: return {};
  }
}

/// GiB on the rank with most; none where no rank tells it.
template <class Rank, class Peak>
QVariant most(const std::vector<Rank>& ranks, Peak Rank::*peak) {
  std::optional<Bytes> largest;
  for (const Rank& rank : ranks) largest = std::max(largest, std::optional<Bytes>(rank.*peak));
  return largest ? QVariant(static_cast<double>(*largest) / kGibibyte) : QVariant();
}

QString lines(const std::vector<std::string>& texts) {
  QString all;
  for (const std::string& text : texts) all += QStringLiteral("• ") + QString::fromStdString(text) + QLatin1Char('\n');
  return all.trimmed();
}

/// "2", "1 known" or "2, 1 known"; known ones are not held against a schedule, and not counted with the others.
QString hazards_text(const report::Prediction& of) {
  QStringList parts;
  if (!of.hazards.empty()) parts << QString::number(of.hazards.size());
  if (!of.known_hazards.empty()) parts << PredictionsModel::tr("%1 known").arg(of.known_hazards.size());
  return parts.join(QStringLiteral(", "));
}

QString shown(const QVariant& number, int column) {
  if (!number.isValid()) return {};
  const double value = number.toDouble();
  switch (column) {
    case PredictionsModel::kSpeedup: return QString::number(value, 'f', 3) + QStringLiteral("x");
    case PredictionsModel::kHidden: return QString::number(value, 'f', 0) + QStringLiteral(" %");
    case PredictionsModel::kStaleness:
    case PredictionsModel::kRaces: return value > 0 ? QString::number(value, 'f', 0) : QString();
    case PredictionsModel::kAllocated:
    case PredictionsModel::kReserved: return QString::number(value, 'f', 2);
    default: return ms_text(std::llround(value * kNsPerMs));
  }
}

}  // namespace

void PredictionsModel::set_recorded(const report::RecordedRun& recorded, std::vector<analysis::MemoryUse> memory) {
  beginResetModel();
  recorded_ = recorded;
  recorded_memory_ = std::move(memory);
  predictions_.clear();
  outdated_.clear();
  endResetModel();
}

void PredictionsModel::set_replayed(std::optional<Nanoseconds> step) {
  if (!recorded_ || recorded_->predicted_step_time_ns == step) return;
  recorded_->predicted_step_time_ns = step;
  Q_EMIT dataChanged(index(0, kSchedule), index(0, kSchedule));
}

void PredictionsModel::add(const report::Prediction& prediction) {
  outdated_.erase(prediction.schedule);
  if (const auto row = row_of(prediction.schedule)) {
    predictions_[static_cast<std::size_t>(*row - (recorded_ ? 1 : 0))] = prediction;
    Q_EMIT dataChanged(index(*row, 0), index(*row, kColumns - 1));
    mark_best();
    return;
  }
  const int row = rowCount();
  beginInsertRows({}, row, row);
  predictions_.push_back(prediction);
  endInsertRows();
  mark_best();
}

void PredictionsModel::remove(const std::string& schedule) {
  const auto row = row_of(schedule);
  if (!row) return;
  beginRemoveRows({}, *row, *row);
  predictions_.erase(predictions_.begin() + (*row - (recorded_ ? 1 : 0)));
  endRemoveRows();
  outdated_.erase(schedule);
  mark_best();
}

void PredictionsModel::set_outdated(const std::string& schedule) {
  const auto row = row_of(schedule);
  if (!row || !outdated_.insert(schedule).second) return;
  Q_EMIT dataChanged(index(*row, kSchedule), index(*row, kSchedule));
}

void PredictionsModel::mark_best() {
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1), {Qt::FontRole});
}

bool PredictionsModel::is_best(int row) const {
  return !is_recorded(row) && report::is_best(predictions_, static_cast<std::size_t>(row - (recorded_ ? 1 : 0)));
}

void PredictionsModel::clear() {
  beginResetModel();
  recorded_.reset();
  predictions_.clear();
  outdated_.clear();
  endResetModel();
}

const report::Prediction* PredictionsModel::prediction(int row) const {
  const int position = row - (recorded_ ? 1 : 0);
  if (position < 0 || position >= static_cast<int>(predictions_.size())) return nullptr;
  return &predictions_[static_cast<std::size_t>(position)];
}

std::optional<int> PredictionsModel::row_of(const std::string& schedule) const {
  const auto found = std::ranges::find(predictions_, schedule, &report::Prediction::schedule);
  if (found == predictions_.end()) return std::nullopt;
  return static_cast<int>(found - predictions_.begin()) + (recorded_ ? 1 : 0);
}

bool PredictionsModel::has_numbers(Column column) const {
  for (int row = 0; row < rowCount(); ++row) {
    if (number(row, column).isValid()) return true;
  }
  return false;
}

QString PredictionsModel::csv() const { return csv_of(*this); }

int PredictionsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(predictions_.size()) + (recorded_ ? 1 : 0);
}

int PredictionsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant PredictionsModel::number(int row, int column) const {
  if (is_recorded(row)) {
    if (column == kStep && recorded_->step_time_ns) return ms(*recorded_->step_time_ns);
    if (column == kHostBlocked && recorded_->host_blocked_ns) return ms(*recorded_->host_blocked_ns);
    if (column == kAllocated) return most(recorded_memory_, &analysis::MemoryUse::allocated_peak);
    if (column == kReserved) return most(recorded_memory_, &analysis::MemoryUse::reserved_peak);
    return recorded_->overlap ? of_overlap(*recorded_->overlap, column) : QVariant();
  }
  const report::Prediction& of = *prediction(row);
  switch (column) {
    case kStep: return ms(of.step_time_ns);
    case kSpeedup: return of.speedup ? QVariant(*of.speedup) : QVariant();
    case kHostBlocked: return of.host_blocked_ns ? ms(*of.host_blocked_ns) : QVariant();
    case kAllocated: return most(of.memory, &report::RankMemory::allocated_peak);
    case kReserved: return most(of.memory, &report::RankMemory::reserved_peak);
    case kRaces: return static_cast<int>(of.races.size());
    case kHazards: return static_cast<int>(of.hazards.size());
    case kStaleness:
      return static_cast<qlonglong>(std::max(of.tables_late.value_or(0), of.parameters_late.value_or(0)));
    default: return of_overlap(of.overlap, column);
  }
}

QVariant PredictionsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int row = index.row();
  const report::Prediction* of = prediction(row);
  if (role == Qt::TextAlignmentRole) {
    return QVariant((index.column() == kSchedule ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::FontRole && is_best(row)) {
    QFont font;
    font.setBold(true);
    return font;
  }
  if (role == Qt::ToolTipRole && of != nullptr) {
    switch (index.column()) {
      case kRaces: return lines(of->races);
      case kHazards: return lines(report::hazard_lines(*of));
      default: return lines(of->reasons);
    }
  }
  if (index.column() == kSchedule && (role == Qt::DisplayRole || role == Qt::UserRole)) {
    if (of != nullptr) {
      const QString name = QString::fromStdString(of->schedule);
      return outdated_.contains(of->schedule) ? tr("%1 (before the last edit)").arg(name) : name;
    }
    const QString schedule =
        recorded_->schedule ? QString::fromStdString(*recorded_->schedule) : tr("schedule not known");
    const QString text = tr("measured (%1)").arg(schedule);
    if (!recorded_->predicted_step_time_ns) return text;
    return text + tr(", %1 ms replayed").arg(ms_text(*recorded_->predicted_step_time_ns));
  }
  if (index.column() == kInterval) {
    if (of == nullptr || (role != Qt::DisplayRole && role != Qt::UserRole)) return {};
    if (role == Qt::UserRole) return ms(of->step_time_high_ns - of->step_time_low_ns);
    return QStringLiteral("%1 - %2").arg(ms_text(of->step_time_low_ns), ms_text(of->step_time_high_ns));
  }
  if (index.column() == kHazards && role == Qt::DisplayRole) return of == nullptr ? QString() : hazards_text(*of);
  if (role == Qt::UserRole) return number(row, index.column());
  if (role == Qt::DisplayRole) return shown(number(row, index.column()), index.column());
  return {};
}

QVariant PredictionsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole && section == kSchedule) {
    return tr("bold: %1")
        .arg(QString::fromUtf8(report::kBestMeans.data(), static_cast<qsizetype>(report::kBestMeans.size())));
  }
  if (role == Qt::ToolTipRole && section == kSpeedup) return tr("over the recorded schedule replayed");
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kSchedule: return tr("schedule");
    case kStep: return tr("step ms");
    case kInterval: return tr("p10 - p90");
    case kSpeedup: return tr("speed-up");
    case kHidden: return tr("hidden comm");
    case kExposedCommunication: return tr("exposed comm ms");
    case kExposedCopy: return tr("exposed copy ms");
    case kIdle: return tr("idle ms");
    case kHostBlocked: return tr("host blocked ms");
    case kAllocated: return tr("peak allocated GiB");
    case kReserved: return tr("peak reserved GiB");
    case kRaces: return tr("races");
    case kHazards: return tr("hazards");
    case kStaleness: return tr("updates late");
    default: return {};
  }
}

}  // namespace interlace::gui
