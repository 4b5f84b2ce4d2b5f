#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <vector>

namespace interlace::engine::cuda {

/// Pinned host memory. Pinning is slow, so what is given back is kept, and handed out again when the events that came
/// with it are over.
class PinnedPool {
 public:
  PinnedPool() = default;
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;
  PinnedPool(PinnedPool&&) = delete;
  PinnedPool& operator=(PinnedPool&&) = delete;
  ~PinnedPool();

  [[nodiscard]] std::byte* take(std::size_t bytes);
  /// uses: events behind the last uses; the pool destroys them.
  void give_back(std::byte* data, std::size_t bytes, std::vector<cudaEvent_t> uses);

 private:
  struct Returned {
    std::byte* data = nullptr;
    std::vector<cudaEvent_t> uses;
  };
  [[nodiscard]] static std::size_t size_class(std::size_t bytes);

  std::map<std::size_t, std::vector<Returned>> returned_;  ///< by size class
  std::vector<std::byte*> memory_;
};

}  // namespace interlace::engine::cuda
