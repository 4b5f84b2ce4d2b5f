#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <sstream>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/base/physical_memory.hpp"
#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/column_writer.hpp"
#include "simulator/trace/ilt/fields.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "simulator/trace/limits.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

using ilt::Buffer;
using ilt::ChunkType;
using ilt::Column;

/// Makes files chunk by chunk, also such as this version's writer never would.
class IltReaderTest : public testing::Test {
 protected:
  Buffer file = ilt::file_header();
  ilt::ColumnWriter columns;
  Diagnostics diagnostics;

  void put(const Buffer& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); }
  void put_chunk(ChunkType type, std::uint32_t rows, const Buffer& payload, std::uint64_t first_row = 0) {
    put(ilt::ChunkPacker(3).pack(type, first_row, rows, payload));
  }
  void put_chunk(ChunkType type, std::uint32_t rows, std::uint64_t first_row = 0) {
    put_chunk(type, rows, columns.take(type), first_row);
  }
  void put_schema() { put_chunk(ChunkType::kSchema, ilt::kColumns, ilt::schema_payload()); }
  /// One more row of the schema: a column of this number.
  static Buffer schema_row(std::uint64_t number, ChunkType table, ilt::Encoding encoding, std::string_view name,
                           std::string_view unit = {}) {
    Buffer row;
    ilt::put_varint(row, number);
    ilt::put_varint(row, static_cast<std::uint64_t>(table));
    row.push_back(static_cast<std::uint8_t>(encoding));
    row.push_back(0);
    ilt::put_text(row, name);
    ilt::put_text(row, unit);
    ilt::put_text(row, "");
    Buffer sized;
    ilt::put_varint(sized, row.size());
    sized.insert(sized.end(), row.begin(), row.end());
    return sized;
  }
  /// One text, one rank and two lanes: a thread and a stream.
  void put_definitions() {
    columns.field(Column::kStringText, std::string("op"));
    put_chunk(ChunkType::kStrings, 1);
    const Rank rank;
    ilt::rank_fields(columns, rank);
    put_chunk(ChunkType::kRanks, 1);
    for (const auto kind : {LaneKind::kHostThread, LaneKind::kStream}) {
      columns.field(Column::kLaneRank, 0);
      const Lane lane{.kind = kind};
      ilt::lane_fields(columns, lane);
    }
    put_chunk(ChunkType::kLanes, 2);
  }
  void add_call(int kind, std::uint32_t lane, std::uint32_t name, Nanoseconds start, Nanoseconds duration = 1) {
    columns.field(Column::kKind, static_cast<std::uint8_t>(kind));
    columns.field(Column::kLane, lane);
    columns.field(Column::kName, name);
    columns.field(Column::kStart, start);
    columns.field(Column::kDuration, duration);
    columns.field(Column::kCallCorrelation, std::optional<std::int64_t>());
    columns.field(Column::kSyncKind, std::optional<SyncKind>());
  }
  void put_end(std::uint64_t operations) {
    columns.field(Column::kEndOperations, operations);
    put_chunk(ChunkType::kEnd, 1);
  }

  Trace read() { return read_ilt(file, "made.ilt", diagnostics); }
  std::string error_of_reading() {
    try {
      (void)read();
      return "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.place().find("made.ilt"), 0U);
      return std::string(error.code());
    }
  }
  static constexpr int kCall = static_cast<int>(OperationKind::kHostCall);
};

TEST_F(IltReaderTest, ReadsWhatIsMadeByHand) {
  put_schema();
  put_definitions();
  add_call(kCall, 0, 0, 100);
  put_chunk(ChunkType::kOperations, 1);
  put_end(1);
  const Trace trace = read();
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace.origin(), 100);
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(IltReaderTest, RefusesWhatIsNotAnIltFile) {
  file.clear();
  EXPECT_EQ(error_of_reading(), "ilt.not_ilt");
  file = {'{', '"', 't', 'r', 'a', 'c', 'e', 'E', 'v', 'e', 'n', 't', 's', '"', ':', '['};
  EXPECT_EQ(error_of_reading(), "ilt.not_ilt");
  EXPECT_FALSE(looks_like_ilt(file));
  EXPECT_TRUE(looks_like_ilt(ilt::file_header()));
}

