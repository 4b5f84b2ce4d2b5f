#pragma once

#include <QWidget>
#include <filesystem>
#include <vector>

class QAbstractItemModel;
class QTableView;
class QLabel;

namespace interlace::gui {

/// A table that can be sorted, if wanted, and copied or saved as CSV from its menu.
class TablePanel : public QWidget {
  Q_OBJECT

 public:
  /// The model must outlive the panel. stretched: the columns that share the room that is left; the others are as wide
  /// as what they hold.
  TablePanel(QAbstractItemModel* model, std::vector<int> stretched, bool sortable, QWidget* parent = nullptr);

  /// What is told while the table is empty: what would be there, and how to get it.
  void set_hint(const QString& hint);
  /// For sentences: what is too long for its column goes on below, in a row as high as that takes.
  void wrap_words();

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
  void show_hint();

  QTableView* table_;
  QLabel* hint_;
  QAbstractItemModel* model_;
  std::vector<int> stretched_;
};

}  // namespace interlace::gui
