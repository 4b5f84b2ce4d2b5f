#pragma once

#include <QStyledItemDelegate>

#include "gui/theme/theme.hpp"

namespace interlace::gui {

/// Edits the cells of a DraftModel, and tints the lines that something is wrong with.
class DraftDelegate : public QStyledItemDelegate {
 public:
  explicit DraftDelegate(QObject* parent = nullptr);

  void set_theme(const Theme& theme) { theme_ = &theme; }

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void setEditorData(QWidget* editor, const QModelIndex& index) const override;
  void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  const Theme* theme_;
};

}  // namespace interlace::gui
