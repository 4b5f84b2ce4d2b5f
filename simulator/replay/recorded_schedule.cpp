#include "simulator/replay/recorded_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/host_pace.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/replay/usual_delays.hpp"

namespace interlace::replay {

namespace {

/// Twice what the farthest of 158 sound recordings is off (docs/accuracy.md).
constexpr double kMostOff = 0.1;

/// When the last work of an iteration's optimizer ended.
std::optional<Nanoseconds> device_end(const trace::Trace& trace, const RecordedIteration& iteration,
                                      const SiteTable& table) {
  std::optional<Nanoseconds> end;
  for (const RecordedWork& work : iteration.works) {
    if (!work.work || table.sites[work.site.index()].segment.stage != schedule::Stage::kOptimizerStep) continue;
    end = std::max(end.value_or(trace.end(*work.work)), trace.end(*work.work));
  }
  return end;
}

/// The mean over the iterations that are replayed; none where no two follow each other.
std::optional<double> recorded_device_step(const trace::Trace& trace, const SiteTable& table) {
  std::vector<double> steps;
  for (const std::vector<RecordedIteration>& rank : table.ranks) {
    for (std::uint32_t i = 1; i < rank.size(); ++i) {
      const auto before = device_end(trace, rank[i - 1], table);
      const auto end = device_end(trace, rank[i], table);
      if (before && end && !table.left_out.contains(i)) steps.push_back(static_cast<double>(*end - *before));
    }
  }
  return steps.empty() ? std::nullopt : std::optional(statistics::mean(steps));
}

}  // namespace

const schedule::Schedule* recorded_schedule(std::span<const schedule::Schedule> candidates, const trace::Trace& trace,
                                            const stages::Cut& cut, SiteTable& table, Diagnostics& diagnostics,
                                            std::optional<double> unrecorded_ns) {
  // What a lone rank would exchange is there without any kernel.
  const auto is_recorded = [](const Site& site) { return !site.instances.empty(); };
  if (std::ranges::none_of(table.sites, is_recorded)) {
    throw Error(kNoDeviceWork, trace.ranks().front().source, "no work of a device in any iteration: nothing to replay",
                "record with the profiler, device activities included; a memory snapshot alone tells no times: name it "
                "beside the recording of its rank");
  }
  const schedule::Schedule* recorded = recognise(candidates, trace, cut, table);
  if (recorded == nullptr) return nullptr;
  table.unrecorded_step_ns = unrecorded_ns ? unrecorded_ns : unrecorded_step_ns(trace);
  if (table.unrecorded_step_ns && !learn_host_pace(*table.unrecorded_step_ns, cut, *recorded, table)) {
    diagnostics.count(kImpossibleSteps, fmt::format("{:.2f} ms told", *table.unrecorded_step_ns / 1e6));
    table.unrecorded_step_ns.reset();
  }
  const double replayed_ns = learn_delays(cut, *recorded, table);
  const auto recorded_ns = recorded_device_step(trace, table);
  if (recorded_ns && std::abs(replayed_ns / *recorded_ns - 1.0) > kMostOff) {
    diagnostics.count(kFarFromRecorded,
                      fmt::format("{}: {:.2f} ms from optimizer to optimizer as recorded, {:.2f} ms replayed",
                                  recorded->name, *recorded_ns / 1e6, replayed_ns / 1e6));
  }
  return recorded;
}

}  // namespace interlace::replay
