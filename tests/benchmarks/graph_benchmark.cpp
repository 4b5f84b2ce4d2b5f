#include <benchmark/benchmark.h>

#include "simulator/graph/critical_path.hpp"
#include "simulator/graph/graph.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::graph {
namespace {

using trace::LaneId;
using trace::Trace;
using trace::TraceBuilder;

constexpr Nanoseconds kUs = 1'000;

/// Steps of a training loop on 8 ranks: each issues and waits for a collective, joins two streams and launches kernels,
/// all under ranges; about 500 operations a step and rank.
class Loop {
 public:
  Trace build(std::int64_t operations) {
    constexpr int kRanks = 8;
    for (int r = 0; r < kRanks; ++r) ranks_.push_back(builder_.add_rank({.number = r}));
    for (std::int64_t step = 0; std::ssize(ranks_) * step * 500 < operations; ++step) {
      for (const trace::RankId rank : ranks_) one_step(rank, step * 10'000 * kUs);
    }
    Diagnostics diagnostics;
    return std::move(builder_).build(diagnostics);
  }

 private:
  TraceBuilder::Common at(LaneId lane, const char* name, Nanoseconds start, Nanoseconds length,
                          std::optional<std::int64_t> correlation = {}) {
    return {lane, builder_.intern(name), start, length, correlation};
  }
  void wait_for(LaneId thread, LaneId stream, Nanoseconds t, std::int64_t event, bool record) {
    if (record) {
      builder_.add_sync(trace::OperationKind::kEventRecord, at(thread, "cudaEventRecord", t, kUs),
                        {.kind = trace::SyncKind::kEventRecord});
    }
    builder_.add_sync(trace::OperationKind::kStreamWait, at(thread, "cudaStreamWaitEvent", t + 2 * kUs, kUs),
                      {.kind = trace::SyncKind::kStreamWaitEvent, .stream = stream, .event = event});
  }
  void one_step(trace::RankId rank, Nanoseconds t) {
    const LaneId thread = builder_.lane(trace::LaneKind::kHostThread, rank, 1, 1);
    const LaneId main = builder_.lane(trace::LaneKind::kStream, rank, 0, 7);
    const LaneId side = builder_.lane(trace::LaneKind::kStream, rank, 0, 20);
    const LaneId nccl = builder_.lane(trace::LaneKind::kStream, rank, 0, 30);
    builder_.add_range(at(thread, "## forward ##", t, 4'000 * kUs), {.kind = trace::RangeKind::kAnnotation});
    for (int k = 0; k < 150; ++k, t += 20 * kUs) {
      builder_.add_range(at(thread, "aten::mm", t, 10 * kUs), {.kind = trace::RangeKind::kCpuOp});
      builder_.add_host_call(at(thread, "cudaLaunchKernel", t + kUs, 4 * kUs, ++correlation_));
      builder_.add_kernel(at(k % 3 == 0 ? side : main, "kernel", t + 8 * kUs, 11 * kUs, correlation_), {});
      if (k % 30 == 10) wait_for(thread, main, t + 6 * kUs, ++event_, true);
      if (k % 30 == 20) {
        wait_for(thread, nccl, t + 6 * kUs, 6, true);
        builder_.add_host_call(at(thread, "cuLaunchKernelEx", t + 12 * kUs, 4 * kUs, ++correlation_));
        builder_.add_collective(
            at(nccl, "all_reduce", t + 30 * kUs, 40 * kUs, correlation_), {},
            trace::CollectiveDetail{.function = trace::CollectiveFunction::kAllReduce, .group = builder_.intern("0")});
      }
      if (k % 30 == 29) wait_for(thread, main, t + 12 * kUs, 50 + correlation_ % 7, false);
    }
  }

  TraceBuilder builder_;
  std::vector<trace::RankId> ranks_;
  std::int64_t correlation_ = 0;
  std::int64_t event_ = 1'000;
};

void build_graph(benchmark::State& state) {
  const Trace trace = Loop().build(state.range(0));
  for (auto _ : state) {
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(Graph(trace, diagnostics));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace.size()));
}
BENCHMARK(build_graph)->Arg(25'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void find_critical_path(benchmark::State& state) {
  const Trace trace = Loop().build(state.range(0));
  Diagnostics diagnostics;
  const Graph graph(trace, diagnostics);
  for (auto _ : state) benchmark::DoNotOptimize(critical_path(graph, {0, trace.length()}));
}
BENCHMARK(find_critical_path)->Arg(25'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlace::graph
