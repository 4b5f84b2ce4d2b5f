#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace interlace::engine::cuda {

/// Events to be recorded anew: to create one costs more than to record it.
using IdleEvents = std::shared_ptr<std::vector<cudaEvent_t>>;

/// Pinned host memory. Pinning is slow, so what is given back is kept, and handed out again when the events that came
/// with it are over.
class PinnedPool {
 public:
  /// idle: where the events of uses go that are over.
  explicit PinnedPool(IdleEvents idle) : idle_(std::move(idle)) {}
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;
  PinnedPool(PinnedPool&&) = delete;
  PinnedPool& operator=(PinnedPool&&) = delete;
  ~PinnedPool();

  [[nodiscard]] std::byte* take(std::size_t bytes);
  /// uses: events behind the last uses; the pool's from now on.
  void give_back(std::byte* data, std::size_t bytes, std::vector<cudaEvent_t> uses);

 private:
  struct Returned {
    std::byte* data = nullptr;
    std::vector<cudaEvent_t> uses;
  };
  [[nodiscard]] static std::size_t size_class(std::size_t bytes);

  IdleEvents idle_;
  std::map<std::size_t, std::vector<Returned>> returned_;  ///< by size class
  std::vector<std::byte*> memory_;
};

}  // namespace interlace::engine::cuda
