#include "gui/panels/draft_delegate.hpp"

#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <utility>

#include "gui/models/draft_model.hpp"

namespace interlace::gui {

namespace {

const DraftModel& model_of(const QModelIndex& index) { return *qobject_cast<const DraftModel*>(index.model()); }

}  // namespace

DraftDelegate::DraftDelegate(QObject* parent) : QStyledItemDelegate(parent), theme_(&theme(ThemeKind::kLight)) {}

void DraftDelegate::commit_open() {
  if (!open_) return;
  QWidget* const editor = std::exchange(open_, nullptr);
  Q_EMIT commitData(editor);
  Q_EMIT closeEditor(editor);
}

QWidget* DraftDelegate::choice(QWidget* parent, const QStringList& of) const {
  auto* box = new QComboBox(parent);
  box->addItems(of);
  box->setMinimumWidth(box->sizeHint().width());  // its column is as wide as the names alone
  // What is chosen from the list is chosen: nobody presses Return behind that.
  connect(box, &QComboBox::activated, this, &DraftDelegate::commit_open);
  open_ = box;
  return box;
}

QWidget* DraftDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                     const QModelIndex& index) const {
  const DraftModel& model = model_of(index);
  switch (index.column()) {
    case DraftModel::kBatch: {
      auto* number = new QSpinBox(parent);
      number->setRange(0, schedule::kMaxBatch);
      open_ = number;
      return number;
    }
    case DraftModel::kStream: return choice(parent, model.streams_for(index.row()));
    case DraftModel::kWaitsFor: {
      if (model.kind(index.row()) == DraftRow::Kind::kWait) return choice(parent, model.sources());
      auto* line = new QLineEdit(parent);
      line->setPlaceholderText(tr("streams, with commas"));
      open_ = line;
      return line;
    }
    default: return QStyledItemDelegate::createEditor(parent, option, index);
  }
}

void DraftDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
  if (auto* box = qobject_cast<QComboBox*>(editor)) {
    box->setCurrentText(index.data(Qt::EditRole).toString());
  } else {
    QStyledItemDelegate::setEditorData(editor, index);
  }
}

void DraftDelegate::setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const {
  if (const auto* box = qobject_cast<const QComboBox*>(editor)) {
    model->setData(index, box->currentText(), Qt::EditRole);
  } else {
    QStyledItemDelegate::setModelData(editor, model, index);
  }
}

void DraftDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const QVariant found = index.data(DraftModel::kGravityRole);
  if (index.column() == DraftModel::kMore || index.column() == DraftModel::kLine) {
    option->palette.setColor(QPalette::Text, theme_->dim_text);
  }
  if (!found.isValid()) return;
  const auto gravity = static_cast<Gravity>(found.toInt());
  if (gravity < Gravity::kHazard) {
    if (index.column() == DraftModel::kFinding) option->palette.setColor(QPalette::Text, theme_->dim_text);
    return;
  }
  constexpr double kTint = 0.16;
  option->backgroundBrush = mixed(theme_->bad, theme_->background, kTint);
  if (index.column() == DraftModel::kFinding) option->palette.setColor(QPalette::Text, theme_->bad);
}

}  // namespace interlace::gui
