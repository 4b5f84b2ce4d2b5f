#include "engine/cuda/pinned_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/cuda/status.hpp"

namespace interlace::engine::cuda {

namespace {

constexpr std::size_t kSmallest = 512;
constexpr std::size_t kLargestClass = std::size_t{1} << 26U;  // larger pieces are not rounded up to a power of two

}  // namespace

PinnedPool::~PinnedPool() {
  for (const auto& [size, shelf] : returned_) {
    for (const Returned& returned : shelf) {
      for (const cudaEvent_t use : returned.uses) static_cast<void>(cudaEventDestroy(use));
    }
  }
  for (std::byte* data : memory_) static_cast<void>(cudaFreeHost(data));
}

std::size_t PinnedPool::size_class(std::size_t bytes) {
  return bytes > kLargestClass ? bytes : std::bit_ceil(std::max(bytes, kSmallest));
}

std::byte* PinnedPool::take(std::size_t bytes) {
  std::vector<Returned>& shelf = returned_[size_class(bytes)];
  const auto unused = [](const Returned& returned) {
    return std::ranges::all_of(returned.uses, [](cudaEvent_t use) { return cudaEventQuery(use) == cudaSuccess; });
  };
  const auto found = std::ranges::find_if(shelf, unused);
  if (found != shelf.end()) {
    std::byte* data = found->data;
    idle_->insert(idle_->end(), found->uses.begin(), found->uses.end());
    shelf.erase(found);
    return data;
  }
  void* data = nullptr;
  check(cudaHostAlloc(&data, size_class(bytes), cudaHostAllocDefault));
  memory_.push_back(static_cast<std::byte*>(data));
  return memory_.back();
}

void PinnedPool::give_back(std::byte* data, std::size_t bytes, std::vector<cudaEvent_t> uses) {
  returned_[size_class(bytes)].push_back({data, std::move(uses)});
}

}  // namespace interlace::engine::cuda
