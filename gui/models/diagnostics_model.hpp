#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "simulator/base/diagnostics.hpp"

namespace interlace::gui {

/// What was missing, repaired or inferred in a recording: a line a kind of flaw.
class DiagnosticsModel : public QAbstractTableModel {
 public:
  enum Column { kSeverity, kCount, kMeaning, kAdvice, kFirstPlace, kCode, kColumns };

  using QAbstractTableModel::QAbstractTableModel;

  /// Shown with the gravest first.
  void set(std::vector<Diagnostic> found);

  [[nodiscard]] int kinds_of(Severity severity) const;
  /// "1 data loss, 2 warnings": how many kinds matter. Empty where there is only information.
  [[nodiscard]] QString grave() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role = Qt::DisplayRole) const override;

 private:
  std::vector<Diagnostic> found_;
};

}  // namespace interlace::gui