TEST_F(IltReaderTest, RefusesANewerMajorVersionAndReadsANewerMinorOne) {
  const auto set_version = [&](std::uint8_t major, std::uint8_t minor) {
    file[8] = major;
    file[10] = minor;
    Buffer sum;
    ilt::put_fixed(sum, ilt::checksum(std::span(file).first(12)));
    std::copy(sum.begin(), sum.end(), file.begin() + 12);
  };
  put_schema();
  put_end(0);
  set_version(1, 9);
  EXPECT_EQ(read().size(), 0U);
  EXPECT_TRUE(diagnostics.empty());
  set_version(2, 0);
  EXPECT_EQ(error_of_reading(), "ilt.newer_version");
  set_version(0, 0);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
  file[10] ^= 1;
  EXPECT_EQ(error_of_reading(), "ilt.damaged");
}

TEST_F(IltReaderTest, SkipsAndCountsUnknownChunks) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  std::ostringstream out;
  write_ilt(trace, found, out, "memory", {.operations_per_chunk = 4});
  const std::string whole = out.str();
  const Buffer stranger = ilt::ChunkPacker(3).pack(static_cast<ChunkType>(99), 0, 5, Buffer(1'000, 7));
  // After the file header and after the schema: before everything that the unknown chunk might disturb.
  for (const std::size_t chunks_before : {0U, 1U}) {
    const std::size_t at =
        ilt::kFileHeaderBytes + chunks_before * (ilt::kChunkHeaderBytes + static_cast<std::uint8_t>(whole[36]) +
                                                 256U * static_cast<std::uint8_t>(whole[37]));
    file.assign(whole.begin(), whole.end());
    file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), stranger.begin(), stranger.end());
    diagnostics = {};
    EXPECT_EQ(first_difference(trace, read()), "");
    EXPECT_EQ(diagnostics.count_of("ilt.unknown_chunk"), 1);
    EXPECT_EQ(diagnostics.entries().size(), found.entries().size() + 1);
  }
}

TEST_F(IltReaderTest, SkipsAndCountsUnknownColumns) {
  Buffer schema = ilt::schema_payload();
  for (const Buffer& row : {schema_row(200, ChunkType::kStrings, ilt::Encoding::kZigzag, "length"),
                            schema_row(300, ChunkType::kStrings, static_cast<ilt::Encoding>(77), "text")}) {
    schema.insert(schema.end(), row.begin(), row.end());
  }
  put_chunk(ChunkType::kSchema, ilt::kColumns + 2, schema);
  const auto text = static_cast<std::uint8_t>(Column::kStringText);
  // Directory: three columns as (number, rows, bytes); then their bytes.
  put_chunk(ChunkType::kStrings, 1, {3, 0xC8, 1, 1, 1, text, 1, 3, 0xAC, 2, 1, 2, /**/ 9, /**/ 2, 'o', 'p', /**/ 1, 2});
  put_end(0);
  const Trace trace = read();
  ASSERT_EQ(trace.strings().size(), 1U);
  EXPECT_EQ(trace.strings()[0], "op");
  EXPECT_EQ(diagnostics.count_of("ilt.unknown_column"), 2);
  EXPECT_EQ(diagnostics.entries().at(0).first_place, "strings.length");
}

TEST_F(IltReaderTest, HonoursTheNumbersAndEncodingsOfTheFilesOwnSchema) {
  put_chunk(ChunkType::kSchema, 1, schema_row(5, ChunkType::kStrings, ilt::Encoding::kText, "text"));
  Buffer more;
  for (const Buffer& row : {schema_row(6, ChunkType::kRanks, ilt::Encoding::kDelta, "number"),
                            schema_row(7, ChunkType::kRanks, ilt::Encoding::kVarint, "process_id")}) {
    more.insert(more.end(), row.begin(), row.end());
  }
  put_chunk(ChunkType::kSchema, 2, more, 1);
  put_chunk(ChunkType::kStrings, 1, {1, 5, 1, 1, /**/ 0});
  put_chunk(ChunkType::kRanks, 2, {2, 6, 2, 2, 7, 2, 3, /**/ 8, 3, /**/ 0x80, 1, 3});
  const Trace trace = read();
  ASSERT_EQ(trace.ranks().size(), 2U);
  EXPECT_EQ(trace.ranks()[0].number, 4);      // zigzag 8
  EXPECT_EQ(trace.ranks()[1].number, 4 - 2);  // zigzag 3 after it
  EXPECT_EQ(trace.ranks()[0].process_id, 128);
  EXPECT_EQ(trace.ranks()[1].process_id, 3);
}

