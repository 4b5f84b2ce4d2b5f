#pragma once

#include <functional>
#include <optional>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kWorldSize{"engine.world_size"};

/// Reads an environment variable.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// One process of a job that something else has started.
struct WorldPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;   ///< among those of this machine: which GPU to take
  std::string starter;  ///< "torchrun", "mpirun" or "Slurm"
};

/// What torchrun (RANK, WORLD_SIZE, LOCAL_RANK), mpirun (OMPI_COMM_WORLD_*) or Slurm's srun (SLURM_PROCID,
/// SLURM_STEP_NUM_TASKS, SLURM_LOCALID) say of this process; none where nothing of the kind has started it, or where it
/// is the only one. Throws engine.world_size where they contradict themselves.
[[nodiscard]] std::optional<WorldPlace> find_world(const Environment& environment);

/// The environment of this process.
[[nodiscard]] Environment process_environment();

}  // namespace interlace::engine
