#pragma once

#include <optional>

#include "engine/job/job_store.hpp"
#include "engine/launch/world.hpp"

namespace interlace::engine {

/// Where the ranks of a job meet: MASTER_ADDR and MASTER_PORT, as torchrun and start_ranks() set them and whoever uses
/// mpirun or Slurm must. Rank 0 holds the store where neither of these does. A rank that is alone needs no variables.
/// What torchrun says of the run and of how often it has started it again keeps the keys of each attempt apart.
/// Throws engine.world_size where they are missing or make no sense.
[[nodiscard]] StorePlace store_place(const std::optional<WorldPlace>& world, const Environment& environment);

}  // namespace interlace::engine
