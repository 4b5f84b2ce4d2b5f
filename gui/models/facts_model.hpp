#pragma once

#include <QAbstractTableModel>
#include <utility>
#include <vector>

namespace interlace::gui {

/// Two columns of text: what, and how much.
class FactsModel : public QAbstractTableModel {
 public:
  using Fact = std::pair<QString, QString>;

  using QAbstractTableModel::QAbstractTableModel;

  void set(std::vector<Fact> facts);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  std::vector<Fact> facts_;
};

}  // namespace interlace::gui
