#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/check/schedule_check.hpp"

namespace interlace::check {

/// A schedule run for some batches, with all that clashes in it.
struct ExaminedRun {
  ExaminedRun(const schedule::Schedule& schedule, const UnrollOptions& unrolled);
  ExaminedRun(const ExaminedRun&) = delete;
  ExaminedRun& operator=(const ExaminedRun&) = delete;

  UnrollOptions options;
  Program program;
  HappensBefore order;
  std::vector<Conflict> conflicts;
};

/// One with as many batches as `options` say, then those with so few that the pipeline never fills.
[[nodiscard]] std::deque<ExaminedRun> examined_runs(const schedule::Schedule& schedule, UnrollOptions options);

/// A schedule unrolled until its steady state repeats, and for so few batches that its pipeline never fills. The
/// schedule must outlive it.
class Examined {
 public:
  /// The number of batches of `options` is not looked at.
  Examined(const schedule::Schedule& schedule, UnrollOptions options);

  /// The one with a steady state first.
  [[nodiscard]] const std::deque<ExaminedRun>& runs() const { return runs_; }
  [[nodiscard]] const UnrollOptions& options() const { return runs_.front().options; }
  [[nodiscard]] const Program& program() const { return runs_.front().program; }
  [[nodiscard]] const HappensBefore& order() const { return runs_.front().order; }

 private:
  std::deque<ExaminedRun> runs_;
};

/// Conflicts that differ in batch and iteration only are one finding. Stages are told by their order among stages, so
/// that a finding is the same before and after waits were added or removed.
struct FindingKey {
  HazardKind kind = HazardKind::kReadBeforeWrite;
  std::string datum;
  StageIndex earlier;
  Role earlier_role = Role::kWork;
  StageIndex later;
  Role later_role = Role::kWork;

  auto operator<=>(const FindingKey&) const = default;
};

struct Finding {
  FindingKey key;
  Conflict conflict;  ///< the one to tell of: in the steady state where it can be, and the closest
  schedule::Stage earlier = schedule::Stage::kCompute;  ///< of its sides
  schedule::Stage later = schedule::Stage::kCompute;
  Phase phase = Phase::kSteady;
  std::size_t run = 0;  ///< of Examined::runs(): the first that has it
};

/// What can go wrong in runs of a schedule, and when: comparable with that of the same schedule with other waits.
[[nodiscard]] std::set<std::pair<FindingKey, Phase>> what_clashes(const std::deque<ExaminedRun>& runs);

/// The findings of a program, those of the steady state first, in the order in which the pipeline would meet them.
[[nodiscard]] std::vector<Finding> findings_of(const Examined& examined);

/// Whether what a schedule says of itself is this hazard between these stages.
[[nodiscard]] bool tells_of(const schedule::KnownHazard& known, HazardKind kind, std::string_view datum,
                            schedule::Stage earlier, schedule::Stage later);
/// The hazard as the schedule says itself that it has it; null where it does not.
[[nodiscard]] const schedule::KnownHazard* known_as(const schedule::Schedule& schedule, const Finding& finding);
/// Those of the schedule's known hazards that are not among the findings: it no longer has them.
[[nodiscard]] std::vector<schedule::KnownHazard> known_in_vain(const schedule::Schedule& schedule,
                                                               const std::vector<Finding>& findings);

/// A finding in words, without fix.
[[nodiscard]] Hazard explain(const Examined& examined, const Finding& finding);

}  // namespace interlace::check
