#include "simulator/cli/memory_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "simulator/analysis/memory.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

namespace {

std::string stage_name(const stages::SegmentKey& segment, const std::vector<std::string>& modules) {
  std::string name(schedule::to_string(segment.stage));
  if (segment.piece != stages::Piece::kWhole) name += fmt::format("/{}", stages::to_string(segment.piece));
  if (segment.module && segment.module->index() < modules.size()) {
    name += fmt::format(" [{}]", modules[segment.module->index()]);
  }
  return name;
}

std::vector<report::StreamPool> pools_of(const memory::MemoryCourse& course, const std::vector<std::string>& streams) {
  std::vector<report::StreamPool> pools;
  for (const allocator::ArenaUsage& arena : course.usage) {
    const std::string name = arena.stream < streams.size() ? streams[arena.stream] : std::to_string(arena.stream);
    auto pool = std::ranges::find(pools, name, &report::StreamPool::stream);
    if (pool == pools.end()) pool = pools.insert(pool, {name, 0, 0});
    pool->reserved += arena.reserved;
    pool->in_use += arena.allocated;
  }
  std::ranges::stable_sort(pools, std::greater{}, &report::StreamPool::reserved);
  return pools;
}

std::string failure_text(const memory::FailedAllocation& failed, const std::vector<std::string>& modules) {
  if (!failed.in) return fmt::format("{} that are always allocated", report::bytes_text(failed.bytes));
  const std::string when =
      failed.iteration < 0 ? "while the pipeline fills" : fmt::format("in iteration {}", failed.iteration);
  return fmt::format("{} for {} of batch {:+}, {}", report::bytes_text(failed.bytes), stage_name(*failed.in, modules),
                     failed.batch, when);
}

report::RankMemory memory_of(const replay::PredictedMemory& memory, const std::vector<std::string>& modules,
                             const std::vector<std::string>& streams) {
  const memory::MemoryCourse& course = memory.course;
  report::RankMemory result{.allocated_peak = course.allocated_peak,
                            .active_peak = course.active_peak,
                            .reserved_peak = memory.reserved_peak,
                            .reserved_low = memory.reserved_low,
                            .reserved_high = memory.reserved_high,
                            .persistent = course.persistent,
                            .culprits = {},
                            .pools = pools_of(course, streams),
                            .split_free = course.inactive_split,
                            .failure = {},
                            .retries = course.retries,
                            .played_steps = course.iterations};
  for (const memory::Culprit& culprit : course.culprits) {
    result.culprits.push_back({stage_name(culprit.made_in, modules), culprit.batch, culprit.bytes});
  }
  if (course.first_failure) {
    result.failure = "first fails the allocation of " + failure_text(*course.first_failure, modules);
  }
  return result;
}

}  // namespace

std::vector<report::RankMemory> memory_rows(const replay::Prediction& prediction,
                                            const std::vector<std::string>& modules) {
  std::vector<report::RankMemory> rows;
  for (const replay::PredictedMemory& rank : prediction.memory) {
    rows.push_back(memory_of(rank, modules, prediction.streams));
  }
  return rows;
}

std::vector<report::RecordedMemory> recorded_memory(const trace::Trace& trace) {
  std::vector<report::RecordedMemory> memory;
  for (const analysis::MemoryUse& use : analysis::memory_use(trace)) {
    memory.push_back({trace.ranks()[use.rank.index()].number, use.allocated_peak, use.active_peak, use.reserved_peak});
  }
  return memory;
}

}  // namespace interlace::cli
