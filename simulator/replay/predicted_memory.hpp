#pragma once

#include <cstdint>

#include "simulator/memory/memory_replay.hpp"
#include "simulator/replay/simulation.hpp"

namespace interlace::replay {

/// The memory of one rank.
struct PredictedMemory {
  memory::MemoryCourse course;  ///< of the first run
  Bytes reserved_peak = 0;      ///< median over the runs: what is reserved depends on when streams drain
  Bytes reserved_low = 0;       ///< least and most
  Bytes reserved_high = 0;
};

/// The memory of one rank over a simulation: its recorded blocks, moved with their stages, with the times at which the
/// simulated host calls were made and the simulated streams drained.
[[nodiscard]] memory::MemoryCourse predicted_memory(const memory::RecordedMemory& recorded,
                                                    const memory::Lifetimes& lifetimes,
                                                    const schedule::Schedule& schedule, const SimulationResult& result,
                                                    std::uint32_t rank, const memory::MemoryReplayOptions& options);

}  // namespace interlace::replay
