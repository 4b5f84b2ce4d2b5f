// What a recorder writes beside operations: facts of waits, clocks, the ledger; and files that were not closed.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "simulator/base/error.hpp"
#include "simulator/trace/ilt/columns.hpp"
#include "simulator/trace/ilt/format.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/session_file.hpp"
#include "simulator/trace/ilt/varint.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/support/full_disk.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::trace {
namespace {

/// A recording of one rank in memory.
class IltSession : public ::testing::Test {
 protected:
  IltSession() : writer_(out_, "memory") {
    rank_ = writer_.add_rank({.number = 3, .producer = "test"});
    thread_ = writer_.lane(LaneKind::kHostThread, rank_, 1, 1);
    stream_ = writer_.lane(LaneKind::kStream, rank_, 0, 7);
    other_stream_ = writer_.lane(LaneKind::kStream, rank_, 0, 8);
    name_ = writer_.intern("call");
  }

  OperationId add_sync(OperationKind kind, SyncKind sync, Nanoseconds start, std::int64_t correlation,
                       Nanoseconds duration = 10) {
    return writer_.add_sync(kind, {thread_, name_, start, duration, correlation}, {.kind = sync});
  }
  Trace read() {
    const std::string bytes = out_.str();
    diagnostics_ = {};
    return read_ilt({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "memory", diagnostics_);
  }
  std::filesystem::path save(std::size_t without_bytes = 0) {
    const std::string bytes = out_.str();
    return folder_.write("trace.ilt", std::string_view(bytes).substr(0, bytes.size() - without_bytes));
  }

  testing::TemporaryFolder folder_;
  std::ostringstream out_;
  IltWriter writer_;
  RankId rank_;
  LaneId thread_;
  LaneId stream_;
  LaneId other_stream_;
  StringId name_;
  Diagnostics diagnostics_;
};

TEST_F(IltSession, FactsJoinTheirCallsAndRecordsInAnyOrder) {
  // The wait's fact first, then its call, then the record's call and fact: the other way round than they happened.
  writer_.add_sync_fact({rank_, 12, SyncKind::kStreamWaitEvent, stream_, 5, 100});
  add_sync(OperationKind::kStreamWait, SyncKind::kStreamWaitEvent, 200, 12);
  writer_.flush();
  add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 100, 11);
  writer_.add_sync_fact({rank_, 11, SyncKind::kEventRecord, other_stream_, 5, 100});
  writer_.close();
  const Trace trace = read();
  ASSERT_EQ(trace.size(), 2U);
  const SyncDetail& record = *trace.sync({0});
  EXPECT_EQ(record.kind, SyncKind::kEventRecord);
  EXPECT_EQ(trace.lane(*record.stream).number, 8);
  EXPECT_EQ(record.event, 5);
  EXPECT_EQ(record.record, std::nullopt);
  const SyncDetail& wait = *trace.sync({1});
  EXPECT_EQ(wait.record, OperationId{0});
  EXPECT_EQ(trace.lane(*wait.stream).number, 7);
  EXPECT_EQ(trace.lane(*wait.record_stream).number, 8);
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(IltSession, AFactWithoutItsCallIsCounted) {
  add_sync(OperationKind::kStreamWait, SyncKind::kStreamWaitEvent, 200, 12);
  writer_.add_sync_fact({rank_, 12, SyncKind::kStreamWaitEvent, stream_, 5, 100});
  writer_.add_sync_fact({rank_, 99, SyncKind::kEventRecord, other_stream_, 5, 101});
  writer_.close();
  const Trace trace = read();
  EXPECT_EQ(trace.sync({0})->record, std::nullopt);
  EXPECT_EQ(diagnostics_.count_of("record.wait_without_record"), 1);
  EXPECT_EQ(diagnostics_.count_of("record.sync_without_call"), 1);
}

TEST_F(IltSession, ARecordWhoseCallIsLostStillNamesItsStream) {
  add_sync(OperationKind::kStreamWait, SyncKind::kStreamWaitEvent, 200, 12);
  writer_.add_sync_fact({rank_, 12, SyncKind::kStreamWaitEvent, stream_, 5, 100});
  writer_.add_sync_fact({rank_, 11, SyncKind::kEventRecord, other_stream_, 5, 100});
  writer_.close();
  const Trace trace = read();
  EXPECT_EQ(trace.sync({0})->record, std::nullopt);
  EXPECT_EQ(trace.lane(*trace.sync({0})->record_stream).number, 8);
}

TEST_F(IltSession, AnInnerCallOfTheSameCorrelationIsNoDuplicate) {
  const OperationId inner = add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 102, 11, 5);
  add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 100, 11, 10);
  writer_.add_sync_fact({rank_, 11, SyncKind::kEventRecord, stream_, 5, 100});
  writer_.add_kernel({stream_, name_, 300, 10, 11}, {});
  writer_.close();
  EXPECT_EQ(inner.value, 0U);
  const Trace trace = read();
  EXPECT_EQ(trace.launch_of({2}), OperationId{0}) << "the outer call starts first";
  EXPECT_TRUE(trace.sync({0})->stream);
  EXPECT_FALSE(trace.sync({1})->stream);
  EXPECT_EQ(diagnostics_.count_of("trace.duplicate_correlation"), 0);
}

