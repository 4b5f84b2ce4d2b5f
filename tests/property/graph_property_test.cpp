#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "simulator/graph/critical_path.hpp"
#include "simulator/graph/graph.hpp"
#include "simulator/graph/rules/rules.hpp"
#include "simulator/graph/verify.hpp"
#include "simulator/graph/wait_diagnostics.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::graph {
namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

// Runs a random program of all ranks as CUDA would (streams are first in, first out; a wait holds its stream until what
// was queued at the record is done; a collective ends when its last rank has come and then taken its time) and records
// it. So the recorded times obey every rule by construction, and the graph must agree with them.
class RandomJob {
 public:
  RandomJob(int ranks, int streams, bool tells_records) : streams_(streams), tells_records_(tells_records) {
    for (int r = 0; r < ranks; ++r) {
      Rank rank{builder_.add_rank({.number = r})};
      rank.thread = builder_.lane(trace::LaneKind::kHostThread, rank.id, 1, 1);
      for (int s = 0; s <= streams; ++s) {  // the last is for communication
        rank.streams.push_back({builder_.lane(trace::LaneKind::kStream, rank.id, 0, 7 + s)});
      }
      ranks_.push_back(rank);
    }
  }

  void step() {
    const int what = *rc::gen::inRange(0, 10);
    if (what < 5) {
      const int stream = any_stream();
      for (Rank& rank : ranks_) launch(rank, rank.streams[static_cast<std::size_t>(stream)]);
    } else if (what < 7) {
      const int waiting = any_stream();
      const int other = any_stream();
      if (waiting == other) return;
      for (Rank& rank : ranks_) wait_stream(rank, waiting, other);
    } else if (what < 8) {
      const int stream = any_stream();
      for (Rank& rank : ranks_) sync(rank, rank.streams[static_cast<std::size_t>(stream)]);
    } else if (what < 9) {
      const int stream = any_stream();
      for (Rank& rank : ranks_) blocking_copy(rank, rank.streams[static_cast<std::size_t>(stream)]);
    } else {
      collective();
    }
  }

  Trace build(Diagnostics& diagnostics) { return std::move(builder_).build(diagnostics); }

 private:
  struct Stream {
    LaneId lane;
    Nanoseconds free = 0;
  };
  struct Rank {
    trace::RankId id;
    LaneId thread{};
    Nanoseconds now = 0;
    std::vector<Stream> streams{};
  };

