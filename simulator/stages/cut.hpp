#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/stages/profile.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

inline constexpr ErrorCode kNoIterations{"stages.no_iterations"};

/// One host call that matters on the device: it launches work or blocks until work is done.
struct Item {
  trace::OperationId call;
  SegmentKey segment;
  /// Host time between the end of the item before it in the same process (any thread) and its start. Calls that only
  /// cost time (event records, queries, allocator work) are in here, as are those in no stage, but for their waiting.
  Nanoseconds gap = 0;
};

/// One block that the caching allocator handed out, was given back, or was told to be used on another stream.
struct MemoryItem {
  trace::OperationId event;
  /// The segment it lies in or, between segments, the last one before it; none before the first of the iteration.
  std::optional<SegmentKey> segment;
  std::uint32_t items_before = 0;  ///< of that segment in this iteration
  bool between_stages = false;     ///< outside any stage
};

/// One training iteration of one rank, from the end of one iteration to the end of the next.
struct Iteration {
  Interval host;                            ///< on the thread that runs the loop
  std::vector<Item> items;                  ///< in host program order, of all threads that work for the loop
  std::vector<MemoryItem> memory;           ///< likewise; empty where the recording has no memory events
  Nanoseconds tail = 0;                     ///< host time behind the last of them
  std::optional<std::int64_t> number = {};  ///< of the program's, where the range that ends it says it ("iteration 12")
};

struct RankCut {
  trace::RankId rank;
  std::vector<Iteration> iterations;  ///< complete ones only
  /// Where there are memory events, whose course the start and the end of a recording do not disturb as they do the
  /// time's: from the start of the recording to the end of its first iteration, and from the end of the last one on.
  std::optional<Iteration> opening;
  std::optional<Iteration> closing;
};

/// A trace cut into stages. Every rank has the same number of iterations; the k-th ones belong together.
struct Cut {
  std::string profile;
  Frees frees = Frees::kByOwners;    ///< of that profile
  std::vector<std::string> modules;  ///< by ModuleId, in the order in which the forward calls them
  std::vector<RankCut> ranks;
  std::set<schedule::Stage> entered = {};  ///< that the loop runs on any rank, whether device work comes of them or not

  [[nodiscard]] std::size_t iterations() const { return ranks.empty() ? 0 : ranks.front().iterations.size(); }
};

/// Cuts by annotation. Work that autograd launches from its own threads belongs to the stage that is the backward of
/// the forward operation it came from (joined by the recorder's forward-backward links); where no operations are
/// recorded, to what the loop's thread is in meanwhile. Iterations at the begin and end that lack stages of the others,
/// as a pipeline fills and drains, are left out, as are those of which records are lost (stages/damage.hpp).
/// Counts stages.damaged_iterations, stages.no_sound_iteration, stages.outside_any_stage, stages.other_thread,
/// stages.backward_without_forward, stages.partial_iterations, stages.uneven_iterations, stages.without_work.
/// Throws Error(stages.no_iterations) where the profile finds no complete iteration on some rank, naming the losses
/// that are counted already: they may be why.
[[nodiscard]] Cut cut(const trace::Trace& trace, const Profile& profile, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kOutsideAnyStage{
    "stages.outside_any_stage", Severity::kWarning,
    "device work or host waits inside an iteration, but in no known stage",
    "they are left out of predictions; give an annotation profile that names them"};
inline constexpr DiagnosticKind kOtherThread{"stages.other_thread", Severity::kInfo,
                                             "device work launched by threads that do not run the training loop",
                                             "it is left out of predictions"};
inline constexpr DiagnosticKind kBackwardWithoutForward{
    "stages.backward_without_forward", Severity::kInfo,
    "backward work whose forward operation is not recorded; it is taken to go with the work before it",
    "record one more warm-up step"};
inline constexpr DiagnosticKind kPartialIterations{
    "stages.partial_iterations", Severity::kInfo,
    "iterations at the begin or end that lack stages, as a pipeline fills and drains; they are left out",
    "none needed"};
inline constexpr DiagnosticKind kUnevenIterations{"stages.uneven_iterations", Severity::kWarning,
                                                  "iterations left out because not all ranks have them",
                                                  "record the same steps on all ranks"};
inline constexpr DiagnosticKind kWithoutWork{
    "stages.without_work", Severity::kInfo,
    "stages that the loop runs and from which nothing reaches the device on a rank; predictions run them so, too",
    "none needed on a single rank, which exchanges nothing; else see whether the recording has all device activities"};

}  // namespace interlace::stages
