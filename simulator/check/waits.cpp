#include "simulator/check/waits.hpp"

#include <algorithm>
#include <array>

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

std::size_t clashes(const schedule::Schedule& schedule, const UnrollOptions& options) {
  std::size_t clashes = 0;
  for (const ExaminedRun& run : examined_runs(schedule, options)) clashes += run.conflicts.size();
  return clashes;
}

/// How much clashes under each rule. Removing waits only takes order away, so equal numbers mean the same clashes.
std::vector<std::size_t> clashes(const schedule::Schedule& schedule, const std::vector<UnrollOptions>& rules) {
  std::vector<std::size_t> counts;
  for (const UnrollOptions& options : rules) counts.push_back(clashes(schedule, options));
  return counts;
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
  const std::vector<std::size_t> before = clashes(schedule, all_rules);
  schedule::Schedule lean = schedule;
  std::vector<const WrittenWait*> redundant;
  for (const WrittenWait& wait : waits) {
    const std::vector<std::size_t> after = clashes(without(schedule, wait), all_rules);
    const auto broken = static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
    WaitUse use{.use = WaitUse::Use::kPrecaution, .reason = {}, .line = wait.line, .text = wait.text};
    if (broken == 0) use.use = WaitUse::Use::kNeeded;
    if (broken == before.size()) use.use = WaitUse::Use::kRedundant;
    if (use.use == WaitUse::Use::kPrecaution) use.reason = kReasons.at(broken);
    if (use.use == WaitUse::Use::kRedundant) redundant.push_back(&wait);
    review.waits.push_back(std::move(use));
  }
  if (redundant.size() > 1) {
    for (auto wait = redundant.rbegin(); wait != redundant.rend(); ++wait) lean = without(lean, **wait);
    review.redundant_together = clashes(lean, all_rules) == before;
  }
  return review;
}

}  // namespace interlace::check
