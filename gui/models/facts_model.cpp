#include "gui/models/facts_model.hpp"

namespace interlace::gui {

void FactsModel::set(std::vector<Fact> facts) {
  beginResetModel();
  facts_ = std::move(facts);
  endResetModel();
}

int FactsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(facts_.size());
}

int FactsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 2; }

QVariant FactsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const Fact& fact = facts_[static_cast<std::size_t>(index.row())];
  return index.column() == 0 ? fact.first : fact.second;
}

}  // namespace interlace::gui
