#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <utility>
#include <vector>

namespace interlace::gui {

/// Two columns of text: what, and how much.
class FactsModel : public QAbstractTableModel {
 public:
  struct Fact {
    Fact(QString what_is_told, QString text_shown, QString whole_text = {})
        : what(std::move(what_is_told)), text(std::move(text_shown)), whole(std::move(whole_text)) {}

    QString what;
    QString text;
    QString whole;  ///< of a text that is shortened; it is told in the tool tip and in copies
  };

  using QAbstractTableModel::QAbstractTableModel;

  void set(std::vector<Fact> facts);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  std::vector<Fact> facts_;
};

}  // namespace interlace::gui
