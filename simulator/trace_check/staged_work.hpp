#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::trace_check {

/// One run of a stage, or of a piece of one, for one batch.
struct StageRun {
  trace::RankId rank;
  schedule::Stage stage = schedule::Stage::kCompute;
  stages::Piece piece = stages::Piece::kWhole;
  std::optional<std::uint32_t> module;  ///< of those that the stage goes through one by one; none: all
  std::int64_t batch = 0;               ///< counted from the first iteration of the recording, or as recorded
};

/// What the device did for each stage of a recording.
struct StagedWork {
  std::vector<StageRun> runs;
  /// By operation: of device work the run that launched it; of an allocator's event, and of a host call as far as it is
  /// known, the run that it happened in.
  std::vector<std::optional<std::uint32_t>> run_of;
  std::vector<std::string> modules;  ///< what StageRun::module counts, by name

  [[nodiscard]] const StageRun* run(trace::OperationId op) const {
    const auto index = run_of[op.index()];
    return index ? &runs[*index] : nullptr;
  }
};

/// By a cut. `recorded` is the schedule that the recording was made under: it tells which batch a stage worked on.
[[nodiscard]] StagedWork staged_by(const trace::Trace& trace, const stages::Cut& cut,
                                   const schedule::Schedule& recorded);

/// By ranges that are named "<stage> <batch>", as predicted traces and recordings of the engine have them, and by
/// ranges in these that tell module and piece (stages::part_label). Work that no range of its own thread is around
/// belongs to the range that is open on another thread of the rank, where there is just one (autograd's threads).
[[nodiscard]] StagedWork staged_by_names(const trace::Trace& trace);

/// Whether the trace has a range that is named "<stage> <batch>".
[[nodiscard]] bool names_its_stages(const trace::Trace& trace);

}  // namespace interlace::trace_check
