#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "simulator/replay/predicted_memory.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// What a predicted trace was predicted for. Its ranks' producer says it: "interlace predict NAME", with
/// " --under-recorder" behind it.
struct PredictedFor {
  std::string schedule;
  bool under_recorder = false;
};
/// None where it is no predicted trace.
[[nodiscard]] std::optional<PredictedFor> predicted_for(const trace::Trace& trace);

/// Which iterations of a simulation a predicted trace shows.
struct ShownSteps {
  std::int32_t first = 0;
  std::int32_t count = 0;
  bool under_recorder = false;  ///< the hosts are as slow as when the recording was made
};

/// These iterations of a simulation as a Trace, with what runs of later ones until the devices have ended these: hosts
/// are ahead, and side streams. The same ranks and devices as recorded, one lane a simulated stream and one for the
/// host thread, with a range "<stage> <batch>" around each stage's host calls and in it one for each module and piece
/// (stages::part_label); `modules` names them. Waits name the record they wait for. Work keeps the name and the details
/// it was recorded with; collectives are as long as they hold their SMs, waiting for peers included. Work that an edit
/// invented has the name and shape of its site. `memory`, by rank (or empty), adds what the caching allocator did.
[[nodiscard]] trace::Trace predicted_trace(const trace::Trace& recorded, const Plan& plan, const SiteTable& table,
                                           std::span<const std::string> modules, const SimulationResult& result,
                                           std::span<const PredictedMemory> memory, const ShownSteps& shown);

}  // namespace interlace::replay
