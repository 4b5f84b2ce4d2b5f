#pragma once

#include "engine/launch/world.hpp"

namespace interlace::engine {

/// Which of the GPUs that its process is shown a rank takes: that of its local rank; the only one where there is one,
/// as a launcher that deals them out (srun --gpus-per-task=1) leaves each process its own. NCCL refuses two ranks on
/// one. Throws engine.no_gpu where there is none.
[[nodiscard]] int gpu_of(const WorldPlace& world, int shown);

}  // namespace interlace::engine
