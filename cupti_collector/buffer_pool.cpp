#include "cupti_collector/buffer_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace interlace::collector {

namespace {

constexpr std::uint64_t kSlotMask = 0xFFFFFFFF;
constexpr unsigned kCountShift = 32;

/// Keeps the pages in memory: the first record into a fresh page would else pay for it.
void touch(std::uint8_t* buffer, std::size_t bytes) noexcept { std::memset(buffer, 0, bytes); }

}  // namespace

BufferPool::BufferPool(Bytes buffer_bytes, Bytes limit, std::size_t reserve)
    : buffer_bytes_(static_cast<std::size_t>(buffer_bytes)),
      slots_(std::max<std::size_t>(1, static_cast<std::size_t>(limit) / buffer_bytes_)) {
  keep_free(reserve);
}

BufferPool::~BufferPool() {
  assert(out() == 0);
  for (Slot& slot : slots_) {
    if (std::uint8_t* data = slot.data.load()) munmap(data, buffer_bytes_);
  }
}

std::size_t BufferPool::mapped() const {
  return std::min<std::size_t>(used_slots_.load(std::memory_order_relaxed), slots_.size());
}

std::optional<std::uint32_t> BufferPool::map_one() noexcept {
  std::uint32_t slot = used_slots_.load(std::memory_order_relaxed);
  do {
    if (slot >= slots_.size()) return std::nullopt;
  } while (!used_slots_.compare_exchange_weak(slot, slot + 1, std::memory_order_acq_rel));
  void* memory = mmap(nullptr, buffer_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;  // the slot stays empty
  slots_[slot].data.store(static_cast<std::uint8_t*>(memory), std::memory_order_release);
  return slot;
}

std::optional<std::uint32_t> BufferPool::slot_of(const std::uint8_t* buffer) const noexcept {
  const auto used = static_cast<std::uint32_t>(mapped());
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    if (slots_[slot].data.load(std::memory_order_acquire) == buffer) return slot;
  }
  return std::nullopt;
}

void BufferPool::push(Top& top, std::uint32_t slot) noexcept {
  std::uint64_t seen = top.load(std::memory_order_relaxed);
  std::uint64_t wanted = 0;
  do {
    slots_[slot].next.store(static_cast<std::uint32_t>(seen & kSlotMask), std::memory_order_relaxed);
    wanted = (((seen >> kCountShift) + 1) << kCountShift) | (slot + 1U);
  } while (!top.compare_exchange_weak(seen, wanted, std::memory_order_release, std::memory_order_relaxed));
}

std::optional<std::uint32_t> BufferPool::pop(Top& top) noexcept {
  std::uint64_t seen = top.load(std::memory_order_acquire);
  for (;;) {
    const auto number = static_cast<std::uint32_t>(seen & kSlotMask);
    if (number == 0) return std::nullopt;
    const std::uint32_t next = slots_[number - 1].next.load(std::memory_order_relaxed);
    const std::uint64_t wanted = (((seen >> kCountShift) + 1) << kCountShift) | next;
    if (top.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) return number - 1;
  }
}

std::uint8_t* BufferPool::take() noexcept {
  auto slot = pop(free_);
  if (slot) {
    free_count_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    slot = map_one();
  }
  if (!slot) return nullptr;
  out_.fetch_add(1, std::memory_order_relaxed);
  return slots_[*slot].data.load(std::memory_order_relaxed);
}

void BufferPool::give_back(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  const auto slot = slot_of(buffer);
  if (!slot) return;  // none of ours
  slots_[*slot].valid_bytes = std::min(valid_bytes, buffer_bytes_);
  push(full_, *slot);
  out_.fetch_sub(1, std::memory_order_relaxed);
}

void BufferPool::throw_back(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  const auto slot = slot_of(buffer);
  if (!slot) return;
  touch(buffer, std::min(valid_bytes, buffer_bytes_));
  out_.fetch_sub(1, std::memory_order_relaxed);
  push(free_, *slot);
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<BufferPool::Full> BufferPool::drain() {
  std::vector<Full> drained;
  // One swap takes all; the count goes on, so that a push in between fails and repeats.
  std::uint64_t seen = full_.load(std::memory_order_acquire);
  while ((seen & kSlotMask) != 0) {
    const std::uint64_t wanted = ((seen >> kCountShift) + 1) << kCountShift;
    if (full_.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) break;
  }
  for (auto number = static_cast<std::uint32_t>(seen & kSlotMask); number != 0;) {
    const Slot& slot = slots_[number - 1];
    drained.push_back({slot.data.load(std::memory_order_relaxed), slot.valid_bytes});
    number = slot.next.load(std::memory_order_relaxed);
  }
  std::ranges::reverse(drained);
  return drained;
}

void BufferPool::recycle(const Full& buffer) {
  const auto slot = slot_of(buffer.data);
  assert(slot);
  touch(buffer.data, buffer.valid_bytes);
  push(free_, *slot);
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

void BufferPool::keep_free(std::size_t wanted) {
  while (free_count_.load(std::memory_order_relaxed) < static_cast<std::int64_t>(wanted)) {
    const auto slot = map_one();
    if (!slot) return;
    touch(slots_[*slot].data.load(std::memory_order_relaxed), buffer_bytes_);
    push(free_, *slot);
    free_count_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace interlace::collector
