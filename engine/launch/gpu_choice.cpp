#include "engine/launch/gpu_choice.hpp"

#include <string>

#include "engine/runtime/failure.hpp"

namespace interlace::engine {

int gpu_of(const WorldPlace& world, int shown) {
  if (shown == 1) return 0;
  if (world.local_rank < shown) return world.local_rank;
  throw Error(
      kNoGpu, "local rank " + std::to_string(world.local_rank),
      "this process is shown " + std::to_string(shown) + " GPUs",
      "let CUDA_VISIBLE_DEVICES show each process one GPU of its own, or all of the machine; or start fewer ranks");
}

}  // namespace interlace::engine
