#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <optional>
#include <vector>

#include "gui/timeline/measure.hpp"

namespace interlace::gui {

/// What lies in a measured range: a line for all and one a name, with count, sum, shortest, average and longest.
class RangeModel : public QAbstractTableModel {
 public:
  enum Column { kName, kCount, kSum, kShortest, kAverage, kLongest, kColumns };

  using QAbstractTableModel::QAbstractTableModel;

  /// The names are copied: the trace may go.
  void set(const trace::Trace& trace, const RangeTotals& totals);
  void clear();

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role = Qt::DisplayRole) const override;

 private:
  struct Line {
    QString name;
    std::int64_t count = 0;
    Nanoseconds sum = 0;
    Nanoseconds shortest = 0;
    Nanoseconds average = 0;
    Nanoseconds longest = 0;
  };
  std::vector<Line> lines_;
};

}  // namespace interlace::gui
