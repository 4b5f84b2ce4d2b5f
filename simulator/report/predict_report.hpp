#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/analysis/overlap.hpp"
#include "simulator/base/diagnostics.hpp"

namespace interlace::report {

/// What the recording tells of the memory of one rank; its beginning included, where peaks may be higher than later.
struct RecordedMemory {
  std::int32_t rank = 0;  ///< its number
  std::optional<Bytes> allocated_peak;
  std::optional<Bytes> active_peak;
  std::optional<Bytes> reserved_peak;
};

/// A recorded stream that makes works of the main one start late, and these it, as the GPU fetches the commands of both
/// through one queue (docs/contention.md).
struct LateStarts {
  std::string stream;
  Nanoseconds late_ns = 0;  ///< a step, mean over ranks
};

/// What was recorded, as far as a prediction says.
struct RecordedRun {
  std::vector<std::string> files;
  std::vector<std::string> edits;       ///< what-ifs, in words: they hold for the recorded schedule replayed, too
  std::optional<std::string> schedule;  ///< as recognised; none where it is not in the library
  std::vector<std::int32_t> ranks;      ///< numbers of the ranks read
  std::optional<std::int32_t> world_size;
  std::int64_t recordings = 1;                        ///< of as many runs; all below are means over them
  std::int64_t steps = 0;                             ///< whole steady-state steps a rank, of all recordings
  std::int64_t steps_found = 0;                       ///< whole steps a rank, those that stalled included
  std::optional<double> works_a_step;                 ///< mean over ranks; known where recordings are compared
  std::optional<Bytes> largest_exchange;              ///< of a collective; known as works_a_step is
  std::optional<Nanoseconds> step_time_ns;            ///< in the recording, profiler included; mean over steps
  std::optional<Nanoseconds> predicted_step_time_ns;  ///< the recorded schedule replayed: what speed-ups refer to
  std::optional<double> replay_error;                 ///< what it was off before it was corrected (replay/anchor.hpp)
  std::optional<double> replayed_hidden_ratio;      ///< hidden part of its communication as replayed under the recorder
  std::optional<analysis::OverlapSummary> overlap;  ///< of the recording
  std::optional<Nanoseconds> host_blocked_ns;  ///< of the recording, a step, mean over ranks; over steps of its hosts
  std::vector<LateStarts> late_starts;         ///< of several recordings the first's
  /// By which exchanges of jagged inputs take longer, by themselves, for where their parts begin: a step, of several
  /// recordings the first's. 0 also where it does not tell.
  Nanoseconds uneven_parts_ns = 0;
  std::vector<RecordedMemory> memory;          ///< of the ranks that recorded any; of several recordings the first's
  std::optional<Bytes> capacity;               ///< of the GPU memory that schedules were asked to fit in
  std::vector<Diagnostic> diagnostics;         ///< flaws of the recording
  std::optional<std::string> machine_profile;  ///< file; none: what the recording does not tell is taken as usual
  std::vector<std::string> machine_values;     ///< what was taken from it, in words
  std::vector<std::string> machine_fitted;     ///< what of the machine the recording itself tells, in words
};

/// Bytes of one stage's blocks at the peak.
struct MemoryCulprit {
  std::string stage;       ///< "backward/update [sparse.ebc]"
  std::int32_t batch = 0;  ///< less the iteration in which the peak lies
  Bytes bytes = 0;
};

/// What the allocator holds for one stream when all is warm.
struct StreamPool {
  std::string stream;
  Bytes reserved = 0;
  Bytes in_use = 0;  ///< at the end of the last step
};

/// The memory of one rank under a schedule.
struct RankMemory {
  Bytes allocated_peak = 0;
  Bytes active_peak = 0;  ///< allocated, and freed but still used by other streams
  Bytes reserved_peak = 0;
  Bytes reserved_low = 0;
  Bytes reserved_high = 0;
  Bytes persistent = 0;
  std::vector<MemoryCulprit> culprits;  ///< at the peak of allocated bytes, largest first
  std::vector<StreamPool> pools;        ///< by reserved bytes, largest first
  Bytes split_free = 0;                 ///< free, in segments that are partly in use: what fragmentation holds
  std::optional<std::string> failure;   ///< the first allocation that does not fit, in words
  /// Allocations for which the device is synchronised and the cache emptied: from the start of a simulated run, of the
  /// run with most. Steps are timed without.
  std::int64_t retries = 0;
  std::int64_t played_steps = 0;  ///< of such a run, behind those that fill the pipeline
};

/// What one schedule is predicted to do.
struct Prediction {
  std::string schedule;
  Nanoseconds step_time_ns = 0;
  Nanoseconds step_time_low_ns = 0;        ///< 10th percentile of single steps
  Nanoseconds step_time_high_ns = 0;       ///< 90th percentile
  std::vector<Nanoseconds> step_times_ns;  ///< of several recordings what each tells; empty where there is one
  std::optional<double> speedup;           ///< predicted time of the recorded schedule / step_time_ns; > 1 is faster
  analysis::OverlapSummary overlap;  ///< mean over ranks, a step; hidden and exposed corrected, all else as replayed
  std::optional<Nanoseconds> host_blocked_ns;   ///< a step, mean over ranks
  std::vector<RankMemory> memory;               ///< by rank; empty where no memory was recorded
  std::vector<std::string> reasons;             ///< largest first
  std::vector<std::string> races;               ///< kernels that race, with what that does to the step
  std::vector<Diagnostic> diagnostics;          ///< assumptions and flaws that concern this schedule only
  std::vector<std::string> hazards;             ///< ways in which the schedule can go wrong, whatever its time
  std::vector<std::string> known_hazards;       ///< those that the schedule says it has: not held against it
  std::optional<std::int64_t> tables_late;      ///< updates that lookups miss against a synchronous loop
  std::optional<std::int64_t> parameters_late;  ///< the same of dense parameters
};

/// A schedule that was asked for in a list ("all") but does not apply.
struct SkippedSchedule {
  std::string schedule;
  std::string why;
};

/// Skipped schedules that share a reason.
struct SkippedGroup {
  std::string schedules;  ///< joined by ", "
  std::string why;
};

/// The answer of `interlace predict`, in the order in which the schedules were asked for.
struct PredictReport {
  RecordedRun recorded;
  std::vector<Prediction> predictions;
  std::vector<SkippedSchedule> skipped;
};

/// How predicted_step_time_ns comes about, in words.
[[nodiscard]] std::string replayed(const RecordedRun& recorded);

/// Part of the recorded step that something must cost for the two below to tell of it.
inline constexpr double kWorthTelling = 0.003;

/// What late starts cost, in words with what to do about them; none where they cost little.
[[nodiscard]] std::optional<std::string> late_starts(const RecordedRun& recorded);

/// The same of exchanges whose parts begin at other than multiples of sixteen bytes.
[[nodiscard]] std::optional<std::string> uneven_parts(const RecordedRun& recorded);

/// "hidden communication corrected: 82 % recorded, 78 replayed so"; none where that is the same, or not known.
[[nodiscard]] std::optional<std::string> hidden_correction(std::optional<double> recorded,
                                                           std::optional<double> replayed);
/// Does it fit in the memory that was asked about? None where memory is not known.
[[nodiscard]] std::optional<bool> fits(const Prediction& row);

/// All its hazards, a line each; those that it says it has begin with "known hazard: ".
[[nodiscard]] std::vector<std::string> hazard_lines(const Prediction& row);

/// In the order of the first of each group.
[[nodiscard]] std::vector<SkippedGroup> skipped_by_reason(std::span<const SkippedSchedule> all);

/// It has no hazards, and fits in the memory asked for, without emptying the cache every few steps.
[[nodiscard]] bool may_be_taken(const Prediction& row);
/// Whether this one may be taken, and is as fast as the fastest such one, as far as predictions can tell (kToldApart).
[[nodiscard]] bool is_among_fastest(std::span<const Prediction> predictions, std::size_t which);
/// Whether this is one of the schedules to take: it is among the fastest, and faster than the recorded schedule, if
/// that is known. None is where there is nothing to choose from.
[[nodiscard]] bool is_best(std::span<const Prediction> predictions, std::size_t which);
/// Predictions from one recording that differ by less are the same: their speed-ups are off by 0.9 % in the mean
/// (docs/accuracy.md).
inline constexpr double kToldApart = 0.01;
/// What that comes to, in words.
inline constexpr std::string_view kBestMeans =
    "without hazards, over 1 % faster than the recorded schedule, and at most 1 % slower than the fastest such one: "
    "predictions cannot tell these apart";

/// Positions of the predictions, fastest first; equals in the order asked for.
[[nodiscard]] std::vector<std::size_t> by_step_time(const PredictReport& report);

}  // namespace interlace::report
