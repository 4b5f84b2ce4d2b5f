#include "gui/panels/table_panel.hpp"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <ostream>
#include <utility>

#include "gui/models/csv.hpp"
#include "simulator/report/file_output.hpp"

namespace interlace::gui {

TablePanel::TablePanel(QAbstractItemModel* model, std::vector<int> stretched, bool sortable, QWidget* parent)
    : QWidget(parent),
      table_(new QTableView),
      hint_(new QLabel(table_->viewport())),
      model_(model),
      stretched_(std::move(stretched)) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(table_);
  if (sortable) {
    auto* sorted = new QSortFilterProxyModel(this);
    sorted->setSourceModel(model);
    sorted->setSortRole(Qt::UserRole);
    table_->setModel(sorted);
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);
  } else {
    table_->setModel(model);
  }
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(20);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setWordWrap(false);
  table_->setFrameShape(QFrame::NoFrame);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* copy_all = new QAction(tr("Copy table as CSV"), table_);
  connect(copy_all, &QAction::triggered, this, &TablePanel::copy);
  table_->addAction(copy_all);
  auto* save_all = new QAction(tr("Save table as CSV..."), table_);
  connect(save_all, &QAction::triggered, this, &TablePanel::save_wanted);
  table_->addAction(save_all);
  connect(model, &QAbstractItemModel::modelReset, this, &TablePanel::fit_columns);
  connect(model, &QAbstractItemModel::rowsInserted, this, &TablePanel::fit_columns);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (now.isValid()) Q_EMIT row_chosen(model_row(now.row()));
  });
  hint_->setWordWrap(true);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setForegroundRole(QPalette::PlaceholderText);
  hint_->setAttribute(Qt::WA_TransparentForMouseEvents);
  auto* over = new QVBoxLayout(table_->viewport());
  over->addWidget(hint_);
  for (const auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
    connect(model, changed, this, &TablePanel::show_hint);
  }
  connect(model, &QAbstractItemModel::modelReset, this, &TablePanel::show_hint);
  fit_columns();
}

void TablePanel::set_hint(const QString& hint) {
  hint_->setText(hint);
  show_hint();
}

void TablePanel::show_hint() { hint_->setVisible(model_->rowCount() == 0); }

void TablePanel::wrap_words() {
  table_->setWordWrap(true);
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  // Rows know what they hold, not how wide its columns have become.
  connect(table_->horizontalHeader(), &QHeaderView::sectionResized, table_, &QTableView::resizeRowsToContents);
}

void TablePanel::fit_columns() {
  QHeaderView* header = table_->horizontalHeader();
  if (model_->columnCount() == 0) return;
  for (int column = 0; column < model_->columnCount(); ++column) {
    const bool stretched = std::ranges::find(stretched_, column) != stretched_.end();
    header->setSectionResizeMode(column, stretched ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
  }
}

int TablePanel::model_row(int row) const {
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(table_->model());
  return sorted == nullptr ? row : sorted->mapToSource(sorted->index(row, 0)).row();
}

void TablePanel::select_model_row(int row) {
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(table_->model());
  const QModelIndex shown = sorted == nullptr ? model_->index(row, 0) : sorted->mapFromSource(model_->index(row, 0));
  const QSignalBlocker quiet(this);
  table_->setCurrentIndex(shown);
}

void TablePanel::save(const std::filesystem::path& file) const {
  report::write_file(file, [this](std::ostream& out) { out << csv_of(*table_->model()).toStdString(); });
}

void TablePanel::copy() const { QApplication::clipboard()->setText(csv_of(*table_->model())); }

}  // namespace interlace::gui
