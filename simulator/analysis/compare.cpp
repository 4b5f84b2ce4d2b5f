#include "simulator/analysis/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace interlace::analysis {

namespace {

/// Collects reasons above a threshold.
class Reasons {
 public:
  explicit Reasons(Nanoseconds threshold) : threshold_(threshold) {}

  [[nodiscard]] bool matters(Nanoseconds time) const { return std::abs(time) >= threshold_ && time != 0; }
  void add(Nanoseconds effect, std::string text) {
    if (matters(effect)) add_always(effect, std::move(text));
  }
  void add_always(Nanoseconds effect, std::string text) { reasons_.push_back({std::move(text), effect}); }

  std::vector<Reason> largest_first() && {
    std::ranges::stable_sort(reasons_, std::ranges::greater{}, [](const Reason& r) { return std::abs(r.effect_ns); });
    return std::move(reasons_);
  }

 private:
  Nanoseconds threshold_;
  std::vector<Reason> reasons_;
};

std::string_view more_or_less(Nanoseconds change) { return change > 0 ? "more" : "less"; }
std::string_view longer_or_less(Nanoseconds change) { return change > 0 ? "longer" : "less"; }

void compare_step(const OverlapSummary& before, const OverlapSummary& now, Reasons& reasons) {
  const Nanoseconds exposed = now.exposed_communication_ns - before.exposed_communication_ns;
  reasons.add(exposed, fmt::format("exposes {} {} communication", in_ms(exposed), more_or_less(exposed)));
  const Nanoseconds copies = now.exposed_copy_ns - before.exposed_copy_ns;
  reasons.add(copies, fmt::format("the device only copies from or to the host for {} {}", in_ms(copies),
                                  longer_or_less(copies)));
  const Nanoseconds compute = now.compute_ns - before.compute_ns;
  reasons.add(compute, fmt::format("compute keeps the device busy {} {}", in_ms(compute), longer_or_less(compute)));
  const Nanoseconds idle = now.idle_ns - before.idle_ns;
  reasons.add(idle, fmt::format("the device idles {} {}", in_ms(idle), longer_or_less(idle)));
}

void compare_collectives(const OverlapSummary& before, const OverlapSummary& now, Reasons& reasons) {
  const Nanoseconds change = now.communication_ns - before.communication_ns;
  reasons.add(change, fmt::format("collectives run {} {}, waiting for peers included", in_ms(change),
                                  change > 0 ? "longer" : "shorter"));
}

/// A place in which the host blocks for another time than before.
struct BlockChange {
  std::string place;
  Nanoseconds was = 0;
  Nanoseconds is = 0;

  [[nodiscard]] Nanoseconds change() const { return is - was; }
};

/// Largest first.
std::vector<BlockChange> block_changes(const std::vector<HostBlock>& before, const std::vector<HostBlock>& now) {
  std::map<std::pair<std::string_view, BlockKind>, BlockChange> both;
  for (const HostBlock& block : before) both[{block.stage, block.kind}].was += block.blocked_ns;
  for (const HostBlock& block : now) both[{block.stage, block.kind}].is += block.blocked_ns;
  std::vector<BlockChange> changes;
  for (auto& [key, change] : both) {
    const std::string stage = key.first.empty() ? "outside all stages" : fmt::format("in {}", key.first);
    change.place = fmt::format("{} ({})", stage, to_string(key.second));
    changes.push_back(std::move(change));
  }
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const BlockChange& c) { return std::abs(c.change()); });
  return changes;
}

std::string one_block_change(const BlockChange& change, const Reasons& reasons) {
  if (!reasons.matters(change.was)) return fmt::format("host now blocks {} {}", in_ms(change.is), change.place);
  if (!reasons.matters(change.is)) return fmt::format("host no longer blocks {} {}", in_ms(change.was), change.place);
  return fmt::format("host blocks {} {} {}", in_ms(change.change()), change.change() > 0 ? "longer" : "shorter",
                     change.place);
}

constexpr std::size_t kMostPlaces = 3;

/// One reason: waits that move from one stage to another matter by what they come to together. Small changes count in
/// what all come to, though their places are not told.
void compare_host(const std::vector<HostBlock>& before, const std::vector<HostBlock>& now, Reasons& reasons) {
  const std::vector<BlockChange> changes = block_changes(before, now);
  Nanoseconds net = 0;
  for (const BlockChange& change : changes) net += change.change();
  const std::string_view longer = net > 0 ? "longer" : "shorter";
  const auto is_small = [&](const BlockChange& change) { return !reasons.matters(change.change()); };
  const auto large = static_cast<std::size_t>(std::ranges::find_if(changes, is_small) - changes.begin());
  if (large == 0) {
    reasons.add(net, fmt::format("host blocks {} {}, a little in each of several places", in_ms(net), longer));
    return;
  }
  Nanoseconds rest = net;
  std::string places;
  for (const BlockChange& change : std::span(changes).first(std::min(large, kMostPlaces))) {
    rest -= change.change();
    places += fmt::format("{}{} {} {}", places.empty() ? "" : ", ", in_ms(change.change()),
                          more_or_less(change.change()), change.place);
  }
  if (large > kMostPlaces || reasons.matters(rest)) places += ", and smaller changes";
  if (large == 1 && !reasons.matters(rest)) {
    reasons.add_always(changes.front().change(), one_block_change(changes.front(), reasons));
  } else if (reasons.matters(net)) {
    reasons.add_always(net, fmt::format("host blocks {} {}: {}", in_ms(net), longer, places));
  } else {
    reasons.add_always(net, fmt::format("host blocks in other places, for no longer in all: {}", places));
  }
}

/// "embedding_lookup of i+1", "optimizer_step of i"; the stage that is on the device for less time is the hidden one.
std::pair<std::string, std::string> hidden_and_cover(const StagePairKey& key,
                                                     const std::map<std::string_view, Nanoseconds>& device_time) {
  const auto of_batch = [&](std::string_view stage, std::int64_t batch) {
    if (!key.batches_apart) return std::string(stage);
    return batch == 0 ? fmt::format("{} of i", stage) : fmt::format("{} of i+{}", stage, batch);
  };
  std::string later_text = of_batch(key.later, key.batches_apart.value_or(0));
  std::string earlier_text = of_batch(key.earlier, 0);
  const auto time_of = [&](std::string_view stage) {
    const auto found = device_time.find(stage);
    return found == device_time.end() ? Nanoseconds{0} : found->second;
  };
  if (time_of(key.later) <= time_of(key.earlier)) return {std::move(later_text), std::move(earlier_text)};
  return {std::move(earlier_text), std::move(later_text)};
}

void compare_stages(const StageOverlap& before, const StageOverlap& now, Reasons& reasons) {
  std::map<StagePairKey, std::pair<Nanoseconds, Nanoseconds>> both;
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
  const auto threshold = static_cast<Nanoseconds>(step * options.threshold);
  Reasons where(threshold);
  compare_step(before.overlap.mean, now.overlap.mean, where);
  Reasons behind(threshold);
  compare_collectives(before.overlap.mean, now.overlap.mean, behind);
  compare_host(before.host_blocks, now.host_blocks, behind);
  compare_stages(before.stages, now.stages, behind);

  std::vector<Reason> reasons = std::move(where).largest_first();
  std::ranges::move(std::move(behind).largest_first(), std::back_inserter(reasons));
  if (reasons.size() > options.at_most) reasons.resize(options.at_most);
  return reasons;
}

}  // namespace interlace::analysis
