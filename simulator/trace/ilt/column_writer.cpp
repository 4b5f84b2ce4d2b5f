#include "simulator/trace/ilt/column_writer.hpp"

namespace interlace::trace::ilt {

std::size_t ColumnWriter::bytes(ChunkType table) const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (spec(static_cast<Column>(i)).table == table) bytes += data_[i].presence.size() + data_[i].values.size();
  }
  return bytes;
}

Buffer ColumnWriter::take(ChunkType table) {
  std::uint64_t columns = 0;
  Buffer directory;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const Data& data = data_[i];
    if (data.rows == 0 || spec(static_cast<Column>(i)).table != table) continue;
    ++columns;
    put_varint(directory, i);
    put_varint(directory, data.rows);
    put_varint(directory, data.presence.size() + data.values.size());
    bytes += data.presence.size() + data.values.size();
  }
  Buffer payload;
  payload.reserve(directory.size() + bytes + 10);
  put_varint(payload, columns);
  payload.insert(payload.end(), directory.begin(), directory.end());
  for (std::size_t i = 0; i < kColumns; ++i) {
    Data& data = data_[i];
    if (data.rows == 0 || spec(static_cast<Column>(i)).table != table) continue;
    payload.insert(payload.end(), data.presence.begin(), data.presence.end());
    payload.insert(payload.end(), data.values.begin(), data.values.end());
    data.presence.clear();
    data.values.clear();
    data.rows = 0;
    data.previous = 0;
  }
  return payload;
}

Buffer schema_payload() {
  Buffer payload;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const ColumnSpec& column = spec(static_cast<Column>(i));
    std::string values;
    for (std::uint8_t value = 0; value < column.values; ++value) {
      if (value > 0) values += ',';
      values += column.value_name(value);
    }
    Buffer row;
    put_varint(row, i);
    put_varint(row, static_cast<std::uint64_t>(column.table));
    row.push_back(static_cast<std::uint8_t>(column.encoding));
    row.push_back(column.optional ? 1 : 0);
    put_text(row, column.name);
    put_text(row, column.unit);
    put_text(row, values);
    put_varint(payload, row.size());
    payload.insert(payload.end(), row.begin(), row.end());
  }
  return payload;
}

}  // namespace interlace::trace::ilt
