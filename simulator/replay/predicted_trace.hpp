#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "simulator/replay/predicted_memory.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// The producer of each rank of a predicted trace begins with that; the name of the schedule follows.
inline constexpr std::string_view kPredictedBy = "interlace predict ";

/// Iterations [first, first + count) of a simulation as a Trace, with what runs of later ones until the devices have
/// ended these: hosts are ahead, and side streams. The same ranks and devices as recorded, one lane a simulated stream
/// and one for the host thread, with a range "<stage> <batch>" around each stage's host calls and in it one for each
/// module and piece (stages::part_label); `modules` names them. Waits name the record they wait for. Work keeps the
/// name and the details it was recorded with; collectives are as long as they hold their SMs, waiting for peers
/// included. Work that an edit invented has the name and shape of its site. `memory`, by rank (or empty), adds what the
/// caching allocator did.
[[nodiscard]] trace::Trace predicted_trace(const trace::Trace& recorded, const Plan& plan, const SiteTable& table,
                                           std::span<const std::string> modules, const SimulationResult& result,
                                           std::span<const PredictedMemory> memory, std::int32_t first,
                                           std::int32_t count);

}  // namespace interlace::replay
