#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "gui/session/run.hpp"

namespace interlace::gui {

/// The blocks that one rank's allocator has handed out at one moment, the largest first; above them what is always
/// there. Qt::UserRole gives the number behind a cell, to sort by.
class BlocksModel : public QAbstractTableModel {
 public:
  enum Column { kBytes, kStage, kBatch, kPool, kSince, kUntil, kColumns };
  /// More are left out: the last line says how many.
  static constexpr std::size_t kMost = 2'000;

  /// curve: of Run::memory(). anchor: time 0 of what is shown.
  void set(RunPtr run, std::size_t curve, Nanoseconds at, Nanoseconds anchor);
  void clear();

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  [[nodiscard]] QVariant of_block(const analysis::BlockLife& block, int column, bool sorted) const;
  [[nodiscard]] QVariant time(std::optional<Nanoseconds> at, bool sorted) const;
  [[nodiscard]] bool left_out(int row) const;

  RunPtr run_;
  std::size_t curve_ = 0;
  Nanoseconds anchor_ = 0;
  std::vector<std::size_t> alive_;
};

}  // namespace interlace::gui
