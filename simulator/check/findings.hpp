#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/check/schedule_check.hpp"

namespace interlace::check {

/// A schedule unrolled until its steady state repeats, with all that clashes in it. The schedule must outlive it.
class Examined {
 public:
  /// The number of batches of `options` is not looked at.
  Examined(const schedule::Schedule& schedule, UnrollOptions options);
  Examined(const Examined&) = delete;
  Examined& operator=(const Examined&) = delete;

  [[nodiscard]] const UnrollOptions& options() const { return options_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const HappensBefore& order() const { return order_; }
  [[nodiscard]] const std::vector<Conflict>& conflicts() const { return conflicts_; }

 private:
  UnrollOptions options_;
  Program program_;
  HappensBefore order_;
  std::vector<Conflict> conflicts_;
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
  Phase phase = Phase::kSteady;
};

/// The findings of a program, those of the steady state first, in the order in which the pipeline would meet them.
[[nodiscard]] std::vector<Finding> findings_of(const Examined& examined);

/// Whether what a schedule says of itself is this hazard.
[[nodiscard]] bool tells_of(const schedule::KnownHazard& known, HazardKind kind, std::string_view datum);
/// The hazard as the schedule says itself that it has it; null where it does not.
[[nodiscard]] const schedule::KnownHazard* known_as(const schedule::Schedule& schedule, const FindingKey& key);
/// Those of the schedule's known hazards that are not among the findings: it no longer has them.
[[nodiscard]] std::vector<schedule::KnownHazard> known_in_vain(const schedule::Schedule& schedule,
                                                               const std::vector<Finding>& findings);

/// A finding in words, without fix.
[[nodiscard]] Hazard explain(const Examined& examined, const Finding& finding);

}  // namespace interlace::check
