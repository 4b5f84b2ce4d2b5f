#include "simulator/graph/waits.hpp"

#include <gtest/gtest.h>

#include "simulator/graph/wait_diagnostics.hpp"
#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::graph {
namespace {

using trace::LaneId;
using trace::OperationId;
using trace::Trace;

class WaitsTest : public testing::Test {
 protected:
  RecordedJob job;
  trace::RankId rank = job.add_rank();
  LaneId host = job.thread(rank);
  LaneId main = job.stream(rank, 7);
  LaneId side = job.stream(rank, 20);
  LaneId nccl = job.stream(rank, 30);
  Diagnostics diagnostics;

  static ResolvedWait wait_named(const Trace& trace, const std::vector<ResolvedWait>& waits, std::string_view name) {
    const OperationId op = named(trace, name);
    for (const ResolvedWait& wait : waits) {
      if (wait.wait == op) return wait;
    }
    throw std::logic_error("no such wait");
  }
  static std::string producer_name(const Trace& trace, const ResolvedWait& wait) {
    return wait.producer ? std::string(trace.name(*wait.producer)) : "none";
  }
};

TEST_F(WaitsTest, TakesWhatIsRecorded) {
  job.launch(host, 0, side, "made", 10, 50);
  const OperationId record = job.record(host, 5);
  job.launch(host, 12, side, "later", 50, 90);
  const OperationId wait = job.wait(host, 20, "wait", main);
  job.builder.sync_detail(wait).record = record;
  job.builder.sync_detail(wait).record_stream = side;
  job.launch(host, 25, main, "used", 51, 60);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);

  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].evidence, Evidence::kRecorded);
  EXPECT_EQ(waits[0].kind, Producer::kQueuedWork);
  EXPECT_EQ(waits[0].producer, named(trace, "made"));  // not "later": it was queued after the record
  EXPECT_EQ(waits[0].consumer, named(trace, "used"));
  EXPECT_EQ(diagnostics.count_of("graph.wait_recorded"), 1);
}

// Its record was made before the recording, or lost: nobody knows that it covers what was queued until the wait.
TEST_F(WaitsTest, AWaitForALostRecordOrdersNothing) {
  job.launch(host, 0, side, "made", 10, 50);
  const OperationId wait = job.wait(host, 20, "wait", main);
  job.builder.sync_detail(wait).record_stream = side;
  job.launch(host, 25, main, "used", 51, 60);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);

  EXPECT_EQ(waits[0].evidence, Evidence::kUnknown);
  EXPECT_FALSE(waits[0].producer.has_value());
}

// main.wait_stream(side): the stream recorded on is not told. "copied" of the third stream ended only after "used" had
// started, so the wait was not for it, though it was queued last.
TEST_F(WaitsTest, JoinsAnAdjacentRecordWithTheStreamThatTheTimesAllow) {
  const LaneId copies = job.stream(rank, 21);
  job.launch(host, 0, side, "made", 10, 50);
  job.launch(host, 3, copies, "copied", 12, 500);
  job.launch(host, 6, main, "before", 14, 20);
  job.record(host, 20);
  job.call_of(host, "cudaStreamIsCapturing", 22);  // PyTorch asks this between the two
  job.wait(host, 25, "wait", main);
  job.launch(host, 30, main, "used", 52, 60);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);

  EXPECT_EQ(waits[0].evidence, Evidence::kAdjacentRecord);
  EXPECT_EQ(producer_name(trace, waits[0]), "made");
  EXPECT_FALSE(waits[0].producer_stream_assumed);
}

