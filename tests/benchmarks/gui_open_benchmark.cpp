// Opening recordings in the GUI: read, cut, lay out, build the dependency graph, until the timeline can be drawn. Time
// is that of the clock on the wall. INTERLACE_BENCHMARK_OPERATIONS sets the size: 200,000 where absent, 1000000 is what
// the design asks for.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gui/session/recorded.hpp"
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
    malloc_trim(0);  // what making the file has left behind would be used again
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

}  // namespace
}  // namespace interlace::gui
