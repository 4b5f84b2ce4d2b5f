#pragma once

#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/column_reader.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace::ilt {

/// The operations of a file by their row, as runs of rows that all were added to the builder one after another.
class OperationRows {
 public:
  /// The next row; none where it was left out.
  void push_back(std::optional<OperationId> id) {
    if (id && (runs_.empty() || runs_.back().end_row != rows_)) runs_.push_back({rows_, rows_, *id});
    ++rows_;
    if (id) runs_.back().end_row = rows_;
  }
  /// Rows up to this one are lost.
  void skip_to(std::uint64_t row) { rows_ = row; }

  [[nodiscard]] std::uint64_t size() const { return rows_; }
  [[nodiscard]] std::optional<OperationId> find(std::uint64_t row) const {
    const auto after = std::ranges::upper_bound(runs_, row, {}, &Run::first_row);
    if (after == runs_.begin()) return std::nullopt;
    const Run& run = *std::prev(after);
    if (row >= run.end_row) return std::nullopt;
    return OperationId{run.first_id.value + static_cast<std::uint32_t>(row - run.first_row)};
  }

 private:
  struct Run {
    std::uint64_t first_row;
    std::uint64_t end_row;
    OperationId first_id;
  };
  std::vector<Run> runs_;
  std::uint64_t rows_ = 0;
};

/// What the rows that a file numbers are called in the Trace being built; none where a row is lost.
struct RowIds {
  std::vector<std::optional<StringId>> strings;
  std::vector<std::optional<RankId>> ranks;
  std::vector<std::optional<LaneId>> lanes;
  OperationRows operations;
  /// Whether part of the file is lost, so that a reference to a row that was not read may be right.
  bool is_damaged = false;
};

/// Gives the fields of rows from the columns of one chunk (the reading side of fields.hpp). A field whose column is
/// not in the chunk keeps its default. Throws Malformed where values contradict the specification.
class RowSource {
 public:
  RowSource(ChunkColumns& columns, const RowIds& ids, TraceBuilder& builder, Diagnostics& diagnostics)
      : columns_(columns), ids_(ids), builder_(builder), diagnostics_(diagnostics) {}

  template <class T>
  void field(Column column, T& value) {
    ColumnCursor& cursor = columns_[column];
    if (!cursor.in_chunk()) {
      if (spec(column).required) missing(column);
    } else if (cursor.next_row()) {
      take(column, cursor, value);
    } else if (spec(column).required) {
      missing(column);
    }
  }

  template <class T>
  void field(Column column, std::optional<T>& value) {
    ColumnCursor& cursor = columns_[column];
    if (cursor.in_chunk() && cursor.next_row()) take(column, cursor, value.emplace(), value);
  }

  /// A row number of another table, not looked up.
  [[nodiscard]] std::uint32_t row_number(Column column);

  /// True once where a code was read since the last call that this version does not know and that has no "unknown".
  [[nodiscard]] bool take_unknown_row() { return std::exchange(has_unknown_row_, false); }

 private:
  [[noreturn]] static void missing(Column column);
  [[noreturn]] static void out_of_range(Column column);
  void count_unknown(Column column, std::uint64_t value);
  [[nodiscard]] static std::uint32_t narrow_row(Column column, std::uint64_t word);

  template <class T>
  void take(Column column, ColumnCursor& cursor, T& value, std::optional<T>&) {
    take(column, cursor, value);
  }
  void take(Column column, ColumnCursor& cursor, LaneId& value, std::optional<LaneId>& whole);

  void take(Column, ColumnCursor& cursor, std::string& value) { value = cursor.text(); }
  void take(Column column, ColumnCursor& cursor, StringId& value);
  /// Operations are looked up when all are read.
  void take(Column column, ColumnCursor& cursor, OperationId& value) {
    value = OperationId{narrow_row(column, cursor.word())};
  }
  void take(Column column, ColumnCursor& cursor, bool& value) {
    const std::uint64_t word = cursor.word();
    if (word > 1) out_of_range(column);
    value = word == 1;
  }

  template <std::integral T>
  void take(Column column, ColumnCursor& cursor, T& value) {
    const std::uint64_t word = cursor.word();
    value = static_cast<T>(word);
    if (static_cast<std::uint64_t>(value) != word) out_of_range(column);
    if constexpr (std::signed_integral<T>) {
      const ValueRange range = allowed(column);
      if (value < range.least || value > range.most) out_of_range(column);
    }
  }

  template <class Enum>
  requires std::is_enum_v<Enum>
  void take(Column column, ColumnCursor& cursor, Enum& value) {
    const std::uint64_t word = cursor.word();
    if (word < spec(column).values) {
      value = static_cast<Enum>(word);
    } else {
      count_unknown(column, word);
    }
  }

  ChunkColumns& columns_;
  const RowIds& ids_;
  TraceBuilder& builder_;  ///< to name lost texts
  Diagnostics& diagnostics_;
  bool has_unknown_row_ = false;
};

/// The next row of a ranks chunk, with its devices.
[[nodiscard]] Rank read_rank(RowSource& source, ChunkColumns& columns);

}  // namespace interlace::trace::ilt