TEST_F(IltSession, CallsThatShareACorrelationSideBySideAreDuplicates) {
  add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 100, 11, 10);
  add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 105, 11, 10);
  writer_.close();
  static_cast<void>(read());
  EXPECT_EQ(diagnostics_.count_of("trace.duplicate_correlation"), 1);
}

TEST_F(IltSession, TheLastLedgerRowTellsTheLosses) {
  LedgerRow row{.rank = rank_, .time = 5, .launched = 10, .recorded = 2, .pending = 8};
  writer_.add_ledger(row);
  writer_.flush();
  static_cast<void>(read());
  EXPECT_EQ(diagnostics_.count_of("record.pending_work"), 8);
  row = {.rank = rank_,
         .time = 9,
         .state = LedgerState::kClosed,
         .launched = 10,
         .recorded = 3,
         .untimed = 1,
         .refused = 2,
         .undelivered = 4,
         .dropped = 6};
  writer_.add_ledger(row);
  writer_.close();
  static_cast<void>(read());
  EXPECT_EQ(diagnostics_.count_of("record.pending_work"), 0);
  EXPECT_EQ(diagnostics_.count_of("record.untimed_work"), 1);
  EXPECT_EQ(diagnostics_.count_of("record.undelivered_work"), 4);
  EXPECT_EQ(diagnostics_.count_of("record.refused_work"), 6);
  const SessionFacts facts = read_session(save());
  ASSERT_EQ(facts.ledger.size(), 1U);
  EXPECT_EQ(facts.ledger[0], row);
  EXPECT_FALSE(row.is_closed());
}

// All headers of a table are broken: nothing but the totals at the end tells what stood in it.
TEST_F(IltSession, EveryTableThatIsLostWholeIsCounted) {
  using ilt::ChunkType;
  add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 1, 1);
  for (int i = 0; i < 2; ++i) writer_.add_sync_fact({rank_, 1, SyncKind::kEventRecord, stream_, 5, i});
  for (int i = 0; i < 3; ++i) writer_.add_clock({rank_, i, 11, 12, 13, 14});
  for (int i = 0; i < 4; ++i) writer_.add_ledger({.rank = rank_, .time = i});
  for (int i = 0; i < 5; ++i) writer_.add_allocator_state({.rank = rank_});
  writer_.close();
  const std::string whole = out_.str();
  for (const auto& [table, rows] : {std::pair(ChunkType::kSyncs, 2), std::pair(ChunkType::kClocks, 3),
                                    std::pair(ChunkType::kLedger, 4), std::pair(ChunkType::kAllocatorStates, 5)}) {
    std::string damaged = whole;
    for (std::size_t at = ilt::kFileHeaderBytes; at < whole.size();) {
      const auto* header = reinterpret_cast<const std::uint8_t*>(&whole[at]);
      if (header[4] == static_cast<std::uint8_t>(table)) damaged[at + 32] ^= 1;  // the header's checksum
      at += ilt::kChunkHeaderBytes + ilt::get_fixed<std::uint32_t>(header + 20);
    }
    Diagnostics found;
    static_cast<void>(read_ilt({reinterpret_cast<const std::uint8_t*>(damaged.data()), damaged.size()}, "", found));
    EXPECT_GE(found.count_of("ilt.damaged_chunk"), 1);
    EXPECT_EQ(found.count_of("ilt.lost_facts"), rows) << to_string(table);
    EXPECT_EQ(found.count_of("ilt.lost_definitions"), 0) << to_string(table);
  }
}

