#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "simulator/base/error.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string written(const Trace& trace, const Diagnostics& diagnostics, const IltWriter::Options& options = {}) {
  std::ostringstream out;
  write_ilt(trace, diagnostics, out, "memory", options);
  return out.str();
}

TEST(IltRoundTrip, KeepsEveryDetailAndTheDiagnostics) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  ASSERT_EQ(found.count_of("trace.device_work_without_launch"), 2);  // "orphan" and the copy without correlation

  Diagnostics read_back;
  const Trace again = read_ilt(bytes_of(written(trace, found)), "memory", read_back);
  EXPECT_EQ(first_difference(trace, again), "");
  EXPECT_EQ(read_back.entries(), found.entries());
}

TEST(IltRoundTrip, KeepsWhichLaunchesLackTheirWork) {
  TraceBuilder builder;
  const RankId rank = builder.add_rank({.number = 0});
  const LaneId thread = builder.lane(LaneKind::kHostThread, rank, 1, 1);
  builder.add_host_call({thread, builder.intern("cudaLaunchKernel"), 10, 5, 1, {}});
  builder.add_host_call({thread, builder.intern("cudaLaunchKernel"), 20, 5, 2, {}});
  builder.add_kernel({builder.lane(LaneKind::kStream, rank, 0, 7), builder.intern("k"), 30, 5, 2, {}}, {});
  Diagnostics found;
  const Trace trace = std::move(builder).build(found);
  ASSERT_EQ(trace.launches_without_work().size(), 1U);

  Diagnostics read_back;
  const Trace again = read_ilt(bytes_of(written(trace, found)), "memory", read_back);
  EXPECT_EQ(first_difference(trace, again), "");
  EXPECT_EQ(read_back.entries(), found.entries());
}

TEST(IltRoundTrip, DoesNotDependOnTheSizeOfChunks) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  for (const std::uint32_t operations : {1U, 2U, 7U}) {
    Diagnostics read_back;
    const std::string file = written(trace, found, {.operations_per_chunk = operations});
    const Trace again = read_ilt(bytes_of(file), "memory", read_back);
    EXPECT_EQ(first_difference(trace, again), "") << operations << " operations a chunk";
    EXPECT_EQ(read_back.entries(), found.entries());
  }
}

TEST(IltRoundTrip, AnEmptyTraceIsATraceToo) {
  Diagnostics none;
  const Trace empty = TraceBuilder().build(none);
  const Trace again = read_ilt(bytes_of(written(empty, none)), "memory", none);
  EXPECT_EQ(first_difference(empty, again), "");
  EXPECT_TRUE(none.empty());
}

TEST(IltRoundTrip, SameTraceGivesSameBytes) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  EXPECT_EQ(written(trace, found), written(trace, found));
}

TEST(IltRoundTrip, GoesThroughAFile) {
  const auto file = std::filesystem::path(testing::TempDir()) / "interlace_round_trip.ilt";
  Diagnostics found;
  const Trace trace = sample_trace(found);
  write_ilt(trace, file);
  Diagnostics read_back;
  EXPECT_EQ(first_difference(trace, read_ilt(file, read_back)), "");
  EXPECT_EQ(read_back.count_of("trace.device_work_without_launch"), 2);
  std::filesystem::remove(file);
}

TEST(IltRoundTrip, SaysWhichFileCannotBeWrittenOrRead) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  const std::filesystem::path nowhere = std::filesystem::path(testing::TempDir()) / "no such folder" / "x.ilt";
  try {
    write_ilt(trace, nowhere);
    FAIL() << "wrote into a folder that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "ilt.cannot_write");
    EXPECT_EQ(error.place(), nowhere.string());
  }
  try {
    (void)read_ilt(nowhere, found);
    FAIL() << "read a file that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "ilt.cannot_read");
  }
}

