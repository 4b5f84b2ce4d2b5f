#include "simulator/analysis/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace interlace::analysis {

namespace {

/// Collects reasons above a threshold.
class Reasons {
 public:
  explicit Reasons(Nanoseconds threshold) : threshold_(threshold) {}

  [[nodiscard]] bool matters(Nanoseconds time) const { return std::abs(time) >= threshold_ && time != 0; }
  void add(Nanoseconds effect, std::string text) {
    if (matters(effect)) reasons_.push_back({std::move(text), effect});
  }

  std::vector<Reason> largest_first(std::size_t at_most) && {
    std::ranges::stable_sort(reasons_, std::ranges::greater{}, [](const Reason& r) { return std::abs(r.effect_ns); });
    if (reasons_.size() > at_most) reasons_.resize(at_most);
    return std::move(reasons_);
  }

 private:
  Nanoseconds threshold_;
  std::vector<Reason> reasons_;
};

std::string_view more_or_less(Nanoseconds change) { return change > 0 ? "more" : "less"; }

void compare_device(const OverlapSummary& before, const OverlapSummary& now, Reasons& reasons) {
  const Nanoseconds exposed = now.exposed_communication_ns - before.exposed_communication_ns;
  reasons.add(exposed, fmt::format("exposes {} {} communication", in_ms(exposed), more_or_less(exposed)));
  const Nanoseconds copies = (now.copy_ns - now.copy_hidden_ns) - (before.copy_ns - before.copy_hidden_ns);
  reasons.add(copies, fmt::format("copies between host and device run {} {} without compute over them", in_ms(copies),
                                  more_or_less(copies)));
  const Nanoseconds compute = now.compute_ns - before.compute_ns;
  reasons.add(compute,
              fmt::format("compute keeps the device busy {} {}", in_ms(compute), compute > 0 ? "longer" : "less"));
  const Nanoseconds communication = now.communication_ns - before.communication_ns;
  reasons.add(communication, fmt::format("collectives run {} {}, waiting for peers included", in_ms(communication),
                                         communication > 0 ? "longer" : "shorter"));
  const Nanoseconds idle = now.idle_ns - before.idle_ns;
  reasons.add(idle, fmt::format("the device idles {} {}", in_ms(idle), idle > 0 ? "longer" : "less"));
}

std::string place_of(std::string_view stage) {
  return stage.empty() ? "outside all stages" : fmt::format("in {}", stage);
}

void compare_host(const std::vector<HostBlock>& before, const std::vector<HostBlock>& now, Reasons& reasons) {
  std::map<std::pair<std::string_view, BlockKind>, std::pair<Nanoseconds, Nanoseconds>> both;
  for (const HostBlock& block : before) both[{block.stage, block.kind}].first += block.blocked_ns;
  for (const HostBlock& block : now) both[{block.stage, block.kind}].second += block.blocked_ns;
  for (const auto& [key, times] : both) {
    const auto [was, is] = times;
    const std::string place = fmt::format("{} ({})", place_of(key.first), to_string(key.second));
    const Nanoseconds change = is - was;
    if (!reasons.matters(was)) {
      reasons.add(change, fmt::format("host now blocks {} {}", in_ms(is), place));
    } else if (!reasons.matters(is)) {
      reasons.add(change, fmt::format("host no longer blocks {}: {} before", place, in_ms(was)));
    } else {
      reasons.add(change, fmt::format("host blocks {} {} {}", in_ms(change), change > 0 ? "longer" : "shorter", place));
    }
  }
}

using PairKey = std::tuple<std::string_view, std::string_view, std::optional<std::int64_t>>;

/// "embedding_lookup of i+1", "optimizer_step of i"; the stage that is on the device for less time is the hidden one.
std::pair<std::string, std::string> hidden_and_cover(const PairKey& key,
                                                     const std::map<std::string_view, Nanoseconds>& device_time) {
  const auto& [later, earlier, apart] = key;
  const auto of_batch = [&](std::string_view stage, std::int64_t batch) {
    if (!apart) return std::string(stage);
    return batch == 0 ? fmt::format("{} of i", stage) : fmt::format("{} of i+{}", stage, batch);
  };
  std::string later_text = of_batch(later, apart.value_or(0));
  std::string earlier_text = of_batch(earlier, 0);
  const auto time_of = [&](std::string_view stage) {
    const auto found = device_time.find(stage);
    return found == device_time.end() ? Nanoseconds{0} : found->second;
  };
  if (time_of(later) <= time_of(earlier)) return {std::move(later_text), std::move(earlier_text)};
  return {std::move(earlier_text), std::move(later_text)};
}

void compare_stages(const StageOverlap& before, const StageOverlap& now, Reasons& reasons) {
  std::map<PairKey, std::pair<Nanoseconds, Nanoseconds>> both;
  for (const StagePair& pair : before.pairs)
    both[{pair.later, pair.earlier, pair.batches_apart}].first = pair.overlap_ns;
  for (const StagePair& pair : now.pairs) both[{pair.later, pair.earlier, pair.batches_apart}].second = pair.overlap_ns;
  std::map<std::string_view, Nanoseconds> device_time;
  for (const StageOverlap* side : {&before, &now}) {
    for (const StageTime& stage : side->stages) {
      device_time[stage.stage] = std::max(device_time[stage.stage], stage.device_ns);
    }
  }
  for (const auto& [key, times] : both) {
    const auto [was, is] = times;
    const Nanoseconds gain = is - was;
    if (!reasons.matters(gain)) continue;
    const auto [hidden, cover] = hidden_and_cover(key, device_time);
    if (!reasons.matters(was)) {
      reasons.add(-gain, fmt::format("{} now runs under {} ({})", hidden, cover, in_ms(is)));
    } else if (!reasons.matters(is)) {
      reasons.add(-gain, fmt::format("{} no longer runs under {} ({} before)", hidden, cover, in_ms(was)));
    } else {
      reasons.add(-gain, fmt::format("{} overlaps {} by {} {}", hidden, cover, in_ms(gain), more_or_less(gain)));
    }
  }
}

}  // namespace

std::string in_ms(Nanoseconds time) {
  const double ms = static_cast<double>(std::abs(time)) / static_cast<double>(kMillisecond);
  if (ms >= 100) return fmt::format("{:.0f} ms", ms);
  if (ms >= 1) return fmt::format("{:.1f} ms", ms);
  return fmt::format("{:.2f} ms", ms);
}

std::vector<Reason> compare(const StepAnalysis& before, const StepAnalysis& now, const CompareOptions& options) {
  const auto step = static_cast<double>(before.overlap.mean.step_ns);
  Reasons reasons(static_cast<Nanoseconds>(step * options.threshold));
  compare_device(before.overlap.mean, now.overlap.mean, reasons);
  compare_host(before.host_blocks, now.host_blocks, reasons);
  compare_stages(before.stages, now.stages, reasons);
  return std::move(reasons).largest_first(options.at_most);
}

}  // namespace interlace::analysis