// Two events recorded before either is waited for: what stands directly before the wait is not its record.
TEST_F(WaitsTest, DoesNotTakeTheRecordOfAnotherEventForAnAdjacentOne) {
  job.launch(host, 0, side, "made", 10, 50);
  const OperationId other = job.record(host, 20);
  job.builder.sync_detail(other).event = 8;
  job.wait(host, 25, "of another", main, 7);
  job.wait(host, 30, "of this", main, 8);
  job.launch(host, 35, main, "used", 52, 60);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);

  EXPECT_NE(wait_named(trace, waits, "of another").evidence, Evidence::kAdjacentRecord);
  EXPECT_NE(wait_named(trace, waits, "of another").record, other);
}

TEST_F(WaitsTest, SaysWhenSeveralStreamsFit) {
  const LaneId copies = job.stream(rank, 21);
  job.launch(host, 0, copies, "copied", 10, 20);
  job.launch(host, 3, side, "made", 10, 20);
  job.record(host, 40);
  job.wait(host, 42, "wait", main);
  job.launch(host, 100, main, "used", 110, 120);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);

  EXPECT_EQ(producer_name(trace, waits[0]), "made");  // its stream was used last
  EXPECT_TRUE(waits[0].producer_stream_assumed);
  EXPECT_EQ(diagnostics.count_of(kWaitProducerAssumed.code), 1);
  EXPECT_NE(explain(trace, waits[0]).find("other streams fit"), std::string::npos);
}

// c10d records on the stream in use and lets NCCL's stream wait; NCCL then records and waits between its own streams,
// before and after the launch.
TEST_F(WaitsTest, TellsInputsOfCollectivesFromNcclsOwnWaits) {
  job.launch(host, 0, side, "made", 10, 50);
  job.range(host, "record_param_comms", 3, 40);
  job.record(host, 4);
  job.wait(host, 6, "inputs", nccl, 6);
  job.range(host, "nccl:all_to_all", 9, 39);
  job.record(host, 10);
  job.wait(host, 12, "internal before", nccl, 4);
  job.collective(host, 15, nccl, "alltoall", 51, 80);
  job.record(host, 18);
  job.wait(host, 20, "internal after", std::nullopt);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);

  const ResolvedWait inputs = wait_named(trace, waits, "inputs");
  EXPECT_EQ(inputs.evidence, Evidence::kNcclInput);
  EXPECT_EQ(producer_name(trace, inputs), "made");
  EXPECT_EQ(inputs.consumer, named(trace, "alltoall"));
  for (const char* name : {"internal before", "internal after"}) {
    EXPECT_EQ(wait_named(trace, waits, name).evidence, Evidence::kNcclInternal) << name;
    EXPECT_EQ(wait_named(trace, waits, name).kind, Producer::kNothing) << name;
  }
  EXPECT_EQ(diagnostics.count_of("graph.wait_nccl_internal"), 2);
}

// Steps of a pipeline: "lookup" collectives are issued and waited for within a step, "input" collectives are waited for
// in the next one. Both kinds fly at once, and before each wait of an input the caching allocator has recorded an event
// on the stream, as record_stream() makes it do.
class HandleTest : public WaitsTest {
 protected:
  static constexpr int kSteps = 4;
  static constexpr Nanoseconds kStep = 1'000;