TEST_F(IltSession, FactsOfAFileAreReadWithoutItsOperations) {
  const ClockSnapshot clock{rank_, 10, 11, 12, 13, 14};
  writer_.add_clock(clock);
  for (int i = 0; i < 500; ++i) add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, i, i);
  writer_.close();
  const SessionFacts facts = read_session(save());
  EXPECT_EQ(facts.operations, 500);
  EXPECT_TRUE(facts.is_ended);
  EXPECT_EQ(facts.cut_bytes, 0);
  ASSERT_EQ(facts.ranks.size(), 1U);
  EXPECT_EQ(facts.ranks[0].number, 3);
  ASSERT_EQ(facts.clocks.size(), 1U);
  EXPECT_EQ(facts.clocks[0], clock);
  EXPECT_EQ(facts.ledger_of(rank_), nullptr);
}

TEST_F(IltSession, ACutFileIsSealed) {
  add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, 1, 1);
  writer_.flush();
  for (int i = 2; i < 100; ++i) add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, i, i);
  writer_.flush();
  const auto file = save(7);
  EXPECT_FALSE(read_session(file).is_ended);
  EXPECT_GT(read_session(file).cut_bytes, 0);
  Diagnostics why;
  why.count({"test.why", Severity::kDataLoss, "meaning", "advice"}, "here");
  EXPECT_TRUE(seal_ilt(file, why));
  Diagnostics found;
  EXPECT_EQ(read_ilt(file, found).size(), 1U);
  EXPECT_EQ(found.entries(), why.entries());
  EXPECT_TRUE(read_session(file).is_ended);
  EXPECT_FALSE(seal_ilt(file, why)) << "a file has one end";
}

TEST_F(IltSession, OnAFullDiskTheEndTakesThePlaceOfTheLastOperations) {
  for (int chunk = 0; chunk < 2; ++chunk) {
    for (int i = 0; i < 500; ++i) add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, i, i * i);
    writer_.flush();
  }
  const auto file = save(0);
  Diagnostics why;
  why.count({"test.why", Severity::kDataLoss, "meaning", "advice"}, "here");
  {
    const testing::FullDisk disk(std::filesystem::file_size(file) + 10);
    EXPECT_TRUE(seal_ilt(file, why));
  }
  Diagnostics found;
  EXPECT_EQ(read_ilt(file, found).size(), 500U);
  EXPECT_EQ(found.entries(), why.entries());
}

TEST_F(IltSession, EveryPrefixCanBeSealed) {
  for (int i = 0; i < 4; ++i) {
    add_sync(OperationKind::kEventRecord, SyncKind::kEventRecord, i, i);
    writer_.add_sync_fact({rank_, i, SyncKind::kEventRecord, stream_, 5, i + 1});
    writer_.flush();
  }
  const std::string whole = out_.str();
  std::size_t previous = 0;
  std::size_t sealed = 0;
  constexpr std::size_t kStride = 7;  // odd, so that all kinds of places are cut
  for (std::size_t size = 16 + (whole.size() - 16) % kStride; size <= whole.size(); size += kStride) {
    const auto file = folder_.write("prefix.ilt", std::string_view(whole).substr(0, size));
    try {
      if (!seal_ilt(file, {})) continue;  // the schema is cut
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "ilt.damaged") << size;
      continue;
    }
    Diagnostics found;
    const Trace trace = read_ilt(file, found);
    EXPECT_GE(trace.size(), previous) << size;
    EXPECT_EQ(found.count_of("ilt.truncated"), 0) << size;
    EXPECT_EQ(found.count_of("ilt.damaged_chunk"), 0) << size;
    previous = trace.size();
    ++sealed;
  }
  EXPECT_EQ(previous, 4U);
  EXPECT_GT(sealed, 40U);
}

}  // namespace
}  // namespace interlace::trace
