#pragma once

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/cuda/status.hpp"
#include "engine/embedding/kernels.hpp"
#include "engine/runtime/stream.hpp"

namespace interlace::engine::cuda {

/// Threads a block, of all kernels.
inline constexpr int kBlock = 256;

inline cudaStream_t native(NativeStream stream) { return static_cast<cudaStream_t>(stream); }

/// A number that kernels hold in 32 bits. Throws engine.too_large where it comes so near to 2^32 that a loop with the
/// stride of a whole grid could go beyond.
inline std::uint32_t counted(std::size_t number, const char* of_what) {
  constexpr std::size_t kMost = (std::size_t{1} << 32U) - (std::size_t{1} << 20U);
  if (number <= kMost) return static_cast<std::uint32_t>(number);
  throw Error(kTooLarge, "", std::to_string(number) + ' ' + of_what + " are more than kernels count",
              "take a smaller batch, or more ranks");
}

/// Blocks for so many threads; at least one.
inline unsigned blocks_for(std::size_t threads) {
  return std::max(1U, (counted(threads, "threads") + kBlock - 1) / kBlock);
}

/// Blocks that keep the whole device busy, for kernels that loop over work whose amount only the device knows.
inline unsigned blocks_that_fill_the_device() {
  int device = 0;
  int processors = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  constexpr int kBlocksAProcessor = 8;
  return static_cast<unsigned>(processors * kBlocksAProcessor);
}

/// Memory for one call, from the pool of the current stream, which is the one that the call's work runs on.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : data_(c10::cuda::CUDACachingAllocator::get()->allocate(bytes)) {}
  [[nodiscard]] void* data() const { return data_.get(); }

 private:
  c10::DataPtr data_;
};

/// Calls a device function of CUB the two times that it wants: call(scratch memory, its size).
template <class Call>
void with_scratch(const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  const Scratch scratch(bytes);
  check(call(scratch.data(), bytes));
}

}  // namespace interlace::engine::cuda