  void issue(Nanoseconds t, const std::string& site, const std::string& name, Nanoseconds start, Nanoseconds end) {
    job.range(host, site, t, t + 20);
    job.record(host, t + 1);
    job.wait(host, t + 3, "inputs of " + name, nccl, ids_ ? std::optional(6) : std::nullopt);
    job.collective(host, t + 6, nccl, name, start, end);
  }
  void wait_for(Nanoseconds t, const std::string& site, const std::string& name, std::optional<std::int64_t> event) {
    job.record(host, t - 4);  // the allocator's, outside the function that waits
    job.range(host, site, t, t + 10);
    job.wait(host, t + 2, name, main, ids_ ? event : std::nullopt);
  }
  void steps() {
    job.launch(host, 0, main, "first", 10, 12);
    for (int i = 0; i < kSteps; ++i) {
      const Nanoseconds t = 100 + i * kStep;
      const std::string n = std::to_string(i);
      if (i > 0) {
        wait_for(t, "## inputs wait ##", "input wait " + n, 100 + i);
        job.launch(host, t + 15, main, "permute " + n, t + 30, t + 40);
      }
      issue(t + 100, "## lookup ##", "lookup " + n, t + 120, t + 300);
      issue(t + 200, "## inputs ##", "input " + n, t + 300, t + 500);
      wait_for(t + 400, "## lookup wait ##", "lookup wait " + n, 50);
      job.launch(host, t + 415, main, "dense " + n, t + 430, t + 800);
    }
  }
  void expect_right(const Trace& trace, const std::vector<ResolvedWait>& waits) {
    for (int i = 0; i < kSteps; ++i) {
      const std::string n = std::to_string(i);
      EXPECT_EQ(producer_name(trace, wait_named(trace, waits, "lookup wait " + n)), "lookup " + n);
      if (i == 0) continue;
      const std::string input = producer_name(trace, wait_named(trace, waits, "input wait " + n));
      EXPECT_EQ(input, "input " + std::to_string(i - 1));
    }
  }
  bool ids_ = true;
};

TEST_F(HandleTest, JoinsCollectivesAndWaitsByCallSite) {
  steps();
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  expect_right(trace, waits);
  EXPECT_EQ(diagnostics.count_of("graph.wait_collective_handle"), 2 * kSteps - 1);
  EXPECT_EQ(diagnostics.count_of("graph.record_ignored"), 2 * kSteps - 1);
  EXPECT_EQ(diagnostics.count_of("graph.wait_unknown"), 0);
  EXPECT_EQ(wait_named(trace, waits, "lookup wait 1").kind, Producer::kCollective);
}

TEST_F(HandleTest, DoesSoWithoutStreamsAndIds) {
  ids_ = false;
  steps();
  const Trace trace = job.build();
  expect_right(trace, infer_waits(trace, diagnostics));
}

TEST_F(HandleTest, AWaitWhoseCollectiveWasIssuedBeforeTheRecordingWaitsForNothingInIt) {
  wait_for(50, "## inputs wait ##", "input wait 0", 100);
  job.launch(host, 65, main, "permute 0", 80, 90);
  steps();
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  expect_right(trace, waits);
  EXPECT_EQ(wait_named(trace, waits, "input wait 0").kind, Producer::kNothing);
}

// Two sites without telling names, waits of one step in the order against the issues: only the watchdog knows.
TEST_F(WaitsTest, ReadsTheOrderOfIssueFromTheWatchdog) {
  const LaneId watchdog = job.thread(rank, 99);
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds t = 100 + i * 1'000;
    const std::string n = std::to_string(i);
    job.collective(host, t, nccl, "a" + n, t + 10, t + 100);
    job.collective(host, t + 20, nccl, "b" + n, t + 100, t + 200);
    job.launch(host, t + 25, main, "between " + n, t + 250, t + 260);
    job.wait(host, t + 300, "wait b" + n, main, 1'001 + 10 * i);
    job.launch(host, t + 302, main, "uses b" + n, t + 310, t + 320);
    job.wait(host, t + 330, "wait a" + n, main, 1'000 + 10 * i);
    job.launch(host, t + 332, main, "uses a" + n, t + 340, t + 350);
  }
  // One round of polls after the second step; three polls of each event that is complete.
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      for (int p = 0; p < 3; ++p) job.poll(watchdog, 2'000 + 20 * i + 8 * k + 2 * p, 1'000 + 10 * i + k);
    }
  }
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  for (const char* name : {"a0", "b0", "a1", "b1"}) {
    const ResolvedWait wait = wait_named(trace, waits, "wait " + std::string(name));
    EXPECT_EQ(wait.evidence, Evidence::kWatchdogOrder) << name;
    EXPECT_EQ(producer_name(trace, wait), name);
  }
  // Nothing was polled in the last step.
  EXPECT_NE(wait_named(trace, waits, "wait a2").evidence, Evidence::kWatchdogOrder);
}

