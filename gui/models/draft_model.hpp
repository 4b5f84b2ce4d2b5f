#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <optional>

#include "gui/session/draft.hpp"
#include "gui/session/verdict.hpp"

namespace interlace::gui {

/// The lines of a schedule that is being edited, with what is wrong with them. Cells that can be changed are edited by
/// setData, rows are reordered by dragging; each change is one step of undo. What makes no sense is refused.
class DraftModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kLine, kStep, kBatch, kStream, kWaitsFor, kMore, kFinding, kColumns };
  /// The worst Gravity of a row, as int; none: nothing was found.
  static constexpr int kGravityRole = Qt::UserRole;

  explicit DraftModel(Draft draft, QObject* parent = nullptr);

  /// Begins anew.
  void set_draft(Draft draft);
  /// Null: not judged yet.
  void set_verdict(VerdictPtr verdict);

  [[nodiscard]] const Draft& draft() const { return draft_; }
  [[nodiscard]] const VerdictPtr& verdict() const { return verdict_; }
  [[nodiscard]] DraftRow::Kind kind(int row) const;
  /// Names that the stream of a row may have.
  [[nodiscard]] QStringList streams_for(int row) const;
  /// What a wait may wait for: streams and recorded events.
  [[nodiscard]] QStringList sources() const;

  bool move_row(int from, int to);
  bool move_row_by_one(int from, bool up);
  bool add_wait(int row, const QString& waiter, const QString& source);
  bool remove_row(int row);
  bool add_stream(const QString& name);
  bool rename(const QString& name);
  /// With all fixes that the verdict knows; false where there are none.
  bool repair();
  bool undo();
  bool redo();

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  [[nodiscard]] Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
  [[nodiscard]] QStringList mimeTypes() const override;
  [[nodiscard]] QMimeData* mimeData(const QModelIndexList& indexes) const override;
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                    const QModelIndex& parent) override;

 Q_SIGNALS:
  /// The schedule is another than before. row: what was touched, where one was.
  void edited(std::optional<int> row);

 private:
  template <class Move>
  bool change_place(Move move);
  template <class Edit>
  bool change(Edit edit, std::optional<int> row);
  [[nodiscard]] QVariant text(int row, int column) const;
  [[nodiscard]] QVariant finding(int row, int role) const;

  Draft draft_;
  std::vector<DraftRow> rows_;
  VerdictPtr verdict_;
};

}  // namespace interlace::gui
