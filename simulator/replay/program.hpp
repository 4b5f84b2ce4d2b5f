#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/replay/fetch_delays.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::replay {

inline constexpr ErrorCode kStageNotRecorded{"replay.stage_not_recorded"};

/// A stream of the simulated device: first those of the schedule, then those of the collectives.
using StreamIndex = Id<struct SimulatedStreamTag>;

/// What a simulated host does next.
struct Instruction {
  enum class Kind : std::uint8_t {
    kCall,            ///< a recorded host call: think, call, launch its works, block where it blocks
    kStreamWait,      ///< `stream` waits for all queued so far on `other`
    kCollectiveWait,  ///< `stream` waits for the collectives that `segment` issued for this batch
    kHostWait,        ///< the host waits for all queued so far on `stream`
    kRecordEvent,     ///< event `event` of this batch and `module` stands behind all queued so far on `stream`
    kEventWait,       ///< `stream` waits for event `event` of this batch: that of `module`, or else the last
    kHostEventWait,   ///< the host does
    kBeginStage,      ///< what follows belongs to label `label`, until the next one
  };
  Kind kind = Kind::kCall;
  StreamIndex stream;
  StreamIndex other;
  std::uint32_t call = 0;  ///< index into the recorded iteration's calls
  std::int32_t batch = 0;  ///< relative to the iteration
  bool of_stage = false;   ///< of a stage that works on that batch: not carried out where the run has none such
  stages::SegmentKey segment;
  std::uint32_t label = 0;
  std::uint32_t event = 0;
  std::optional<stages::ModuleId> module;  ///< of an event: that a loop over modules, or its stage, is at
};

struct SimulatedStream {
  std::string name;
  std::int32_t priority = 0;
  double with_main = kUnknownQueue;  ///< how often its commands come through the queue of the main stream's
};

/// One steady iteration of a schedule, made of the calls of one recorded iteration of one rank.
struct Program {
  std::vector<Instruction> instructions;
};

/// A schedule made ready to run on a recording: a program a rank and recorded iteration.
struct Plan {
  std::string schedule;
  std::vector<SimulatedStream> streams;  ///< collectives' streams last
  std::uint32_t first_collective_stream = 0;
  std::int32_t depth = 0;                      ///< iterations that fill the pipeline before iteration 0
  std::vector<std::string> labels;             ///< stage labels, e.g. "embedding_lookup"
  std::vector<std::string> events;             ///< names of the schedule's
  std::vector<std::vector<Program>> programs;  ///< by rank, by recorded iteration
};

/// Puts the recorded segments into the order that a schedule asks for, onto its streams, and makes the waits that each
/// stage implies (docs/schedule_language.md): a stage that consumes a collective's result waits for the collectives of
/// its producer and batch; autograd joins the stream of a lookup before and after its backward.
/// Throws Error(stages.unknown_module) where it names a module that the recording lacks, and
/// Error(replay.stage_not_recorded) where the schedule runs a stage that the recording lacks. Stages that it
/// does not run are left out, needed or not.
[[nodiscard]] Plan compile(const schedule::Schedule& schedule, const stages::Cut& cut, const SiteTable& table);

/// A stage, of one module or as a whole.
struct LostStage {
  schedule::Stage stage = schedule::Stage::kCompute;
  std::optional<std::string> module;

  /// ` of module "ebc"`, or nothing.
  [[nodiscard]] std::string of_module() const;
  bool operator==(const LostStage&) const = default;
};
/// `embedding_lookup of module "ebc"`, or the stage alone.
[[nodiscard]] std::string to_string(const LostStage& lost);

/// A stage with recorded work that the schedule does not run, or not for the module whose work it is, though the
/// recorded loop cannot do without it; none where there is none.
[[nodiscard]] std::optional<LostStage> lost_stage(const schedule::Schedule& schedule, const SiteTable& table);

inline constexpr DiagnosticKind kStageLeftOut{
    "replay.stage_left_out", Severity::kWarning,
    "stages with recorded work that the schedule does not run, or not for all modules, though the recorded loop cannot "
    "do without them",
    "what is predicted lacks their time; see that the schedule trains what was recorded"};

}  // namespace interlace::replay
