// Reading, end to end: file, inflating, parsing, joining, TraceBuilder::build. Items are events of the files.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "tests/benchmarks/long_kineto_trace.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::ingest {
namespace {

/// Two ranks of three steps; 12383 and 12359 events.
void read_torchrec_c6(benchmark::State& state) {
  const std::filesystem::path folder =
      std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "torchrec_c6";
  const std::vector<std::filesystem::path> files{folder / "sparse.r0.json.gz", folder / "sparse.r1.json.gz"};
  for (auto _ : state) benchmark::DoNotOptimize(read(files));
  state.SetItemsProcessed(state.iterations() * (12383 + 12359));
}
BENCHMARK(read_torchrec_c6)->Unit(benchmark::kMillisecond)->UseRealTime();

void read_long_trace(benchmark::State& state) {
  const testing::TemporaryFolder folder;
  const std::string text = benchmarks::long_kineto_trace(state.range(0));
  const std::vector<std::filesystem::path> files{
      folder.write("trace", state.range(1) != 0 ? testing::gzip(text) : text)};
  for (auto _ : state) benchmark::DoNotOptimize(read(files));
  state.SetItemsProcessed(state.iterations() * state.range(0) * 5);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_long_trace)
    ->ArgNames({"operators", "gzip"})
    ->Args({20'000, 1})
    ->Args({200'000, 1})
    ->Args({200'000, 0})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace interlace::ingest
