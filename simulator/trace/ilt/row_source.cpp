#include "simulator/trace/ilt/row_source.hpp"

#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/fields.hpp"

namespace interlace::trace::ilt {

namespace {

std::string name_of(Column column) {
  return std::string(to_string(spec(column).table)) + "." + std::string(spec(column).name);
}

}  // namespace

void RowSource::missing(Column column) { throw Malformed{kInvalid, "column " + name_of(column) + " lacks a value"}; }

void RowSource::out_of_range(Column column) {
  throw Malformed{kInvalid, "a value of column " + name_of(column) + " is out of range"};
}

void RowSource::count_unknown(Column column, std::uint64_t value) {
  diagnostics_.count(kUnknownValue, name_of(column) + " = " + std::to_string(value));
  if (spec(column).required) has_unknown_row_ = true;
}

std::uint32_t RowSource::narrow_row(Column column, std::uint64_t word) {
  if (word >= kMaxTableRows) out_of_range(column);
  return static_cast<std::uint32_t>(word);
}

std::uint32_t RowSource::row_number(Column column) {
  ColumnCursor& cursor = columns_[column];
  if (!cursor.in_chunk() || !cursor.next_row()) missing(column);
  return narrow_row(column, cursor.word());
}

void RowSource::take(Column column, ColumnCursor& cursor, StringId& value) {
  const std::uint32_t row = narrow_row(column, cursor.word());
  if (row < ids_.strings.size() && ids_.strings[row]) {
    value = *ids_.strings[row];
    return;
  }
  if (!ids_.is_damaged) out_of_range(column);
  value = builder_.intern("(lost)");
  diagnostics_.count(kLostReferences, name_of(column));
}

void RowSource::take(Column column, ColumnCursor& cursor, LaneId&, std::optional<LaneId>& whole) {
  const std::uint32_t row = narrow_row(column, cursor.word());
  if (row >= ids_.lanes.size() && !ids_.is_damaged) out_of_range(column);
  whole = row < ids_.lanes.size() ? ids_.lanes[row] : std::nullopt;
  if (!whole) diagnostics_.count(kLostReferences, name_of(column));
}

Rank read_rank(RowSource& source, ChunkColumns& columns) {
  Rank rank;
  rank_fields(source, rank);
  std::uint64_t devices = 0;
  source.field(Column::kRankDevices, devices);
  if (devices > columns[Column::kDeviceOrdinal].rows_left()) {
    throw Malformed{kInvalid, "a rank has more devices than the chunk"};
  }
  for (; devices > 0; --devices) device_fields(source, rank.devices.emplace_back());
  return rank;
}

}  // namespace interlace::trace::ilt
