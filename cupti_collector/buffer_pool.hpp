#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// The memory that CUPTI writes its records to. Buffers are handed out in the threads of the recorded program, so
/// `take` and `give_back` neither lock, log nor wait: a free buffer is popped from a stack, a full one pushed onto
/// another, both linked by slot numbers (with a count against reuse between reading and swapping the top). Only where
/// no free buffer is left does `take` map a new one, up to the limit.
///
/// The writer thread drains the full ones in the order of their return and recycles them. All bytes of a buffer handed
/// out are zero, as CUPTI asks for where it shall not clear them itself.
class BufferPool {
 public:
  /// limit: bytes of all buffers together, at least one buffer; reserve: how many to map at once.
  BufferPool(Bytes buffer_bytes, Bytes limit, std::size_t reserve);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  /// REQUIRES: no buffer is out. (A pool that CUPTI may still write to is not destroyed but left.)
  ~BufferPool();

  [[nodiscard]] std::size_t buffer_bytes() const { return buffer_bytes_; }

  /// An empty buffer; null at the limit. Any thread.
  [[nodiscard]] std::uint8_t* take() noexcept;
  /// Takes a buffer back with so many bytes of records. Any thread.
  void give_back(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;
  /// Takes a buffer back and makes it free at once: what it holds is lost. Any thread.
  void throw_back(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;
  /// Whether the buffer is one of these. Any thread.
  [[nodiscard]] bool owns(const std::uint8_t* buffer) const noexcept { return slot_of(buffer).has_value(); }

  struct Full {
    std::uint8_t* data = nullptr;
    std::size_t valid_bytes = 0;
  };
  /// The buffers given back since the last call, first to last. One thread, as are the next two.
  [[nodiscard]] std::vector<Full> drain();
  /// Clears a drained buffer and makes it free again.
  void recycle(const Full& buffer);
  /// Maps buffers until so many are free, within the limit; so `take` need not.
  void keep_free(std::size_t wanted);

  /// Buffers that are with CUPTI now.
  [[nodiscard]] std::int64_t out() const { return out_.load(std::memory_order_relaxed); }
  /// Records that found no place in these buffers, beside those that CUPTI counts itself.
  void count_lost(std::int64_t records) noexcept { lost_.fetch_add(records, std::memory_order_relaxed); }
  /// So many since the last call.
  [[nodiscard]] std::int64_t take_lost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mapped() const;

 private:
  /// Slot number + 1 of the top (0: none) in the low half, a count of changes in the high half.
  using Top = std::atomic<std::uint64_t>;
  struct Slot {
    std::atomic<std::uint8_t*> data{nullptr};
    std::atomic<std::uint32_t> next{0};  ///< slot number + 1; 0: none
    std::size_t valid_bytes = 0;
  };

  [[nodiscard]] std::optional<std::uint32_t> map_one() noexcept;
  [[nodiscard]] std::optional<std::uint32_t> slot_of(const std::uint8_t* buffer) const noexcept;
  void push(Top& top, std::uint32_t slot) noexcept;
  [[nodiscard]] std::optional<std::uint32_t> pop(Top& top) noexcept;

  std::size_t buffer_bytes_;
  std::vector<Slot> slots_;
  std::atomic<std::uint32_t> used_slots_{0};
  Top free_{0};
  Top full_{0};
  std::atomic<std::int64_t> free_count_{0};
  std::atomic<std::int64_t> out_{0};
  std::atomic<std::int64_t> lost_{0};
};

}  // namespace interlace::collector
