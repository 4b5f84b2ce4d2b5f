#include <benchmark/benchmark.h>

#include <random>
#include <sstream>

#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::trace {
namespace {

/// A job of two ranks as a profiler sees one: rank after rank, nested host ranges around launches, each with its kernel
/// on one of four streams, now and then an event, a copy, an allocation and a collective.
TraceBuilder job(std::int64_t operations) {
  TraceBuilder builder;
  std::mt19937_64 random(1);
  std::vector<StringId> names;
  for (int i = 0; i < 2'000; ++i)
    names.push_back(builder.intern("void kernel_of_some_length<float, " + std::to_string(i) + ">"));
  struct Lanes {
    LaneId thread;
    std::array<LaneId, 4> streams;
    Nanoseconds now = 1'760'000'000'000'000'000;
    std::int64_t correlation = 10;
  };
  std::array<Lanes, 2> ranks{};
  for (std::int32_t r = 0; r < 2; ++r) {
    const RankId rank = builder.add_rank({.number = r});
    ranks[static_cast<std::size_t>(r)].thread = builder.lane(LaneKind::kHostThread, rank, 1, 1);
    for (std::int64_t s = 0; s < 4; ++s) {
      ranks[static_cast<std::size_t>(r)].streams[static_cast<std::size_t>(s)] =
          builder.lane(LaneKind::kStream, rank, 0, 7 + s);
    }
  }
  const auto name = [&] { return names[random() % names.size()]; };
  const auto add_some = [&](Lanes& lanes) {
    const std::uint64_t dice = random();
    lanes.now += static_cast<Nanoseconds>(2'000 + dice % 5'000);
    const std::int64_t correlation = ++lanes.correlation;
    const LaneId stream = lanes.streams[dice / 7 % 4];
    builder.add_range({lanes.thread, name(), lanes.now, 9'000, {}}, {RangeKind::kCpuOp, correlation, 1, {}});
    builder.add_range({lanes.thread, name(), lanes.now + 500, 4'000, {}}, {RangeKind::kCpuOp, {}, {}, {}});
    builder.add_host_call({lanes.thread, names[0], lanes.now + 900, 1'100, correlation});
    const TraceBuilder::Common work{stream, name(), lanes.now + 9'000, static_cast<Nanoseconds>(dice % 90'000),
                                    correlation};
    if (dice % 16 == 0) {
      builder.add_copy(work, {static_cast<Bytes>(dice % 100'000), MemorySpace::kPinned, MemorySpace::kDevice});
    } else if (dice % 16 == 1) {
      builder.add_collective(work, {}, CollectiveDetail{CollectiveFunction::kAllToAll, names[1], names[2], names[3]});
    } else {
      builder.add_kernel(work, {.grid = {static_cast<std::int32_t>(dice % 4'096), 1, 1}, .block = {256, 1, 1}});
    }
    if (dice % 8 == 3) {
      builder.add_sync(OperationKind::kEventRecord, {lanes.thread, names[4], lanes.now + 2'500, 700, {}},
                       {SyncKind::kEventRecord, stream, correlation, {}, {}});
    }
    if (dice % 4 == 3) {
      builder.add_allocation({lanes.thread, names[5], lanes.now + 600, 0, {}},
                             {.address = dice % 4'096 * 512, .bytes = 512, .total_allocated = 1 << 30});
    }
  };
  for (auto& rank : ranks) {
    while (static_cast<std::int64_t>(builder.size()) < operations / 2 * (&rank - ranks.data() + 1)) add_some(rank);
  }
  return builder;
}

std::string file_of(std::int64_t operations) {
  Diagnostics none;
  std::ostringstream out;
  write_ilt(job(operations).build(none), none, out, "memory");
  return out.str();
}

void write_trace(benchmark::State& state) {
  Diagnostics none;
  const Trace trace = job(state.range(0)).build(none);
  for (auto _ : state) {
    std::ostringstream out;
    write_ilt(trace, none, out, "memory");
    benchmark::DoNotOptimize(out.str().size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace.size()));
}
BENCHMARK(write_trace)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// From the bytes of a file to the built Trace.
void read_trace(benchmark::State& state) {
  const std::string file = file_of(state.range(0));
  std::size_t size = 0;
  for (auto _ : state) {
    Diagnostics found;
    const Trace trace = read_ilt({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "memory", found);
    size = trace.size();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
  state.counters["bytes_per_operation"] = static_cast<double>(file.size()) / static_cast<double>(size);
}
BENCHMARK(read_trace)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlace::trace
