// What the reader joins: synchronisation records with host calls, waits with records, backward with forward.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/unit/ingest/recordings.hpp"

namespace interlace::ingest {
namespace {

using testing::KinetoText;
using trace::OperationId;
using trace::OperationKind;
using trace::SyncKind;
using trace::Trace;

/// A cuda_sync record. more: args beside the correlation and the device.
KinetoText& add_sync(KinetoText& text, std::string_view kind, std::string_view row, int correlation,
                     std::string_view more) {
  return text.complete("cuda_sync", kind, "0", row, "1", "1",
                       R"("cuda_sync_kind": ")" + std::string(kind) +
                           R"(", "device": 0, "context": 1, "correlation": )" + std::to_string(correlation) + ", " +
                           std::string(more));
}

OperationId at(const Trace& trace, Nanoseconds start) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.start(OperationId{i}) == start) return OperationId{i};
  }
  throw std::out_of_range("nothing starts at " + std::to_string(start));
}

std::optional<std::int64_t> number(const Trace& trace, std::optional<trace::LaneId> lane) {
  return lane ? std::optional(trace.lane(*lane).number) : std::nullopt;
}

TEST(Joins, GiveAWaitItsStreamEventAndRecord) {
  KinetoText text;
  text.rank(0, 1).call("cudaEventRecord", "0", "1", 10).call("cudaStreamWaitEvent", "5", "1", 20);
  add_sync(
      text, "Stream Wait Event", "24", 20,
      R"("wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 10, "wait_on_cuda_event_id": 19, "stream": 24)");
  const Recording recording = read_text(text);
  const Trace& trace = recording.trace;

  const OperationId record = at(trace, 0);
  const OperationId wait = at(trace, 5'000);
  EXPECT_EQ(trace.kind(record), OperationKind::kEventRecord);
  EXPECT_EQ(trace.kind(wait), OperationKind::kStreamWait);
  ASSERT_NE(trace.sync(wait), nullptr);
  EXPECT_EQ(trace.sync(wait)->kind, SyncKind::kStreamWaitEvent);
  EXPECT_EQ(number(trace, trace.sync(wait)->stream), 24);
  EXPECT_EQ(number(trace, trace.sync(wait)->record_stream), 20);
  EXPECT_EQ(trace.sync(wait)->event, 19);
  EXPECT_EQ(trace.sync(wait)->record, record);
  // The record's own stream and event are known from the wait only.
  EXPECT_EQ(number(trace, trace.sync(record)->stream), 20);
  EXPECT_EQ(trace.sync(record)->event, 19);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.wait_without_record"), 0);
}

TEST(Joins, TakeMinusOneForNone) {
  KinetoText text;
  text.rank(0, 1).call("cudaStreamWaitEvent", "0", "1", 20).call("cudaDeviceSynchronize", "5", "1", 21);
  text.call("cudaEventQuery", "7", "1", 22);
  add_sync(
      text, "Stream Wait Event", "24", 20,
      R"("wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1, "wait_on_cuda_event_id": 19, "stream": 24)");
  add_sync(text, "Context Sync", "-1", 21, R"("stream": 4294967295)");
  add_sync(
      text, "Event Sync", "1", 22,
      R"("wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1, "wait_on_cuda_event_id": 3, "stream": -1)");
  const Recording recording = read_text(text);
  const Trace& trace = recording.trace;

  EXPECT_EQ(trace.sync(at(trace, 0))->record, std::nullopt);
  EXPECT_EQ(trace.sync(at(trace, 0))->record_stream, std::nullopt);
  EXPECT_EQ(trace.sync(at(trace, 0))->event, 19);
  EXPECT_EQ(trace.kind(at(trace, 5'000)), OperationKind::kHostSync);
  EXPECT_EQ(trace.sync(at(trace, 5'000))->stream, std::nullopt);
  EXPECT_EQ(trace.kind(at(trace, 7'000)), OperationKind::kHostCall);
  EXPECT_EQ(trace.sync(at(trace, 7'000))->kind, SyncKind::kEventQuery);
  EXPECT_EQ(trace.sync(at(trace, 7'000))->event, 3);
  EXPECT_EQ(trace.sync(at(trace, 7'000))->stream, std::nullopt);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.wait_without_record"), 1);
}

TEST(Joins, FoldTheRowOfSynchronisationsBack) {
  KinetoText text;
  text.rank(0, 1).call("cudaStreamSynchronize", "0", "1", 20);
  text.complete("cuda_sync", "Stream Sync", "0", "1000022", "1", "1", R"("correlation": 20, "device": 0)");
  const Trace trace = read_text(text).trace;
  EXPECT_EQ(trace.kind(at(trace, 0)), OperationKind::kHostSync);
  EXPECT_EQ(trace.sync(at(trace, 0))->kind, SyncKind::kStreamSync);
  EXPECT_EQ(number(trace, trace.sync(at(trace, 0))->stream), 22);
}

TEST(Joins, TakeRecordsFromCudaEvents) {
  KinetoText text;
  text.rank(0, 1).call("cudaEventRecord", "0", "1", 10).call("cudaStreamWaitEvent", "5", "1", 20);
  text.complete("cuda_event", "cudaEvent", "0", "7", "1", "0.001",
                R"("event_id": 42, "stream": 7, "correlation": 10, "device": 0, "context": 1)");
  add_sync(
      text, "Stream Wait Event", "8", 20,
      R"("wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": 10, "wait_on_cuda_event_id": 42, "stream": 8)");
  const Trace trace = read_text(text).trace;
  EXPECT_EQ(trace.sync(at(trace, 0))->kind, SyncKind::kEventRecord);
  EXPECT_EQ(number(trace, trace.sync(at(trace, 0))->stream), 7);
  EXPECT_EQ(trace.sync(at(trace, 0))->event, 42);
  EXPECT_EQ(trace.sync(at(trace, 5'000))->record, at(trace, 0));
  EXPECT_EQ(number(trace, trace.sync(at(trace, 5'000))->record_stream), 7);
}

TEST(Joins, CountWhatDoesNotFit) {
  KinetoText text;
  text.rank(0, 1).call("cudaLaunchKernel", "0", "1", 10).call("cudaStreamWaitEvent", "5", "1", 20);
  constexpr const char* kWaitForLaunch =
      R"("wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 10, "wait_on_cuda_event_id": 1, "stream": 8)";
  add_sync(text, "Stream Wait Event", "8", 20, kWaitForLaunch);  // names a launch as its record
  add_sync(text, "Stream Wait Event", "8", 20, kWaitForLaunch);  // a second one for the same call
  add_sync(text, "Stream Sync", "8", 99, R"("stream": 8)");      // of a call that is not there
  const Recording recording = read_text(text);
  EXPECT_EQ(recording.trace.sync(at(recording.trace, 5'000))->record, std::nullopt);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.record_not_found"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.duplicate_sync"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.sync_without_call"), 1);
}

TEST(Joins, PairBackwardWithForward) {
  const auto flow = [](std::string_view phase, int id, int thread, std::string_view at_time) {
    return R"({"ph": ")" + std::string(phase) + R"(", "cat": "fwdbwd", "name": "fwdbwd", "id": )" + std::to_string(id) +
           R"(, "pid": 1, "tid": )" + std::to_string(thread) + R"(, "ts": )" + std::string(at_time) + "}";
  };
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .complete("cpu_op", "outer", "1", "2", "1", "9", R"("Sequence number": 3, "Fwd thread id": 0)")
          .complete("cpu_op", "linear", "1", "2", "1", "5", R"("Sequence number": 3, "Fwd thread id": 0)")
          .complete("cpu_op", "inside", "1", "2", "1", "2")
          .complete("cpu_op", "LinearBackward", "1", "8", "20", "5", R"("Sequence number": 3, "Fwd thread id": 1)")
          .event(flow("f", 1, 8, "20"))
          .event(flow("s", 1, 2, "1"))
          .event(flow("f", 2, 8, "21")));
  const Trace& trace = recording.trace;
  const OperationId backward = at(trace, 19'000);
  ASSERT_NE(trace.range(backward), nullptr);
  ASSERT_TRUE(trace.range(backward)->forward_op.has_value());
  // Of the two that start there and are part of autograd, the inner one.
  EXPECT_EQ(trace.name(*trace.range(backward)->forward_op), "linear");
  EXPECT_EQ(trace.range(backward)->sequence_number, 3);
  EXPECT_EQ(trace.range(backward)->forward_thread, 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.unmatched_forward_backward"), 1);
}

TEST(Joins, CountLaunchArrowsThatContradict) {
  const auto flow = [](std::string_view phase, int id, std::string_view at_time) {
    return R"({"ph": ")" + std::string(phase) + R"(", "cat": "ac2g", "name": "ac2g", "pid": 100, "tid": 101, "id": )" +
           std::to_string(id) + R"(, "ts": )" + std::string(at_time) + "}";
  };
  const auto contradictions = [&](const std::string& event) {
    const Recording recording = read_text(KinetoText()
                                              .rank(0, 1)
                                              .call("cudaLaunchKernel", "1", "1", 10)
                                              .kernel("k", 7, "5", "1", 10)
                                              .kernel("launched before the recording", 7, "2", "1", 9)
                                              .event(event));
    return recording.diagnostics.count_of("kineto.contradicting_flow");
  };
  EXPECT_EQ(contradictions(flow("s", 10, "1")), 0);
  EXPECT_EQ(contradictions(flow("f", 10, "5")), 0);
  EXPECT_EQ(contradictions(flow("f", 9, "2")), 0);
  EXPECT_EQ(contradictions(flow("s", 10, "1.5")), 1);  // no such call starts there
  EXPECT_EQ(contradictions(flow("s", 11, "1")), 1);
  EXPECT_EQ(contradictions(flow("f", 11, "5")), 1);
}

TEST(Joins, FindScatteredCorrelations) {
  KinetoText text;
  text.rank(0, 1);
  text.complete("cuda_runtime", "cudaEventRecord", "1", "1", "0", "1", R"("correlation": -9223372036854775807)");
  text.complete("cuda_runtime", "cudaStreamWaitEvent", "1", "1", "5", "1", R"("correlation": 9223372036854775806)");
  text.complete("cuda_sync", "Stream Wait Event", "0", "7", "5", "1",
                R"("correlation": 9223372036854775806, "device": 0, "stream": 7, "wait_on_cuda_event_id": 4)");
  const Trace trace = read_text(text).trace;
  EXPECT_EQ(trace.sync(at(trace, 5'000))->event, 4);
}

// Of HTA's recordings, which name the records.
TEST(Joins, HoldForARealTrace) {
  const std::vector<std::filesystem::path> files{std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" /
                                                 "hta" / "alexnet" /
                                                 "benchmark_result_2869224_1695835535_trace.json.gz"};
  const Recording recording = read(files);
  int waits = 0;
  int joined = 0;
  for (std::uint32_t i = 0; i < recording.trace.size(); ++i) {
    const OperationId operation{i};
    if (recording.trace.kind(operation) != OperationKind::kStreamWait) continue;
    ++waits;
    const auto record = recording.trace.sync(operation)->record;
    if (!record) continue;
    ++joined;
    EXPECT_EQ(recording.trace.kind(*record), OperationKind::kEventRecord);
    EXPECT_LT(recording.trace.start(*record), recording.trace.start(operation));
    EXPECT_EQ(recording.trace.sync(*record)->stream, recording.trace.sync(operation)->record_stream);
  }
  EXPECT_EQ(waits, 34);
  EXPECT_EQ(joined, 20);
}

}  // namespace
}  // namespace interlace::ingest
