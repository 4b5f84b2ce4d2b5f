// Opening recordings in the GUI: read, cut, lay out, build the dependency graph, until the timeline can be drawn. Time
// is that of the clock on the wall. INTERLACE_BENCHMARK_OPERATIONS sets the size: 200,000 where absent, 1000000 is what
// the design asks for. INTERLACE_TRACE_PROCESSOR may name a local binary of Perfetto's trace_processor_shell: then the
// same Kineto file is loaded by it, too.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gui/session/forecast.hpp"
#include "gui/session/freed_memory.hpp"
#include "gui/session/recorded.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/benchmarks/large_trace.hpp"
#include "tests/benchmarks/long_kineto_trace.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

/// Memory of this process that is in use now.
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void open_file(benchmark::State& state, const std::filesystem::path& file) {
  for (auto _ : state) {
    give_back_freed_memory();  // what making the file has left behind would be used again
    const double before = resident_bytes();
    const RecordedPtr recorded = open_recording({file}, {});
    const auto operations = static_cast<double>(recorded->run->trace().size());
    state.counters["operations"] = operations;
    state.counters["bytes_an_operation"] = (resident_bytes() - before) / operations;
  }
}

void open_ilt(benchmark::State& state) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "large.ilt";
  trace::write_ilt(benchmarks::large_trace(benchmarks::operations_wanted()), file);
  open_file(state, file);
}
BENCHMARK(open_ilt)->Unit(benchmark::kMillisecond)->UseRealTime();

/// As many events as operations are wanted; two of five are no operation.
void open_kineto(benchmark::State& state) {
  const testing::TemporaryFolder folder;
  const auto operators = static_cast<std::int64_t>(benchmarks::operations_wanted() / 5);
  open_file(state, folder.write("large.json.gz", testing::gzip(benchmarks::long_kineto_trace(operators))));
}
BENCHMARK(open_kineto)->Unit(benchmark::kMillisecond)->UseRealTime();

/// From asking for a schedule until its timeline can be drawn, for the shipped recording of two ranks.
void predict_schedule(benchmark::State& state) {
  const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";
  const RecordedPtr recorded = open_recording({folder / "base.r0.json.gz", folder / "base.r1.json.gz"}, {});
  Forecaster forecaster(recorded);
  const schedule::Schedule wanted = schedule::find("torchrec/sparse_dist");
  (void)forecaster.predict(wanted, {});  // the first one replays the recorded schedule, too
  for (auto _ : state) benchmark::DoNotOptimize(forecaster.predict(wanted, {}));
}
BENCHMARK(predict_schedule)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Perfetto, from start to the answer of a query that needs all slices.
void open_kineto_in_trace_processor(benchmark::State& state) {
  const char* binary = std::getenv("INTERLACE_TRACE_PROCESSOR");
  if (binary == nullptr) {
    state.SkipWithError("INTERLACE_TRACE_PROCESSOR names no binary");
    return;
  }
  const testing::TemporaryFolder folder;
  const auto operators = static_cast<std::int64_t>(benchmarks::operations_wanted() / 5);
  const auto file = folder.write("large.json.gz", testing::gzip(benchmarks::long_kineto_trace(operators)));
  const auto query = folder.write("query.sql", "select count(*), sum(dur) from slice;\n");
  const std::string command = std::string(binary) + " -q '" + query.string() + "' '" + file.string() + "' >'" +
                              (folder.path() / "log").string() + "' 2>&1";
  for (auto _ : state) {
    if (std::system(command.c_str()) != 0) state.SkipWithError("it failed");
  }
}
BENCHMARK(open_kineto_in_trace_processor)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace interlace::gui
