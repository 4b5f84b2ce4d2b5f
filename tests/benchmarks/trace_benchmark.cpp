#include <benchmark/benchmark.h>

#include <random>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {
namespace {

/// Launches and kernels, arriving in the order of no clock, as those of a profiler's buffers do.
void build_trace(benchmark::State& state) {
  const std::int64_t pairs = state.range(0);
  for (auto _ : state) {
    std::mt19937_64 random(1);
    TraceBuilder builder;
    const RankId rank = builder.add_rank({});
    const LaneId thread = builder.lane(LaneKind::kHostThread, rank, 1, 1);
    const LaneId stream = builder.lane(LaneKind::kStream, rank, 0, 7);
    const StringId launch = builder.intern("cudaLaunchKernel");
    const StringId kernel = builder.intern("gemm");
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto start = static_cast<Nanoseconds>(random() % 1'000'000'000);
      builder.add_kernel({stream, kernel, start + 10'000, 5'000, i}, {});
      builder.add_host_call({thread, launch, start, 4'000, i});
    }
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(std::move(builder).build(diagnostics));
  }
  state.SetItemsProcessed(state.iterations() * pairs * 2);
}
BENCHMARK(build_trace)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlace::trace
