#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/allocator/types.hpp"
#include "simulator/base/saturating.hpp"

namespace interlace::allocator {

/// A quantity over time.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;       ///< the most it has been since the last reset_peak()
  std::int64_t allocated = 0;  ///< all that was ever added
  std::int64_t freed = 0;      ///< all that was ever taken away

  void increase(std::int64_t by) {
    current += by;
    allocated = saturating_sum(allocated, by);
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t by) {
    current -= by;
    freed = saturating_sum(freed, by);
  }
  void reset_peak() { peak = current; }
  bool operator==(const Stat&) const = default;
};

/// A quantity of all pools and by class of pool. (By pool, not by size of request; private pools count in all three.)
struct PoolStat {
  Stat all;
  Stat small_pool;
  Stat large_pool;

  void increase(bool small, std::int64_t by) {
    all.increase(by);
    (small ? small_pool : large_pool).increase(by);
  }
  void decrease(bool small, std::int64_t by) {
    all.decrease(by);
    (small ? small_pool : large_pool).decrease(by);
  }
  bool operator==(const PoolStat&) const = default;
};

/// What torch.cuda.memory_stats() reports, under its names.
struct Statistics {
  PoolStat allocation;       ///< blocks in use
  PoolStat segment;          ///< segments got by cudaMalloc
  PoolStat active;           ///< blocks in use or waiting for a stream
  PoolStat inactive_split;   ///< free blocks of partly used segments, expandable ones left out
  PoolStat allocated_bytes;  ///< bytes of the blocks in use, slack included
  PoolStat reserved_bytes;   ///< bytes held of the driver
  PoolStat active_bytes;     ///< bytes of the blocks in use or waiting for a stream
  PoolStat inactive_split_bytes;
  PoolStat requested_bytes;   ///< bytes asked for, of active blocks
  Stat oversize_allocations;  ///< blocks of max_split_size and more
  Stat oversize_segments;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;

  /// Peaks start again from what is current: torch.cuda.reset_peak_memory_stats().
  void reset_peaks();
  bool operator==(const Statistics&) const = default;
};

/// As torch.cuda.memory_stats() gives them: "allocated_bytes.all.peak" and so on, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> memory_stats(const Statistics& statistics);

}  // namespace interlace::allocator