// Every step makes four events, numbered by creation: that of main.wait_stream(side) at its start, that of the future
// of a collective, one of the program's own, and again one of a wait_stream. The allocator's record between them
// uses an old event. The program waits for its own event and for the future in the other order.
class NumberTest : public WaitsTest {
 protected:
  void step(int i) {
    const Nanoseconds t = 100 + i * 1'000;
    const std::string n = std::to_string(i);
    const std::int64_t first = 500 + 4 * i;
    join(t, "start", first);
    job.launch(host, t + 10, side, "side " + n, t + 20, t + 60);
    // Old events of the allocator, more or fewer: they have no new numbers.
    for (int k = 0; k < (i * 7) % 3; ++k) job.record(host, t + 13 + 2 * k);
    job.range(host, "nccl:all_reduce", t + 20, t + 40);
    job.collective(host, t + 22, nccl, "reduce " + n, t + 60, t + 100);
    job.record(host, t + 26, "end event");
    job.record(host, t + 30, "future event");  // first + 1
    job.range(host, "## own ##", t + 50, t + 60);
    job.launch(host, t + 51, side, "own " + n, t + 70, t + 90);
    job.record(host, t + 55, "torch.Event.record");  // first + 2
    job.range(host, "## use own ##", t + 200, t + 220);
    job.wait(host, t + 202, "own wait " + n, main, first + 2);
    job.launch(host, t + 205, main, "uses own " + n, t + 210, t + 220);
    job.wait(host, t + 300, "future wait " + n, main, first + 1);
    job.launch(host, t + 305, main, "uses future " + n, t + 310, t + 320);
    join(t + 400, "end", first + 3);
  }
  void join(Nanoseconds t, const std::string& what, std::int64_t event) {
    job.range(host, "## " + what + " ##", t, t + 9);
    job.record(host, t + 1, "wait_stream record");
    job.wait(host, t + 3, what + std::to_string(event), main, event);
    job.launch(host, t + 6, main, what + " work " + std::to_string(event), t + 410, t + 415);
  }
};

TEST_F(NumberTest, CountsTheCreationOfEvents) {
  for (int i = 0; i < 6; ++i) step(i);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    const ResolvedWait own = wait_named(trace, waits, "own wait " + n);
    EXPECT_EQ(own.evidence, Evidence::kEventNumber);
    EXPECT_EQ(trace.name(*own.record), "torch.Event.record");
    EXPECT_EQ(producer_name(trace, own), "own " + n);
    const ResolvedWait future = wait_named(trace, waits, "future wait " + n);
    EXPECT_EQ(future.evidence, Evidence::kEventNumber);
    EXPECT_EQ(future.kind, Producer::kCollective);
    EXPECT_EQ(producer_name(trace, future), "reduce " + n);
  }
}

TEST_F(NumberTest, DoesNotGuessFromOneStep) {
  step(0);
  const Trace trace = job.build();
  for (const ResolvedWait& wait : infer_waits(trace, diagnostics)) EXPECT_NE(wait.evidence, Evidence::kEventNumber);
}

// CUPTI tells no stream for streams without work: cuDNN makes such wait too.
TEST_F(WaitsTest, AWaitWithoutStreamAmongOthersThatHaveOneOrdersNothing) {
  job.launch(host, 0, side, "made", 10, 20);
  job.record(host, 30);
  job.wait(host, 32, "busy", main, 1);
  job.wait(host, 34, "idle", std::nullopt);
  job.launch(host, 40, main, "used", 50, 60);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  EXPECT_EQ(wait_named(trace, waits, "idle").evidence, Evidence::kIdleStream);
  EXPECT_FALSE(wait_named(trace, waits, "idle").consumer.has_value());
  EXPECT_EQ(wait_named(trace, waits, "busy").evidence, Evidence::kAdjacentRecord);
}