TEST(IltRoundTrip, SaysWhenTheStreamFails) {
  std::ostringstream full;
  full.setstate(std::ios::badbit);
  EXPECT_THROW(IltWriter(full, "full disk"), Error);
}

/// What a recorder does: it adds operations as they come, and the file can be read at any time.
class IltRecording : public testing::Test {
 protected:
  std::ostringstream out;
  IltWriter writer{out, "recording"};
  RankId rank = writer.add_rank({.number = 3});
  LaneId thread = writer.lane(LaneKind::kHostThread, rank, 1, 1);
  Diagnostics diagnostics;

  IltWriter::Common at(LaneId lane, Nanoseconds start, std::optional<std::int64_t> correlation = {}) {
    return {lane, writer.intern("op"), start, 1, correlation};
  }
  Trace read_now() { return read_ilt(bytes_of(out.str()), "recording", diagnostics); }
};

TEST_F(IltRecording, IsReadableAfterEachFlush) {
  writer.add_host_call(at(thread, 10));
  writer.flush();
  EXPECT_EQ(read_now().size(), 1U);
  EXPECT_EQ(diagnostics.count_of("ilt.truncated"), 1);

  writer.add_host_call(at(thread, 5));
  EXPECT_EQ(read_now().size(), 1U) << "what was not flushed is not in the file";
  writer.close();
  diagnostics = {};
  EXPECT_EQ(read_now().size(), 2U);
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(IltRecording, LearnsOfALaneAfterItWasWritten) {
  writer.flush();
  writer.name_lane(thread, "autograd");
  const LaneId stream = writer.lane(LaneKind::kStream, rank, 0, 7);
  writer.add_kernel(at(stream, 20), {});
  writer.flush();
  writer.set_priority(stream, -1);
  writer.close();
  const Trace trace = read_now();
  ASSERT_EQ(trace.lanes().size(), 2U);
  EXPECT_EQ(trace.lanes()[0].name, "autograd");
  EXPECT_EQ(trace.lanes()[1].priority, -1);
  EXPECT_EQ(trace.lane(trace.lane_of({0})).number, 7);
}

TEST_F(IltRecording, JoinsByTheCorrelationsOfTheRecorder) {
  const LaneId stream = writer.lane(LaneKind::kStream, rank, 0, 7);
  writer.add_kernel(at(stream, 20, -9), {});
  writer.flush();
  writer.add_host_call(at(thread, 10, -9));
  writer.close();
  EXPECT_EQ(read_now().launch_of({1}), OperationId{0});
}

TEST_F(IltRecording, RefersToOperationsBeforeAndAfter) {
  const OperationId first = writer.add_sync(OperationKind::kEventRecord, at(thread, 50), {});
  const OperationId next{first.value + 2};
  writer.add_sync(OperationKind::kStreamWait, at(thread, 60), {.record = first});
  writer.flush();
  writer.add_sync(OperationKind::kEventRecord, at(thread, 40), {});
  writer.add_sync(OperationKind::kStreamWait, at(thread, 70), {.record = next});
  writer.close();
  const Trace trace = read_now();  // in time: 40 (next), 50 (first), 60, 70
  EXPECT_EQ(trace.sync({2})->record, OperationId{1});
  EXPECT_EQ(trace.sync({3})->record, OperationId{0});
}

TEST_F(IltRecording, AddsUpDiagnosticsWrittenPieceByPiece) {
  constexpr DiagnosticKind kDropped{"recorder.dropped", Severity::kDataLoss, "dropped", "larger buffers"};
  Diagnostics piece;
  piece.count(kDropped, "first", 2);
  writer.add_diagnostics(piece);
  writer.flush();
  writer.add_diagnostics(piece);
  writer.close();
  (void)read_now();
  EXPECT_EQ(diagnostics.count_of("recorder.dropped"), 4);
  EXPECT_EQ(diagnostics.entries().at(0).first_place, "first");
}

}  // namespace
}  // namespace interlace::trace
