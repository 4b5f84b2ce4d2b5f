#include "engine/cuda/status.hpp"

#include <string>

#include "engine/runtime/failure.hpp"

namespace interlace::engine::cuda {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // so that the next call does not report it again
  const std::string what = std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    throw Error(kOutOfMemory, "", what, "take smaller tables or batches, or more ranks");
  }
  throw Error(kCudaFailed, "", what, "CUDA_LAUNCH_BLOCKING=1 shows which work failed");
}

}  // namespace interlace::engine::cuda
