#pragma once

#include <QAbstractTableModel>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulator/analysis/memory.hpp"
#include "simulator/report/predict_report.hpp"

namespace interlace::gui {

/// A line for the recording and one for each prediction, in the order in which they came; columns as in `interlace
/// predict`. Qt::UserRole gives the number behind a cell, to sort by; Qt::ToolTipRole what is behind it. The schedules
/// to take, report::is_best(), are bold.
class PredictionsModel : public QAbstractTableModel {
 public:
  enum Column {
    kSchedule,
    kStep,
    kInterval,
    kSpeedup,
    kHidden,
    kExposedCommunication,
    kExposedCopy,
    kIdle,
    kHostBlocked,
    kAllocated,
    kReserved,
    kRaces,
    kHazards,
    kStaleness,
    kColumns
  };

  using QAbstractTableModel::QAbstractTableModel;

  /// Drops all lines but the recording's. memory: as recorded; may be empty.
  void set_recorded(const report::RecordedRun& recorded, std::vector<analysis::MemoryUse> memory = {});
  /// The recorded schedule replayed, which speed-ups refer to: told on the recording's line.
  void set_replayed(std::optional<Nanoseconds> step);
  /// Replaces the line of the same schedule where there is one.
  void add(const report::Prediction& prediction);
  void remove(const std::string& schedule);
  /// The line of this schedule is of it as it was before edits; until add() brings another.
  void set_outdated(const std::string& schedule);
  void clear();

  /// The prediction of a line; none for the recording's.
  [[nodiscard]] const report::Prediction* prediction(int row) const;
  [[nodiscard]] std::optional<int> row_of(const std::string& schedule) const;
  /// Whether any line has something to tell in this column.
  [[nodiscard]] bool has_numbers(Column column) const;
  /// RFC 4180, header first.
  [[nodiscard]] QString csv() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role = Qt::DisplayRole) const override;

 private:
  [[nodiscard]] bool is_recorded(int row) const { return recorded_ && row == 0; }
  void mark_best();
  [[nodiscard]] bool is_best(int row) const;
  [[nodiscard]] QVariant number(int row, int column) const;

  std::optional<report::RecordedRun> recorded_;
  std::vector<analysis::MemoryUse> recorded_memory_;
  std::vector<report::Prediction> predictions_;
  std::set<std::string> outdated_;
};

}  // namespace interlace::gui
