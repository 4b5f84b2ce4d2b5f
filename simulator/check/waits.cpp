#include "simulator/check/waits.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "simulator/check/edits.hpp"
#include "simulator/check/findings.hpp"

namespace interlace::check {

namespace {

/// The rules under which a schedule may have to hold: as it is asked for, then stricter ones.
std::vector<UnrollOptions> rules(const UnrollOptions& options) {
  std::vector<UnrollOptions> rules{options};
  if (options.collectives) {
    rules.push_back(options);
    rules.back().collectives = false;
  }
  return rules;
}

constexpr std::array<std::string_view, 2> kReasons = {"", "needed with one rank, without collectives"};

using Clashes = std::set<std::pair<FindingKey, Phase>>;

/// What clashes under each rule. Numbers would not do: the first wait for a collective also decides when its buffers
/// are given back, so that without it other things clash, or fewer.
std::vector<Clashes> clashes(const schedule::Schedule& schedule, const std::vector<UnrollOptions>& rules) {
  std::vector<Clashes> all;
  for (const UnrollOptions& options : rules) all.push_back(what_clashes(examined_runs(schedule, options)));
  return all;
}

/// The first rule under which something clashes that did not before; their number where there is none.
std::size_t first_broken(const std::vector<Clashes>& before, const std::vector<Clashes>& after) {
  const auto holds = [](const Clashes& was, const Clashes& is) { return std::ranges::includes(was, is); };
  return static_cast<std::size_t>(std::ranges::mismatch(before, after, holds).in1 - before.begin());
}

}  // namespace

WaitReview review_waits(const schedule::Schedule& schedule, const UnrollOptions& options) {
  WaitReview review;
  UnrollOptions unrolled = options;
  unrolled.batches = batches_to_steady_state(schedule, options);
  const std::vector<WrittenWait> waits = written_waits(schedule);
  schedule::Schedule without_any = schedule;
  // From the last, so that the places of the others stay as they are.
  for (auto wait = waits.rbegin(); wait != waits.rend(); ++wait) without_any = without(without_any, *wait);
  // Without waits the steady state may come later.
  unrolled.batches = std::max(unrolled.batches, batches_to_steady_state(without_any, options));
  for (const WrittenWait& wait : waits) {
    unrolled.batches = std::max(unrolled.batches, batches_to_steady_state(without(schedule, wait), options));
  }

  const std::vector<UnrollOptions> all_rules = rules(unrolled);
  const std::vector<Clashes> before = clashes(schedule, all_rules);
  schedule::Schedule lean = schedule;
  std::vector<const WrittenWait*> redundant;
  for (const WrittenWait& wait : waits) {
    const std::size_t broken = first_broken(before, clashes(without(schedule, wait), all_rules));
    WaitUse use{.use = WaitUse::Use::kPrecaution, .reason = {}, .line = wait.line, .text = wait.text};
    if (broken == 0) use.use = WaitUse::Use::kNeeded;
    if (broken == before.size()) use.use = WaitUse::Use::kRedundant;
    if (use.use == WaitUse::Use::kPrecaution) use.reason = kReasons.at(broken);
    if (use.use == WaitUse::Use::kRedundant) redundant.push_back(&wait);
    review.waits.push_back(std::move(use));
  }
  if (redundant.size() > 1) {
    for (auto wait = redundant.rbegin(); wait != redundant.rend(); ++wait) lean = without(lean, **wait);
    review.redundant_together = first_broken(before, clashes(lean, all_rules)) == before.size();
  }
  return review;
}

}  // namespace interlace::check
