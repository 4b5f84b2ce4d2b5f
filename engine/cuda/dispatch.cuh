#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "engine/cuda/row_group.hpp"
#include "engine/embedding/kernels.hpp"

namespace interlace::engine::cuda {

/// The lanes of the calling thread's group, of all that are in its warp.
template <int lanes>
__device__ unsigned members_of_group() {
  return lanes == 32 ? 0xffffffffU : ((1U << lanes % 32) - 1U) << (threadIdx.x % 32U / lanes * lanes);
}

inline bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % sizeof(float4) == 0; }

/// Calls run(vector, lanes, held) with a null pointer to the vector type and integral constants: the kernel that fits
/// the shards of a lookup.
template <class Run>
void with_row_group(const LookupArguments& lookup, const Run& run) {
  const bool whole = lookup.shape.whole_vectors && lookup.width % 4 == 0 && is_aligned(lookup.looked_up.data());
  const RowGroup group = row_group(whole ? lookup.shape.widest / 4 : lookup.shape.widest);
  const auto with_vector = [&](auto vector) {
    const auto one = std::integral_constant<int, 1>();
    const auto warp = std::integral_constant<int, 32>();
    if (group.lanes == 4) return run(vector, std::integral_constant<int, 4>(), one);
    if (group.lanes == 8) return run(vector, std::integral_constant<int, 8>(), one);
    if (group.lanes == 16) return run(vector, std::integral_constant<int, 16>(), one);
    if (group.held == 1) return run(vector, warp, one);
    if (group.held == 2) return run(vector, warp, std::integral_constant<int, 2>());
    if (group.held == 4) return run(vector, warp, std::integral_constant<int, 4>());
    return run(vector, warp, std::integral_constant<int, 8>());
  };
  if (whole) {
    with_vector(static_cast<float4*>(nullptr));
  } else {
    with_vector(static_cast<float*>(nullptr));
  }
}

}  // namespace interlace::engine::cuda
