// Joins device work with the host calls that launched it.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/trace/call_effect.hpp"
#include "simulator/trace/clock_tolerance.hpp"
#include "simulator/trace/correlation_index.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {

void TraceBuilder::find_launches(Trace& trace, Diagnostics& diagnostics) const {
  const auto n = static_cast<std::uint32_t>(kinds_.size());
  const auto rank_at = [&](std::uint32_t i) { return lanes_[lane_of_[i].index()].rank.index(); };
  const auto is_call = [&](std::uint32_t i) {
    return kinds_[i] >= OperationKind::kHostCall && kinds_[i] <= OperationKind::kHostSync && has_correlation_[i];
  };
  std::vector<CorrelationIndex> calls(ranks_.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    if (is_call(i)) calls[rank_at(i)].expect(correlations_[i]);
  }
  std::int64_t duplicates = 0;
  std::vector<bool> keeps_correlation(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_call(i)) continue;
    const auto taken = calls[rank_at(i)].add(correlations_[i], i);
    // A runtime call and the driver call inside it are one launch seen twice.
    const bool is_inner =
        taken && lane_of_[*taken] == lane_of_[i] && starts_[i] + durations_[i] <= starts_[*taken] + durations_[*taken];
    if (taken && !is_inner) ++duplicates;
    keeps_correlation[i] = !taken;
  }
  diagnostics.count(kDuplicateCorrelation, {}, duplicates);

  trace.launch_of_.assign(n, Trace::kNoRow);
  std::int64_t orphans = 0;
  std::string_view first_orphan;
  std::int64_t early = 0;
  std::string_view first_early;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_device_work(kinds_[i])) continue;
    if (const auto call = has_correlation_[i] ? calls[rank_at(i)].find(correlations_[i]) : std::nullopt) {
      trace.launch_of_[i] = *call;
      if (starts_[i] < starts_[*call] - kClockTolerance && ++early == 1) first_early = strings_[names_[i].index()];
    } else if (++orphans == 1) {
      first_orphan = strings_[names_[i].index()];
    }
  }
  diagnostics.count(kDeviceWorkBeforeLaunch, first_early, early);
  diagnostics.count(kDeviceWorkWithoutLaunch, first_orphan, orphans);
  find_launches_without_work(trace, keeps_correlation, diagnostics);
}

void TraceBuilder::find_launches_without_work(Trace& trace, const std::vector<bool>& keeps_correlation,
                                              Diagnostics& diagnostics) const {
  const std::size_t n = kinds_.size();
  const auto rank_at = [&](std::size_t i) { return lanes_[lane_of_[i].index()].rank.index(); };
  std::vector<bool> has_work(n);
  std::vector<bool> is_recorded(ranks_.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (is_device_work(kinds_[i])) is_recorded[rank_at(i)] = true;
    if (trace.launch_of_[i] != Trace::kNoRow) has_work[trace.launch_of_[i]] = true;
  }
  std::vector<CallEffect> effects;
  effects.reserve(strings_.size());
  for (const std::string& text : strings_) effects.push_back(call_effect(text));
  // While a thread captures a graph, those of autograd may launch into it.
  std::vector<std::int64_t> captures(ranks_.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!keeps_correlation[i]) continue;
    const std::size_t rank = rank_at(i);
    switch (effects[names_[i].index()]) {
      case CallEffect::kBeginsCapture: ++captures[rank]; break;
      case CallEffect::kEndsCapture: captures[rank] = std::max<std::int64_t>(0, captures[rank] - 1); break;
      case CallEffect::kLaunchesKernel:
        if (is_recorded[rank] && captures[rank] == 0 && !has_work[i]) trace.launches_without_work_.push_back({i});
        break;
      case CallEffect::kOther: break;
    }
  }
  const auto& found = trace.launches_without_work_;
  if (found.empty()) return;
  const std::string& first = strings_[names_[found.front().index()].index()];
  diagnostics.count(kLaunchWithoutDeviceWork, first, static_cast<std::int64_t>(found.size()));
}

}  // namespace interlace::trace
