#include "simulator/report/predict_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace interlace::report {

std::string replayed(const RecordedRun& recorded) {
  constexpr double kShown = 0.0005;
  if (std::abs(recorded.replay_error.value_or(0)) < kShown) return "replayed";
  return fmt::format("replayed, corrected for being {:.1f} % too {}", std::abs(*recorded.replay_error) * 100,
                     *recorded.replay_error < 0 ? "fast" : "slow");
}

std::vector<std::size_t> by_step_time(const PredictReport& report) {
  std::vector<std::size_t> order(report.predictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return report.predictions[i].step_time_ns; });
  return order;
}

std::vector<SkippedGroup> skipped_by_reason(std::span<const SkippedSchedule> all) {
  std::vector<SkippedGroup> groups;
  for (const SkippedSchedule& skipped : all) {
    const auto known = std::ranges::find(groups, skipped.why, &SkippedGroup::why);
    if (known == groups.end()) {
      groups.push_back({skipped.schedule, skipped.why});
    } else {
      known->schedules += ", " + skipped.schedule;
    }
  }
  return groups;
}

std::optional<std::size_t> fastest(const PredictReport& report) {
  for (const std::size_t i : by_step_time(report)) {
    if (report.predictions[i].hazards.empty()) return i;
  }
  return std::nullopt;
}

}  // namespace interlace::report
