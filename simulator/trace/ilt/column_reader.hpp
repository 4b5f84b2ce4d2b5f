#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/columns.hpp"
#include "simulator/trace/ilt/varint.hpp"

namespace interlace::trace::ilt {

/// What a file says of its columns: which of ours each is, and how it is encoded. Columns that this version does not
/// know, by name or by encoding, are counted once.
class Schema {
 public:
  struct Entry {
    std::optional<Column> column;  ///< none where this version does not know it
    Encoding encoding = Encoding::kByte;
    bool optional = false;
  };

  /// Adds the rows of one schema chunk; throws Malformed (also for a unit that is not the specified one).
  void add(BytesView payload, std::uint32_t rows, Diagnostics& diagnostics);
  /// The column that the file numbers so; null where no schema chunk told.
  [[nodiscard]] const Entry* find(std::uint64_t number) const;

 private:
  void add_row(ByteCursor row, Diagnostics& diagnostics);

  std::vector<std::optional<Entry>> entries_;
};

/// Gives the values of one column of one chunk, first to last. The chunk's bytes must outlive it.
class ColumnCursor {
 public:
  ColumnCursor() = default;
  ColumnCursor(const Schema::Entry& entry, std::uint64_t rows, BytesView bytes);

  /// Whether the chunk has the column.
  [[nodiscard]] bool in_chunk() const { return in_chunk_; }
  [[nodiscard]] std::uint64_t rows_left() const { return rows_ - row_; }
  [[nodiscard]] bool used_up() const { return row_ == rows_ && values_.at_end(); }

  /// Begins the next row; false where it has no value.
  [[nodiscard]] bool next_row() {
    if (row_ == rows_) throw Malformed{kInvalid, "a column has fewer rows than there are operations for it"};
    const std::uint64_t row = row_++;
    return !optional_ || ((presence_[row / 8] >> (row % 8)) & 1U) != 0;
  }

  /// The value of the row begun, as a word in two's complement. The column must hold numbers.
  [[nodiscard]] std::uint64_t word() {
    switch (encoding_) {
      case Encoding::kByte: return values_.byte();
      case Encoding::kVarint: return values_.varint();
      case Encoding::kZigzag: return unzigzag(values_.varint());
      case Encoding::kDelta: return previous_ += unzigzag(values_.varint());
      case Encoding::kText: break;
    }
    return 0;
  }

  /// The value of the row begun. The column must hold texts.
  [[nodiscard]] std::string_view text() { return values_.text(); }

 private:
  ByteCursor values_;
  const std::uint8_t* presence_ = nullptr;
  std::uint64_t rows_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t previous_ = 0;
  Encoding encoding_ = Encoding::kByte;
  bool optional_ = false;
  bool in_chunk_ = false;
};

/// The columns of one chunk. Its bytes must outlive it.
class ChunkColumns {
 public:
  /// Throws Malformed where the directory contradicts the specification, and kDamaged where a column is not in the
  /// schema because that part of the file was lost.
  ChunkColumns(BytesView payload, ChunkType table, const Schema& schema, bool file_is_damaged);

  [[nodiscard]] ColumnCursor& operator[](Column column) { return cursors_[static_cast<std::size_t>(column)]; }
  /// Throws Malformed where values are left: a reader that went on would give other rows than were written.
  void check_used_up() const;

 private:
  std::array<ColumnCursor, kColumns> cursors_;
};

}  // namespace interlace::trace::ilt
