#pragma once

#include <cuda_runtime_api.h>

#include "simulator/base/error.hpp"

namespace interlace::engine::cuda {

inline constexpr ErrorCode kCudaFailed{"engine.cuda_failed"};

/// Throws engine.cuda_failed, or engine.out_of_memory, where a call of the CUDA runtime did not succeed.
void check(cudaError_t status);

}  // namespace interlace::engine::cuda
