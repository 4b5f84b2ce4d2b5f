#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>

#include "simulator/base/id.hpp"
#include "simulator/trace/ilt/columns.hpp"
#include "simulator/trace/ilt/varint.hpp"

namespace interlace::trace::ilt {

/// Gathers values column by column and gives them as the payload of a chunk. Numbers are kept as 64-bit words in two's
/// complement, whatever their type.
class ColumnWriter {
 public:
  template <class T>
  void field(Column column, const T& value) {
    Data& data = data_[static_cast<std::size_t>(column)];
    ++data.rows;
    put(data, spec(column).encoding, value);
  }

  template <class T>
  void field(Column column, const std::optional<T>& value) {
    Data& data = data_[static_cast<std::size_t>(column)];
    if (data.rows % 8 == 0) data.presence.push_back(0);
    if (value) {
      data.presence.back() = static_cast<std::uint8_t>(data.presence.back() | (1U << (data.rows % 8)));
      put(data, spec(column).encoding, *value);
    }
    ++data.rows;
  }

  /// What the columns of `table` take by now.
  [[nodiscard]] std::size_t bytes(ChunkType table) const;

  /// The payload of a chunk of `table`: the directory of its columns that have rows, then their bytes. Those columns
  /// are empty afterwards.
  [[nodiscard]] Buffer take(ChunkType table);

 private:
  struct Data {
    Buffer presence;
    Buffer values;
    std::uint64_t rows = 0;
    std::uint64_t previous = 0;
  };

  static void put(Data& data, Encoding, const std::string& text) { put_text(data.values, text); }

  template <class Tag>
  static void put(Data& data, Encoding encoding, const Id<Tag>& id) {
    put(data, encoding, id.value);
  }

  template <class Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  static void put(Data& data, Encoding encoding, const Number& number) {
    const auto word = static_cast<std::uint64_t>(number);
    switch (encoding) {
      case Encoding::kByte: data.values.push_back(static_cast<std::uint8_t>(word)); break;
      case Encoding::kVarint: put_varint(data.values, word); break;
      case Encoding::kZigzag: put_varint(data.values, zigzag(word)); break;
      case Encoding::kDelta: put_varint(data.values, zigzag(word - data.previous)); break;
      case Encoding::kText: break;  // the specification gives no number this encoding
    }
    data.previous = word;
  }

  std::array<Data, kColumns> data_;
};

/// The payload of the schema chunk of this version. One row a column of each table.
[[nodiscard]] Buffer schema_payload();

}  // namespace interlace::trace::ilt