// Without cuda_sync records the waiting stream is that of the launch in the same function; a function that only waits
// is on the default stream, the oldest.
TEST_F(WaitsTest, TellsTheWaitingStreamByTheLaunchesAround) {
  job.launch(host, 0, main, "before", 5, 10);
  job.launch(host, 3, side, "made", 10, 20);
  job.range(host, "## wait_for_batch ##", 30, 40);
  job.record(host, 31);
  job.wait(host, 33, "on main", std::nullopt);
  job.range(host, "## copy ##", 50, 80);
  job.record(host, 51);
  job.wait(host, 53, "on side", std::nullopt);
  job.launch(host, 60, side, "used", 70, 75);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  EXPECT_EQ(wait_named(trace, waits, "on main").stream, main);
  EXPECT_EQ(wait_named(trace, waits, "on side").stream, side);
  EXPECT_TRUE(wait_named(trace, waits, "on side").stream_inferred);
  EXPECT_EQ(diagnostics.count_of(kWaitStreamInferred.code), 2);
}

// autograd records at the end of one function and waits at the start of the next, on another stream.
TEST_F(WaitsTest, FollowsAutogradFromStreamToStream) {
  job.range(host, "evaluate_function: A", 0, 20);
  job.launch(host, 2, main, "gradient", 10, 40);
  job.record(host, 15);
  job.range(host, "evaluate_function: B", 22, 40);
  job.wait(host, 23, "wait", side, 9);
  job.launch(host, 26, side, "used", 41, 50);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  EXPECT_EQ(waits[0].evidence, Evidence::kStreamSwitch);
  EXPECT_EQ(producer_name(trace, waits[0]), "gradient");
}

// 19 waits of a site show that main waits for side; in the 20th the times say otherwise.
TEST_F(WaitsTest, TakesBackWhatTheTimesContradict) {
  constexpr int kWaits = 20;
  for (int i = 0; i < kWaits; ++i) {
    const Nanoseconds t = i * 1'000;
    const std::string n = std::to_string(i);
    job.launch(host, t, side, "made " + n, t + 10, i == kWaits - 1 ? t + 500 : t + 100);
    job.range(host, "## join ##", t + 20, t + 30);
    job.record(host, t + 21);
    job.wait(host, t + 23, "wait " + n, main);
    job.launch(host, t + 40, main, "used " + n, t + 102, t + 110);
  }
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  EXPECT_EQ(producer_name(trace, waits.front()), "made 0");
  EXPECT_EQ(waits.back().evidence, Evidence::kUnknown);
  EXPECT_FALSE(waits.back().producer.has_value());
  EXPECT_EQ(diagnostics.count_of(kInferredWaitViolated.code), 1);
  EXPECT_EQ(diagnostics.count_of("graph.wait_unknown"), 1);
}

TEST_F(WaitsTest, EveryWaitIsCountedOnceAndExplained) {
  job.launch(host, 0, side, "made", 10, 20);
  job.record(host, 30);
  job.wait(host, 32, "joined", main, 1);
  job.wait(host, 300, "lost", main, 2);
  job.launch(host, 310, main, "used", 350, 360);
  const Trace trace = job.build();
  const auto waits = infer_waits(trace, diagnostics);
  std::int64_t counted = 0;
  for (std::size_t e = 0; e < kEvidences; ++e) {
    counted += diagnostics.count_of(diagnostic_of(static_cast<Evidence>(e)).code);
  }
  EXPECT_EQ(counted, 2);
  EXPECT_EQ(wait_named(trace, waits, "lost").evidence, Evidence::kUnknown);
  EXPECT_EQ(explain(trace, wait_named(trace, waits, "joined")),
            "Stream 7 waits for the work queued on stream 20, last made: the event was recorded by the call directly "
            "before, in the same function.");
}

}  // namespace
}  // namespace interlace::graph
