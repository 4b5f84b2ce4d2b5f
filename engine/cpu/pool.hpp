#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cpu/cluster.hpp"
#include "engine/runtime/buffer.hpp"
#include "engine/runtime/device.hpp"

namespace interlace::engine::cpu {

/// What the memory of a rank asks of its streams.
struct PoolHooks {
  std::function<std::shared_ptr<CpuEvent>(StreamId)> record;
  std::function<void(StreamId, Work)> launch;
};

/// Memory in pools, one a stream, with the rules of PyTorch's CUDACachingAllocator: what the host gives back may be
/// handed out again at once, to the same pool only, and after record_stream not before the events on the other streams
/// are over.
///
/// What is given back is poisoned, in the order of the pool's stream: a float becomes NaN, an id is out of every range.
/// It is handed out again as soon as the rules allow, what came back last first, so that memory that is still in use is
/// met early. So whoever reads or writes memory that he does not own any more, or reads it before it is written, is
/// found out by his results. (Memory that had to be kept for other streams is poisoned when it comes free, if its own
/// stream is through with it by then; else it keeps its values until they are overwritten.) Memory goes back to the
/// system with the pool.
class CpuPool {
 public:
  explicit CpuPool(PoolHooks hooks) : hooks_(std::move(hooks)) {}

  /// pool: none: pinned host memory, which is the host's and is filled at once.
  [[nodiscard]] std::shared_ptr<Block> allocate(std::size_t bytes, std::optional<StreamId> pool);
  [[nodiscard]] MemoryPeaks peaks() const { return peaks_; }

 private:
  class Lent;
  using Shelf = std::pair<std::optional<StreamId>, std::size_t>;  ///< pool and size
  struct Returned {
    std::byte* data = nullptr;
    Shelf shelf;
    std::vector<std::shared_ptr<CpuEvent>> uses;  ///< not to be handed out before these
    std::shared_ptr<CpuEvent> own;                ///< the pool's stream; none: host memory
  };

  void give_back(std::byte* data, const Shelf& shelf, const std::vector<StreamId>& used_on);
  void shelve_unused();
  [[nodiscard]] std::byte* take(const Shelf& shelf);

  struct Freed {
    void operator()(std::byte* data) const { ::operator delete[](data, kAlignment); }
  };
  /// The same for all blocks: vectorised sums may depend on it.
  static constexpr std::align_val_t kAlignment{64};

  std::vector<std::unique_ptr<std::byte[], Freed>> memory_;
  PoolHooks hooks_;
  std::map<Shelf, std::vector<std::byte*>> shelves_;
  std::vector<Returned> returned_;
  MemoryPeaks peaks_;
  std::int64_t allocated_ = 0;
};

}  // namespace interlace::engine::cpu
