#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/check/conflicts.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::check {

/// When a hazard can show.
enum class Phase : std::uint8_t { kSteady, kFilling, kDraining };
[[nodiscard]] std::string_view to_string(Phase phase);

/// One of the two operations that clash.
struct Side {
  std::string operation;  ///< "embedding_lookup(i)": batches are told from the iteration i of the later side
  std::string does;       ///< "reads", "writes", "uses", "reuses", "frees", "copies", or "rank 1"
  std::string lane;       ///< stream, "host" or "collectives"
  std::int64_t iterations_before = 0;
  int line = 0;  ///< of the schedule; 0: made by hand
};

/// A change to the schedule that was applied and checked.
struct Fix {
  std::string text;
  /// What else it delays: operations that were free before and now have to be waited for, e.g. "zero_grad(i)".
  std::vector<std::string> also_orders;
};

/// A way in which the schedule can go wrong.
struct Hazard {
  HazardKind kind = HazardKind::kReadBeforeWrite;
  Phase phase = Phase::kSteady;
  std::string datum;  ///< what they clash over: "kjt(i)"
  Side earlier;
  Side later;
  std::string why;                ///< why nothing orders them, one sentence
  std::string stays;              ///< of a known hazard: why the schedule leaves it
  std::vector<std::string> also;  ///< what goes wrong with it and is mended with it, in short
  std::optional<Fix> fix;         ///< the smallest that was found; none: none helps
};

/// A wait that the schedule spells out, and what it is good for.
struct WaitUse {
  enum class Use : std::uint8_t {
    kNeeded,      ///< without it there is a hazard (or one more)
    kPrecaution,  ///< needed under stricter rules only: see `reason`
    kRedundant,   ///< without it nothing goes wrong that did not before
  };
  Use use = Use::kNeeded;
  std::string reason;  ///< of a precaution: when it is needed
  int line = 0;
  std::string text;
};

/// The host waits for work that it does not need yet.
struct LostOverlap {
  std::string waiter;  ///< the stage in which the host waits
  std::string needless;
  std::string stream;     ///< on which the host waits
  std::string source;     ///< the stream that this one waits for
  int line = 0;           ///< of the waiter
  int wait_line = 0;      ///< of the wait that covers too much
  int needless_line = 0;  ///< of what is waited for
  std::string text;
  std::string fix;
};

/// A stream that could as well be another: whatever runs on one is ordered with whatever runs on the other.
struct PointlessStream {
  std::string stream;
  std::string same_as;
};

/// How old what a stage reads is: updates that a synchronous loop would have applied before and this schedule has not.
struct Staleness {
  std::string stage;
  std::string resource;      ///< "tables", "dense_parameters"
  std::int64_t updates = 0;  ///< 0: as fresh as torchrec/base
};

/// Whether the training computes what a synchronous loop computes.
struct Numerics {
  /// None: hazards leave it to chance.
  std::optional<bool> as_base;
  std::vector<std::string> reasons;  ///< why not
};

struct CheckOptions {
  /// A model that weighs features by learnt weights: the lookup reads what optimizer_step writes.
  bool feature_processors = false;
  /// One rank: collectives are copies that order nothing. More of them are all alike.
  bool one_rank = false;
  /// Skips redundant waits, streams, overlap and fixes: only what `predict` marks.
  bool hazards_only = false;
};

/// What is known of a schedule without running it.
struct ScheduleCheck {
  std::string schedule;
  std::string source;
  std::vector<Hazard> hazards;
  std::vector<Hazard> known_hazards;  ///< those that the schedule says it has: true, but not held against it
  std::vector<LostOverlap> lost_overlaps;
  std::vector<WaitUse> waits;      ///< all, in the order of the schedule
  bool redundant_together = true;  ///< the redundant waits may be left out all at once
  std::vector<PointlessStream> pointless_streams;
  std::vector<Staleness> staleness;
  Numerics numerics;
  std::vector<std::string> notes;  ///< what the verdict relies on
  std::int64_t batches = 0;        ///< that were unrolled to reach and leave the steady state
  std::int64_t operations = 0;
  std::optional<schedule::Schedule>
      repaired;  ///< with all fixes; none where there is nothing to mend, or not all can be
};

/// The same schedule without what `check` finds wasteful in it: waits of lost overlaps moved up, pointless streams made
/// those that they could be. Redundant waits stay. None where there is nothing of that. It has no hazards beyond its
/// own.
[[nodiscard]] std::optional<schedule::Schedule> without_waste(const schedule::Schedule& schedule,
                                                              const CheckOptions& options = {});

/// Proves a well-formed schedule, or convicts it. docs/check.md says under which model.
[[nodiscard]] ScheduleCheck check(const schedule::Schedule& schedule, const CheckOptions& options = {});

}  // namespace interlace::check