TEST_F(IltReaderTest, RefusesAnotherUnit) {
  put_chunk(ChunkType::kSchema, 1, schema_row(1, ChunkType::kOperations, ilt::Encoding::kDelta, "start", "us"));
  EXPECT_EQ(error_of_reading(), "ilt.unit");
}

TEST_F(IltReaderTest, LeavesOutOperationsOfAnUnknownKindAndCountsThem) {
  put_schema();
  put_definitions();
  for (int i = 0; i < 2; ++i) {  // a kind of a later version: none of our detail columns has a row for it
    columns.field(Column::kKind, static_cast<std::uint8_t>(kOperationKinds));
    columns.field(Column::kLane, 0);
    columns.field(Column::kName, 0);
    columns.field(Column::kStart, 7);
    columns.field(Column::kDuration, 1);
  }
  add_call(kCall, 0, 0, 100);
  put_chunk(ChunkType::kOperations, 3);
  put_end(3);
  EXPECT_EQ(read().size(), 1U);
  EXPECT_EQ(diagnostics.count_of("ilt.unknown_value"), 2);
}

TEST_F(IltReaderTest, LeavesOutOperationsAtImpossibleTimesAndCountsThem) {
  put_schema();
  put_definitions();
  add_call(kCall, 0, 0, std::numeric_limits<std::int64_t>::min());
  add_call(kCall, 0, 0, std::numeric_limits<std::int64_t>::max());
  add_call(kCall, 0, 0, 0, std::numeric_limits<std::int64_t>::max());
  add_call(kCall, 0, 0, 0, std::numeric_limits<std::int64_t>::min());
  add_call(kCall, 0, 0, ilt::kEarliestTime, ilt::kLongestDuration);
  add_call(kCall, 0, 0, ilt::kLatestTime, ilt::kLongestDuration);
  put_chunk(ChunkType::kOperations, 6);
  put_end(6);
  EXPECT_EQ(read().size(), 2U);
  EXPECT_EQ(diagnostics.count_of("ilt.time_out_of_range"), 4);
}

