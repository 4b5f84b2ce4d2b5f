#pragma once

#include <QPointer>
#include <QStyledItemDelegate>
#include <QWidget>

#include "gui/theme/theme.hpp"

namespace interlace::gui {

/// Edits the cells of a DraftModel, and tints the lines that something is wrong with.
class DraftDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit DraftDelegate(QObject* parent = nullptr);

  void set_theme(const Theme& theme) { theme_ = &theme; }
  /// What is being edited becomes the cell's, as Return does it.
  void commit_open();

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void setEditorData(QWidget* editor, const QModelIndex& index) const override;
  void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  [[nodiscard]] QWidget* choice(QWidget* parent, const QStringList& of) const;

  const Theme* theme_;
  mutable QPointer<QWidget> open_;  ///< the last one made; views make them of a delegate that is const
};

}  // namespace interlace::gui
