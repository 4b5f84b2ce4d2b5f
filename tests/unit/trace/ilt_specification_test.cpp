#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/columns.hpp"

namespace interlace::trace::ilt {
namespace {

/// How the row of a column of this table begins.
std::string cell_of(ChunkType table) {
  std::string cell("| ");
  cell += to_string(table);
  return cell += '.';
}

/// One row of the specification's table of columns, up to the unit.
std::string row_of(const ColumnSpec& column) {
  static constexpr std::array<std::string_view, 6> kEncodings{"", "byte", "varint", "zigzag", "delta", "text"};
  std::string row = cell_of(column.table);
  row += column.name;
  row += " | ";
  row += kEncodings[static_cast<std::size_t>(column.encoding)];
  if (column.optional) row += ", optional";
  if (column.required) row += ", required";
  row += " | ";
  row += column.unit;
  return row + (column.unit.empty() ? "|" : " |");
}

TEST(IltSpecification, ListsTheColumnsAndCodesOfTheProgram) {
  std::ifstream in(INTERLACE_SOURCE_DIR "/docs/ilt_format.md");
  ASSERT_TRUE(in) << "docs/ilt_format.md is gone";
  std::size_t columns = 0;
  for (std::string line; std::getline(in, line);) {
    bool is_column = false;
    for (std::size_t type = 0; type < kChunkTypes; ++type) {
      is_column = is_column || line.starts_with(cell_of(static_cast<ChunkType>(type)));
    }
    if (!is_column) continue;
    ASSERT_LT(columns, kColumns) << line;
    const ColumnSpec& known = kColumnSpecs[columns++];
    EXPECT_TRUE(line.starts_with(row_of(known))) << line << "\nis in the program\n" << row_of(known);
    if (line.find("as source") != std::string::npos) continue;
    for (std::uint8_t value = 0; value < known.values; ++value) {
      const std::string entry = std::to_string(value) + " " + std::string(known.value_name(value));
      EXPECT_NE(line.find(entry), std::string::npos) << line << "\nlacks " << entry;
    }
  }
  EXPECT_EQ(columns, kColumns);
}

// The expected bytes are worked out by hand from the specification.
TEST(IltSpecification, FileHeaderIsAsWritten) {
  const Buffer header = file_header();
  const Buffer expected{0x89, 'I', 'L', 'T', 0x0D, 0x0A, 0x1A, 0x0A, 1, 0, 4, 0};
  ASSERT_EQ(header.size(), 16U);
  EXPECT_EQ(Buffer(header.begin(), header.begin() + 12), expected);
}

TEST(IltSpecification, ChecksumIsThatOfGzip) {
  const std::string check = "123456789";  // the check value that catalogues of CRCs give
  EXPECT_EQ(checksum({reinterpret_cast<const std::uint8_t*>(check.data()), check.size()}), 0xCBF43926U);
}

TEST(IltSpecification, ChunkHeaderIsAsWritten) {
  const Buffer payload{7, 8, 9};  // too short to compress
  const Buffer chunk = ChunkPacker(3).pack(ChunkType::kLanes, 0x0102030405, 6, payload);
  const Buffer expected{0xC5, 'i', 'l', 'c', 4, 0, 0, 0, 5, 4, 3, 2, 1, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0};
  ASSERT_EQ(chunk.size(), 36U + 3U);
  EXPECT_EQ(Buffer(chunk.begin(), chunk.begin() + 28), expected);
  EXPECT_EQ(get_fixed<std::uint32_t>(&chunk[28]), checksum(payload));
  EXPECT_EQ(get_fixed<std::uint32_t>(&chunk[32]), checksum(BytesView(chunk).first(32)));
  EXPECT_EQ(Buffer(chunk.begin() + 36, chunk.end()), payload);
}

TEST(IltSpecification, NumbersAreCodedAsWritten) {
  const auto coded = [](std::uint64_t value) {
    Buffer bytes;
    put_varint(bytes, value);
    return bytes;
  };
  EXPECT_EQ(coded(0), Buffer{0});
  EXPECT_EQ(coded(127), Buffer{0x7F});
  EXPECT_EQ(coded(300), (Buffer{0xAC, 0x02}));
  EXPECT_EQ(coded(UINT64_MAX), (Buffer{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}));
  EXPECT_EQ(zigzag(0), 0U);
  EXPECT_EQ(zigzag(3), 6U);
  EXPECT_EQ(zigzag(static_cast<std::uint64_t>(std::int64_t{-3})), 5U);
  EXPECT_EQ(zigzag(static_cast<std::uint64_t>(INT64_MIN)), UINT64_MAX);
  for (const std::int64_t value : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, INT64_MAX}) {
    const auto word = static_cast<std::uint64_t>(value);
    const Buffer bytes = coded(zigzag(word));
    EXPECT_EQ(unzigzag(ByteCursor(bytes).varint()), word);
  }
}

}  // namespace
}  // namespace interlace::trace::ilt