  int any_stream() { return *rc::gen::inRange(0, streams_); }
  static Nanoseconds duration(Nanoseconds most) { return *rc::gen::inRange<Nanoseconds>(1'000, most); }
  trace::TraceBuilder::Common at(LaneId lane, const char* name, Nanoseconds start, Nanoseconds length,
                                 std::optional<std::int64_t> correlation = {}) {
    return {lane, builder_.intern(name), start, length, correlation};
  }
  Nanoseconds host_call(Rank& rank, const char* name, Nanoseconds length) {
    rank.now += duration(20'000);
    const Nanoseconds start = rank.now;
    builder_.add_host_call(at(rank.thread, name, start, length, ++correlation_));
    rank.now += length;
    return start;
  }
  /// When work launched by a call that begins at `call` starts.
  static Nanoseconds start_on(const Stream& stream, Nanoseconds call) { return std::max(stream.free, call + 3'000); }

  void launch(Rank& rank, Stream& stream) {
    const Nanoseconds start = start_on(stream, host_call(rank, "cudaLaunchKernel", 2'000));
    const Nanoseconds length = duration(200'000);
    builder_.add_kernel(at(stream.lane, "kernel", start, length, correlation_), {});
    stream.free = start + length;
  }
  void wait_stream(Rank& rank, int waiting, int other) {
    Stream& a = rank.streams[static_cast<std::size_t>(waiting)];
    const Stream& b = rank.streams[static_cast<std::size_t>(other)];
    rank.now += 5'000;
    const OperationId record =
        builder_.add_sync(OperationKind::kEventRecord, at(rank.thread, "cudaEventRecord", rank.now, 500),
                          {.kind = trace::SyncKind::kEventRecord});
    rank.now += 1'000;
    trace::SyncDetail detail{.kind = trace::SyncKind::kStreamWaitEvent, .stream = a.lane};
    if (tells_records_) {
      detail.record = record;
      detail.record_stream = b.lane;
    }
    builder_.add_sync(OperationKind::kStreamWait, at(rank.thread, "cudaStreamWaitEvent", rank.now, 500), detail);
    rank.now += 1'000;
    a.free = std::max(a.free, b.free);
  }
  void sync(Rank& rank, const Stream& stream) {
    rank.now += 3'000;
    const Nanoseconds end = std::max(rank.now, stream.free) + 2'000;
    builder_.add_sync(OperationKind::kHostSync, at(rank.thread, "cudaStreamSynchronize", rank.now, end - rank.now),
                      {.kind = trace::SyncKind::kStreamSync, .stream = stream.lane});
    rank.now = end;
  }
  void blocking_copy(Rank& rank, Stream& stream) {
    rank.now += 2'000;
    const Nanoseconds start = start_on(stream, rank.now);
    const Nanoseconds length = duration(50'000);
    stream.free = start + length;
    builder_.add_host_call(
        at(rank.thread, "cudaMemcpyAsync", rank.now, stream.free + 1'000 - rank.now, ++correlation_));
    builder_.add_copy(
        at(stream.lane, "copy", start, length, correlation_),
        {.bytes = 8, .source = trace::MemorySpace::kDevice, .destination = trace::MemorySpace::kPageable});
    rank.now = stream.free + 1'000;
  }
  void collective() {
    std::vector<Nanoseconds> starts;
    std::vector<std::int64_t> correlations;
    for (Rank& rank : ranks_) {
      starts.push_back(start_on(rank.streams.back(), host_call(rank, "cuLaunchKernelEx", 2'000)));
      correlations.push_back(correlation_);
    }
    const Nanoseconds end = *std::ranges::max_element(starts) + duration(100'000);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      Stream& stream = ranks_[r].streams.back();
      builder_.add_collective(
          at(stream.lane, "all_reduce", starts[r], end - starts[r], correlations[r]), {},
          trace::CollectiveDetail{.function = trace::CollectiveFunction::kAllReduce, .group = builder_.intern("0")});
      stream.free = end;
    }
  }

  trace::TraceBuilder builder_;
  std::vector<Rank> ranks_;
  int streams_;
  bool tells_records_;
  std::int64_t correlation_ = 0;
};

Trace any_job(bool tells_records, Diagnostics& diagnostics) {
  RandomJob job(*rc::gen::inRange(1, 4), *rc::gen::inRange(1, 5), tells_records);
  const int steps = *rc::gen::inRange(0, 80);
  for (int i = 0; i < steps; ++i) job.step();
  return job.build(diagnostics);
}

void check_sound(const Graph& graph, const Diagnostics& diagnostics, Nanoseconds tolerance) {
  const Verification found = verify(graph);
  RC_ASSERT(found.acyclic);
  RC_ASSERT(found.furthest_back <= tolerance);
  RC_ASSERT(found.streams_out_of_order == 0U);
  RC_ASSERT(found.without_launch == 0U);
  RC_ASSERT(diagnostics.count_of(kEdgeAgainstTime.code) == 0);
  RC_ASSERT(diagnostics.count_of(kCollectiveUnmatched.code) == 0);
}

RC_GTEST_PROP(GraphProperties, ARecordedJobMakesASoundGraph, ()) {
  Diagnostics diagnostics;
  const Trace trace = any_job(true, diagnostics);
  const Graph graph(trace, diagnostics);
  check_sound(graph, diagnostics, 0);
  for (const ResolvedWait& wait : graph.waits()) RC_ASSERT(wait.evidence == Evidence::kRecorded);
}

// Where the records are not told, what is inferred may be less or more than the truth, but never against the times.
RC_GTEST_PROP(GraphProperties, InferenceNeverContradictsTheTimes, ()) {
  Diagnostics diagnostics;
  const Trace trace = any_job(false, diagnostics);
  const Graph graph(trace, diagnostics);
  check_sound(graph, diagnostics, kStampTolerance);
  std::int64_t counted = 0;
  for (std::size_t e = 0; e < kEvidences; ++e) {
    counted += diagnostics.count_of(diagnostic_of(static_cast<Evidence>(e)).code);
  }
  RC_ASSERT(counted == std::ssize(graph.waits()));
  for (const ResolvedWait& wait : graph.waits()) {
    RC_ASSERT(wait.producer.has_value() == (wait.kind == Producer::kQueuedWork || wait.kind == Producer::kCollective));
    if (!wait.producer || !wait.consumer) continue;
    RC_ASSERT(trace.end(*wait.producer) <= trace.start(*wait.consumer) + kStampTolerance);
  }
}

RC_GTEST_PROP(GraphProperties, CriticalPathsFillTheirWindows, ()) {
  Diagnostics diagnostics;
  const Trace trace = any_job(true, diagnostics);
  const Graph graph(trace, diagnostics);
  const Nanoseconds begin = *rc::gen::inRange<Nanoseconds>(0, trace.length() + 1);
  const Nanoseconds end = *rc::gen::inRange<Nanoseconds>(begin, trace.length() + 10'000);
  const CriticalPath path = critical_path(graph, {begin, end});
  Nanoseconds at = begin;
  for (const PathStep& step : path.steps) {
    RC_ASSERT(step.before.begin == at);
    RC_ASSERT(step.before.end == step.in.begin);
    RC_ASSERT(step.in.begin <= step.in.end);
    at = step.in.end;
  }
  RC_ASSERT(path.steps.empty() || at == end);
  const PathBreakdown spent = breakdown(graph, path);
  RC_ASSERT(std::accumulate(spent.spent.begin(), spent.spent.end(), Nanoseconds{0}) == end - begin);
}

RC_GTEST_PROP(GraphProperties, TheSameTraceGivesTheSameGraph, ()) {
  Diagnostics diagnostics;
  const Trace trace = any_job(false, diagnostics);
  const Graph a(trace, diagnostics);
  const Graph b(trace, diagnostics);
  RC_ASSERT(a.waits() == b.waits());
  RC_ASSERT(a.edges() == b.edges());
  for (VertexId v = 0; v < a.vertices(); ++v) {
    std::vector<std::pair<VertexId, EdgeKind>> of_a;
    std::vector<std::pair<VertexId, EdgeKind>> of_b;
    a.for_each_predecessor(v, [&](VertexId from, EdgeKind kind) { of_a.emplace_back(from, kind); });
    b.for_each_predecessor(v, [&](VertexId from, EdgeKind kind) { of_b.emplace_back(from, kind); });
    RC_ASSERT(of_a == of_b);
  }
}

}  // namespace
}  // namespace interlace::graph