// Products of them are taken in 64 and 32 bits, and no machine has run such a kernel.
TEST_F(IltReaderTest, RefusesDetailsBeyondTheLimits) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto outcome = [&](const KernelDetail& kernel, const CollectiveDetail& collective = {}) {
    file = ilt::file_header();
    put_schema();
    put_definitions();
    columns.field(Column::kKind, static_cast<std::uint8_t>(OperationKind::kCollective));
    columns.field(Column::kLane, 1U);
    columns.field(Column::kName, 0U);
    columns.field(Column::kStart, Nanoseconds{1});
    columns.field(Column::kDuration, Nanoseconds{1});
    columns.field(Column::kWorkCorrelation, std::optional<std::int64_t>());
    ilt::kernel_fields(columns, kernel);
    columns.field(Column::kCollectiveFunction, std::optional(collective.function));
    ilt::collective_fields(columns, collective);
    put_chunk(ChunkType::kOperations, 1);
    put_end(1);
    return error_of_reading();
  };
  EXPECT_EQ(outcome({.grid = {kMost, 65'535, 65'535}, .block = {1'024, 1'024, 1'024}, .shared_memory = kLargestAmount},
                    {.in_elements = kLargestAmount, .out_elements = 0, .element_bytes = 16}),
            "no error");
  for (const std::array<std::int32_t, 3>& grid :
       std::vector<std::array<std::int32_t, 3>>{{-1, 1, 1}, {0, 1, 1}, {1, 65'536, 1}, {1, 1, 65'536}}) {
    EXPECT_EQ(outcome({.grid = grid}), "ilt.invalid") << grid[0] << ' ' << grid[1] << ' ' << grid[2];
  }
  for (const std::array<std::int32_t, 3>& block :
       std::vector<std::array<std::int32_t, 3>>{{65'536, 65'536, 1}, {1, 0, 1}, {1, 1, 1'025}}) {
    EXPECT_EQ(outcome({.block = block}), "ilt.invalid") << block[0] << ' ' << block[1] << ' ' << block[2];
  }
  EXPECT_EQ(outcome({.shared_memory = -1}), "ilt.invalid");
  EXPECT_EQ(outcome({.shared_memory = kLargestAmount + 1}), "ilt.invalid");
  EXPECT_EQ(outcome({}, {.in_elements = -1}), "ilt.invalid");
  EXPECT_EQ(outcome({}, {.out_elements = kLargestAmount + 1}), "ilt.invalid");
  EXPECT_EQ(outcome({}, {.element_bytes = 17}), "ilt.invalid");
}

// Sums of them are taken.
TEST_F(IltReaderTest, RefusesAmountsOfMemoryBeyondTheLimits) {
  const auto outcome = [&](OperationKind kind, const CopyDetail& copy, const AllocationDetail& allocation) {
    file = ilt::file_header();
    put_schema();
    put_definitions();
    columns.field(Column::kKind, static_cast<std::uint8_t>(kind));
    columns.field(Column::kLane, kind == OperationKind::kCopy ? 1U : 0U);
    columns.field(Column::kName, 0U);
    columns.field(Column::kStart, Nanoseconds{1});
    columns.field(Column::kDuration, Nanoseconds{1});
    if (kind == OperationKind::kCopy) {
      columns.field(Column::kWorkCorrelation, std::optional<std::int64_t>());
      ilt::copy_fields(columns, copy);
    } else {
      ilt::allocation_fields(columns, allocation);
    }
    put_chunk(ChunkType::kOperations, 1);
    put_end(1);
    return error_of_reading();
  };
  const auto of_copy = [&](Bytes bytes) { return outcome(OperationKind::kCopy, {.bytes = bytes}, {}); };
  EXPECT_EQ(of_copy(std::numeric_limits<Bytes>::max()), "no error");
  EXPECT_EQ(of_copy(-1), "ilt.invalid");
  const auto of_memory = [&](const AllocationDetail& detail) {
    return outcome(OperationKind::kAllocation, {}, detail);
  };
  // Memory that was there before the recording may be given back in it.
  EXPECT_EQ(of_memory({.bytes = kLargestAmount,
                       .total_allocated = -kLargestAmount,
                       .total_reserved = kLargestAmount,
                       .requested = std::numeric_limits<Bytes>::max()}),
            "no error");
  EXPECT_EQ(of_memory({.bytes = kLargestAmount + 1}), "ilt.invalid");
  EXPECT_EQ(of_memory({.bytes = -1}), "ilt.invalid");
  EXPECT_EQ(of_memory({.total_allocated = -kLargestAmount - 1}), "ilt.invalid");
  EXPECT_EQ(of_memory({.total_reserved = kLargestAmount + 1}), "ilt.invalid");
  EXPECT_EQ(of_memory({.requested = -1}), "ilt.invalid");
}

TEST_F(IltReaderTest, RefusesAllocationsOfMoreThanCanBeAddedUp) {
  const auto outcome = [&](std::uint32_t count, const AllocationDetail& detail) {
    file = ilt::file_header();
    put_schema();
    put_definitions();
    for (std::uint32_t i = 0; i < count; ++i) {
      columns.field(Column::kKind, static_cast<std::uint8_t>(OperationKind::kAllocation));
      columns.field(Column::kLane, 0U);
      columns.field(Column::kName, 0U);
      columns.field(Column::kStart, Nanoseconds{1});
      columns.field(Column::kDuration, Nanoseconds{1});
      ilt::allocation_fields(columns, detail);
    }
    put_chunk(ChunkType::kOperations, count);
    put_end(count);
    return error_of_reading();
  };
  constexpr std::uint32_t kMost = kLargestAmountInAll / kLargestAmount;
  EXPECT_EQ(outcome(kMost, {.bytes = kLargestAmount}), "no error");
  EXPECT_EQ(outcome(kMost + 1, {.bytes = kLargestAmount}), "ilt.invalid");
  EXPECT_EQ(outcome(kMost + 1, {.requested = std::numeric_limits<Bytes>::max()}), "ilt.invalid");
}

TEST_F(IltReaderTest, RefusesAllocatorsThatHoldMoreThanAMachineHas) {
  const auto outcome = [&](const std::vector<AllocatorSegment>& segments) {
    file = ilt::file_header();
    put_schema();
    put_definitions();
    columns.field(Column::kStateRank, 0);
    const AllocatorState state;
    ilt::state_fields(columns, state);
    columns.field(Column::kStateSegments, std::uint64_t{segments.size()});
    for (const AllocatorSegment& segment : segments) {
      ilt::segment_fields(columns, segment);
      columns.field(Column::kSegmentBlocks, std::uint64_t{segment.blocks.size()});
      for (const AllocatorBlock& block : segment.blocks) ilt::block_fields(columns, block);
    }
    put_chunk(ChunkType::kAllocatorStates, 1);
    columns.field(Column::kEndAllocatorStates, std::uint64_t{1});
    put_end(0);
    return error_of_reading();
  };
  EXPECT_EQ(outcome({{.bytes = kLargestAmount, .blocks = {{.bytes = kLargestAmount, .requested = 1}}}}), "no error");
  EXPECT_EQ(outcome({{.bytes = kLargestAmount}, {.bytes = 1}}), "ilt.invalid");
  EXPECT_EQ(outcome({{.bytes = 8, .blocks = {{.bytes = kLargestAmount}, {.bytes = 1}}}}), "ilt.invalid");
  EXPECT_EQ(outcome({{.bytes = -1}}), "ilt.invalid");
  EXPECT_EQ(outcome({{.bytes = 8, .blocks = {{.bytes = 8, .requested = -1}}}}), "ilt.invalid");
}

TEST_F(IltReaderTest, RefusesAChunkThatExpandsTooMuch) {
  put_schema();
  const Buffer zeros(1U << 20U);
  Buffer honest = ilt::ChunkPacker(3).pack(ChunkType::kStrings, 0, 1, zeros);
  EXPECT_GT(honest.size(), zeros.size()) << "the writer stores what it may not compress so far";
  // The same megabyte as zstd makes it: a few dozen bytes.
  const Buffer bomb{0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0x00, 0x00, 0x10, 0x00, 0x54, 0x00, 0x00, 0x10, 0x00, 0x00, 0x01};
  Buffer header(honest.begin(), honest.begin() + 32);
  header[6] = static_cast<std::uint8_t>(ilt::Compression::kZstd);
  header[20] = static_cast<std::uint8_t>(bomb.size());
  header[21] = header[22] = header[23] = 0;
  Buffer sum;
  ilt::put_fixed(sum, ilt::checksum(bomb));
  std::copy(sum.begin(), sum.end(), header.begin() + 28);
  ilt::put_fixed(header, ilt::checksum(header));
  put(header);
  put(bomb);
  EXPECT_EQ(error_of_reading(), "ilt.too_large");
}

// Of equal rows a byte of the file may hold dozens: the claim counts, not what the file could hold of others.
TEST_F(IltReaderTest, RefusesMoreOperationsThanMemoryHolds) {
  const auto memory = physical_memory();
  if (!memory) GTEST_SKIP() << "the machine does not tell what memory it has";
  put_schema();
  constexpr Bytes kLeastBytesEach = 64;
  const auto chunks = static_cast<std::uint64_t>(*memory / kLeastBytesEach / ilt::kMaxChunkRows + 1);
  for (std::uint64_t i = 0; i < chunks; ++i) put_chunk(ChunkType::kOperations, ilt::kMaxChunkRows, Buffer(4));
  ASSERT_LT(file.size(), chunks * ilt::kMaxChunkRows);
  EXPECT_EQ(error_of_reading(), "ilt.too_large");
}

// Sixty-four kilobytes of damage would bound sixteen million rows.
TEST_F(IltReaderTest, TakesNoFalseNumberForMillionsOfLostDefinitions) {
  const auto outcome = [&](ChunkType type, std::uint64_t lost) {
    file = ilt::file_header();
    put_schema();
    put_definitions();
    file.resize(file.size() + (1U << 16U));
    columns.field(Column::kStringText, std::string("next"));
    const Rank rank;
    ilt::rank_fields(columns, rank);
    columns.field(Column::kLaneRank, 0);
    const Lane lane{};
    ilt::lane_fields(columns, lane);
    for (const auto definition : {ChunkType::kStrings, ChunkType::kRanks, ChunkType::kLanes}) {
      const std::uint64_t known = definition == ChunkType::kLanes ? 2 : 1;
      put_chunk(definition, 1, definition == type ? known + lost : known);
    }
    put_end(0);
    return error_of_reading();
  };
  constexpr std::uint64_t kMost = std::uint64_t{1} << 23U;
  for (const auto type : {ChunkType::kStrings, ChunkType::kRanks, ChunkType::kLanes}) {
    EXPECT_EQ(outcome(type, 1'000), "no error") << static_cast<int>(type);
    EXPECT_EQ(outcome(type, kMost + 1), "ilt.too_large") << static_cast<int>(type);
  }
}

TEST_F(IltReaderTest, RefusesToPackAChunkAboveTheLimit) {
  std::ostringstream out;
  IltWriter writer(out, "memory");
  try {
    writer.intern(std::string(ilt::kMaxChunkBytes, 'x'));
    FAIL() << "took a text that no chunk can hold";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "ilt.too_large");
  }
}

/// Each of these is a file that no writer of ours makes, with checksums that are right.
class IltContradictionTest : public IltReaderTest {
 protected:
  void SetUp() override {
    put_schema();
    put_definitions();
  }
};

TEST_F(IltContradictionTest, AnOperationOnNoLane) {
  add_call(kCall, 2, 0, 1);
  put_chunk(ChunkType::kOperations, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, AnOperationWithoutName) {
  add_call(kCall, 0, 1, 1);
  put_chunk(ChunkType::kOperations, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, MoreValuesThanRows) {
  add_call(kCall, 0, 0, 1);
  add_call(kCall, 0, 0, 1);
  put_chunk(ChunkType::kOperations, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, FewerValuesThanRows) {
  add_call(kCall, 0, 0, 1);
  put_chunk(ChunkType::kOperations, 2);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, RowsThatJumpOrStepBack) {
  add_call(kCall, 0, 0, 1);
  put_chunk(ChunkType::kOperations, 1, 1'000);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, AnEndWithMoreOperationsThanTheFile) {
  put_end(1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, AReferenceToNoOperation) {
  columns.field(Column::kKind, OperationKind::kStreamWait);
  columns.field(Column::kLane, 0);
  columns.field(Column::kName, 0);
  columns.field(Column::kStart, 0);
  columns.field(Column::kDuration, 0);
  columns.field(Column::kCallCorrelation, std::optional<std::int64_t>());
  columns.field(Column::kSyncKind, std::optional(SyncKind::kStreamWaitEvent));
  const SyncDetail detail{.record = OperationId{9}};
  ilt::sync_fields(columns, detail);
  put_chunk(ChunkType::kOperations, 1);
  put_end(1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, AColumnTwiceOrOfAnotherTableOrNotInTheSchema) {
  const Buffer before = file;
  const auto text = static_cast<std::uint8_t>(Column::kStringText);
  put_chunk(ChunkType::kStrings, 1, {2, text, 1, 1, text, 1, 1, 0, 0}, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
  file = before;
  put_chunk(ChunkType::kStrings, 1, {1, static_cast<std::uint8_t>(Column::kKind), 1, 1, 0}, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
  file = before;
  put_chunk(ChunkType::kStrings, 1, {1, 0x7F, 1, 1, 0}, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

TEST_F(IltContradictionTest, NumbersAndLengthsThatLeaveTheChunk) {
  const auto text = static_cast<std::uint8_t>(Column::kStringText);
  const Buffer before = file;
  put_chunk(ChunkType::kStrings, 1, {1, text, 1, 2, 5, 'x'}, 1);  // a text longer than its column
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
  file = before;
  put_chunk(ChunkType::kStrings, 1, {1, text, 1, 9, 5, 'x'}, 1);  // a column longer than its chunk
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
  file = before;
  Buffer endless{1};  // 2^70 and more
  endless.insert(endless.end(), 11, 0xFF);
  put_chunk(ChunkType::kStrings, 1, endless, 1);
  EXPECT_EQ(error_of_reading(), "ilt.invalid");
}

}  // namespace
}  // namespace interlace::trace
