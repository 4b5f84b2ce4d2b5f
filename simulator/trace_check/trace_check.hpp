#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/check/schedule_check.hpp"
#include "simulator/trace_check/staged_work.hpp"

namespace interlace::trace_check {

inline constexpr ErrorCode kNothingToCheck{"trace_check.nothing_to_check"};

/// One side of a hazard of a trace.
struct Side {
  std::string stage;   ///< "embedding_lookup"
  std::string does;    ///< "reads", "writes", "uses", "reuses"
  std::string stream;  ///< as the trace names it; of a host that reads: its thread
  std::string work;    ///< the kernel or copy
  std::int64_t batch = 0;
};

/// A way in which the recorded program can go wrong, as often as it was seen.
struct TraceHazard {
  check::HazardKind kind = check::HazardKind::kReadBeforeWrite;
  std::string datum;                ///< "kjt"
  std::vector<std::int32_t> ranks;  ///< on which it was seen
  Side earlier;                     ///< of the occurrence with the smallest margin
  Side later;
  Nanoseconds at = 0;  ///< when the later side began
  Nanoseconds smallest_margin =
      0;  ///< from the end of the earlier side to the start of the later; < 0: they overlapped
  Nanoseconds largest_margin = 0;
  std::int64_t occurrences = 0;
  std::int64_t overlapped = 0;  ///< of these, those that went wrong
};

/// How many updates late a resource was read.
struct TraceStaleness {
  std::string stage;
  std::string resource;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct TraceCheck {
  std::string source;
  std::string schedule;  ///< that it was recorded under; empty where its ranges name stages and batches
  std::vector<TraceHazard> hazards;
  std::vector<TraceHazard> undecided;      ///< but for a wait in between whose producer is not told, or not for sure
  std::vector<TraceHazard> held_by_host;   ///< but for the host, which waits for the device in between
  std::vector<TraceHazard> known_hazards;  ///< those that the schedule says it has
  std::vector<TraceStaleness> staleness;
  std::int64_t stage_runs = 0;
  std::int64_t checked = 0;          ///< device work whose accesses are known
  std::int64_t unchecked = 0;        ///< and other
  std::int64_t blocks_checked = 0;   ///< results of stages whose memory was used again
  std::int64_t blocks_recorded = 0;  ///< of these, those kept by record_stream
  bool has_memory = false;
  std::int64_t waits_recorded = 0;  ///< stream waits whose record the recording names
  std::int64_t waits_inferred = 0;
  std::int64_t waits_unknown = 0;
  std::int64_t collectives_unmatched = 0;  ///< without peers on the other ranks: at the ends, or out of order
};

struct TraceCheckOptions {
  bool feature_processors = false;
  std::vector<schedule::KnownHazard> known;  ///< of the schedule that was recorded
};

/// What really ran: whether all that touches the same was ordered by launches, streams, waits, synchronisations and
/// collectives, or just by luck. Under what rules: docs/check.md. Counts what building the graph counts.
[[nodiscard]] TraceCheck check(const trace::Trace& trace, const StagedWork& staged, const TraceCheckOptions& options,
                               Diagnostics& diagnostics);

}  // namespace interlace::trace_check
