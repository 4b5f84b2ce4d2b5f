#pragma once

#include <QWidget>
#include <filesystem>
#include <optional>

class QAbstractItemModel;
class QTableView;

namespace interlace::gui {

/// A table that can be sorted, if wanted, and copied or saved as CSV from its menu.
class TablePanel : public QWidget {
  Q_OBJECT

 public:
  /// The model must outlive the panel. stretched: the column that takes the room that is left; none: each
  /// is as wide as what it holds.
  TablePanel(QAbstractItemModel* model, std::optional<int> stretched, bool sortable, QWidget* parent = nullptr);

  [[nodiscard]] QTableView& table() const { return *table_; }
  /// The row of the model behind a row of the table.
  [[nodiscard]] int model_row(int row) const;
  /// The row of the table that shows a row of the model.
  void select_model_row(int row);
  /// To the clipboard, as CSV.
  void copy() const;
  /// To a file, as CSV. Throws report.cannot_write.
  void save(const std::filesystem::path& file) const;

 Q_SIGNALS:
  /// Chosen by mouse or keys: the model's row.
  void row_chosen(int row);
  /// The user wants the table in a file.
  void save_wanted();

 private:
  void fit_columns();

  QTableView* table_;
  QAbstractItemModel* model_;
  std::optional<int> stretched_;
};

}  // namespace interlace::gui
