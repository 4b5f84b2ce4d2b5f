#include "simulator/allocator/driver_memory.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace interlace::allocator {

namespace {

// Made-up addresses are slots of 1 TiB in the upper half, far above any real device address.
constexpr int kSlotBits = 40;
constexpr int kSlotCountBits = 23;
constexpr Address kFirstSlot = Address{1} << 63;
static_assert(DriverMemory::kLargestSegment == Bytes{1} << kSlotBits);
/// Where no capacity is known, what a damaged recording asks for is to stay within what can be counted.
constexpr Bytes kMostInUse = Bytes{1} << 62;

/// A permutation of the numbers below 2^kSlotCountBits, another for each seed: odd factors and shifts undo themselves.
std::uint32_t shuffled(std::uint32_t n, std::uint32_t seed) {
  constexpr std::uint32_t kMask = (1U << kSlotCountBits) - 1;
  constexpr std::uint32_t kFactor = 0x2C1B3C6DU;  // odd
  const std::uint32_t odd = seed * 2 + 1;
  for (int round = 0; round < 3; ++round) {
    n = (n * kFactor + odd) & kMask;
    n ^= n >> (kSlotCountBits / 2);
    n = (n * odd) & kMask;
  }
  return n;
}

}  // namespace

DriverMemory::DriverMemory(DeviceCapacity capacity, std::optional<std::uint32_t> order_seed)
    : capacity_(capacity), order_seed_(order_seed) {}

void DriverMemory::expect(Address address, Bytes size) { expected_.push_back({address, size}); }

std::optional<Bytes> DriverMemory::free() const {
  if (!capacity_.total) return std::nullopt;
  return std::max<Bytes>(0, *capacity_.total - capacity_.held_by_others - in_use_);
}

Address DriverMemory::made_up_address() {
  if (!slots_free_.empty()) {
    const Address address = slots_free_.back();
    slots_free_.pop_back();
    return address;
  }
  assert(slots_used_ < (1U << kSlotCountBits));
  const std::uint32_t n = slots_used_++;
  const Address slot = order_seed_ ? shuffled(n, *order_seed_) : n;
  return kFirstSlot + (slot << kSlotBits);
}

bool DriverMemory::map(Bytes size) {
  const Bytes left = free().value_or(kMostInUse - in_use_);
  if (size > left) return false;
  in_use_ += size;
  return true;
}

std::optional<Address> DriverMemory::allocate(Bytes size) {
  if (size > kLargestSegment || !map(size)) return std::nullopt;
  const auto begin = expected_.begin() + static_cast<std::ptrdiff_t>(expected_begin_);
  const auto found = std::find_if(begin, expected_.end(), [size](const Expected& e) { return e.size == size; });
  if (found == expected_.end()) return made_up_address();
  const Address address = found->address;
  std::rotate(begin, found, found + 1);  // those passed over stay in order
  ++expected_begin_;
  return address;
}

void DriverMemory::release(Address address, Bytes size) {
  in_use_ -= size;
  if (address >= kFirstSlot) slots_free_.push_back(address);
}

Address DriverMemory::reserve_range(Bytes size) {
  assert(size <= kLargestSegment);
  static_cast<void>(size);
  return made_up_address();
}

void DriverMemory::release_range(Address address) {
  if (address >= kFirstSlot) slots_free_.push_back(address);
}

}  // namespace interlace::allocator
