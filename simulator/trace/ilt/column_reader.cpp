#include "simulator/trace/ilt/column_reader.hpp"

#include <string>

namespace interlace::trace::ilt {

namespace {

constexpr std::uint64_t kMaxColumnNumber = UINT16_MAX;

std::optional<Column> column_named(std::uint64_t table, std::string_view name) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    const ColumnSpec& known = spec(static_cast<Column>(i));
    if (static_cast<std::uint64_t>(known.table) == table && known.name == name) return known.column;
  }
  return std::nullopt;
}

std::string full_name(std::uint64_t table, std::string_view name) {
  const bool is_known = table > 0 && table < kChunkTypes;
  const auto type = static_cast<ChunkType>(is_known ? table : 0);
  return std::string(to_string(type)) + "." + std::string(name);
}

std::string full_name(Column column) {
  return full_name(static_cast<std::uint64_t>(spec(column).table), spec(column).name);
}

}  // namespace

void Schema::add(BytesView payload, std::uint32_t rows, Diagnostics& diagnostics) {
  ByteCursor all(payload);
  for (std::uint32_t i = 0; i < rows; ++i) add_row(ByteCursor(all.bytes(all.varint())), diagnostics);
  if (!all.at_end()) throw Malformed{kInvalid, "the schema has more bytes than rows"};
}

void Schema::add_row(ByteCursor row, Diagnostics& diagnostics) {
  const std::uint64_t number = row.varint();
  const std::uint64_t table = row.varint();
  const auto encoding = static_cast<Encoding>(row.byte());
  const bool optional = (row.byte() & 1U) != 0;
  const std::string_view name = row.text();
  const std::string_view unit = row.text();
  if (number > kMaxColumnNumber) throw Malformed{kInvalid, "a column number is above 65535"};

  const bool knows_encoding = encoding >= Encoding::kByte && encoding <= Encoding::kText;
  Entry entry{column_named(table, name), encoding, optional};
  if (!knows_encoding) entry.column.reset();
  if (!entry.column) {
    diagnostics.count(kUnknownColumn, full_name(table, name));
  } else {
    const ColumnSpec& known = spec(*entry.column);
    if (unit != known.unit) {
      throw Malformed{kUnit, "column " + full_name(table, name) + " is in \"" + std::string(unit) +
                                 "\", but this version reads it in \"" + std::string(known.unit) + "\""};
    }
    if ((encoding == Encoding::kText) != (known.encoding == Encoding::kText)) {
      throw Malformed{kInvalid, "column " + full_name(table, name) + " mixes texts and numbers"};
    }
  }
  if (entries_.size() <= number) entries_.resize(number + 1);
  entries_[number] = entry;
}

const Schema::Entry* Schema::find(std::uint64_t number) const {
  return number < entries_.size() && entries_[number] ? &*entries_[number] : nullptr;
}

ColumnCursor::ColumnCursor(const Schema::Entry& entry, std::uint64_t rows, BytesView bytes)
    : rows_(rows), encoding_(entry.encoding), optional_(entry.optional), in_chunk_(true) {
  if (rows > kMaxChunkRows) throw Malformed{kTooLarge, "a column has more rows than a chunk may have"};
  ByteCursor all(bytes);
  if (optional_) presence_ = all.bytes((rows + 7) / 8).data();
  values_ = all;
}

ChunkColumns::ChunkColumns(BytesView payload, ChunkType table, const Schema& schema, bool file_is_damaged) {
  ByteCursor directory(payload);
  struct Row {
    std::uint64_t number, rows, bytes;
  };
  std::vector<Row> rows;
  for (std::uint64_t columns = directory.varint(); columns > 0; --columns) {
    const std::uint64_t number = directory.varint();
    const std::uint64_t of_column = directory.varint();
    rows.push_back({number, of_column, directory.varint()});
  }
  for (const Row& row : rows) {
    const BytesView bytes = directory.bytes(row.bytes);
    const Schema::Entry* entry = schema.find(row.number);
    if (entry == nullptr) {
      const ErrorCode code = file_is_damaged ? kDamaged : kInvalid;
      throw Malformed{code, "column " + std::to_string(row.number) + " is not in the schema"};
    }
    if (!entry->column) continue;
    if (spec(*entry->column).table != table) {
      throw Malformed{kInvalid, "column " + full_name(*entry->column) + " stands in a chunk of another table"};
    }
    ColumnCursor& cursor = (*this)[*entry->column];
    if (cursor.in_chunk())
      throw Malformed{kInvalid, "column " + full_name(*entry->column) + " stands twice in a chunk"};
    cursor = ColumnCursor(*entry, row.rows, bytes);
  }
  if (!directory.at_end()) throw Malformed{kInvalid, "a chunk has more bytes than its columns"};
}

void ChunkColumns::check_used_up() const {
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (!cursors_[i].in_chunk() || cursors_[i].used_up()) continue;
    throw Malformed{kInvalid, "column " + full_name(static_cast<Column>(i)) + " has more values than rows"};
  }
}

}  // namespace interlace::trace::ilt
