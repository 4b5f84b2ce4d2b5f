#pragma once

#include <optional>
#include <vector>

#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

struct DeviceCapacity {
  std::optional<Bytes> total;  ///< cudaGetDeviceProperties().totalGlobalMem; none: as much as is asked for
  Bytes held_by_others = 0;    ///< the CUDA context, NCCL, other processes
};

/// The device's memory as the driver hands it out: how much there is, and which addresses come.
///
/// Addresses matter in two ways: blocks of equal size are taken lowest first, and a replay of a recording is to meet
/// the recorded ones. So segments of a recording can be announced by expect(); all others get made-up addresses that
/// no recording has, rising or (to see how much depends on it) in an order drawn from `order_seed`. An address of a
/// segment that was given back is used again for the next.
class DriverMemory {
 public:
  /// No device has more than this, 1 TiB, in one piece.
  static constexpr Bytes kLargestSegment = Bytes{1} << 40;

  explicit DriverMemory(DeviceCapacity capacity = {}, std::optional<std::uint32_t> order_seed = {});

  /// The next segment of this size that is asked for will lie at this address. Announced in the order of asking.
  void expect(Address address, Bytes size);

  /// Counts memory in use that was there before, as of an imported state.
  void adopt(Bytes size) { in_use_ += size; }

  /// cudaMalloc. None: out of memory.
  [[nodiscard]] std::optional<Address> allocate(Bytes size);
  /// cudaFree.
  void release(Address address, Bytes size);

  /// Reserves a range of addresses without memory behind it.
  [[nodiscard]] Address reserve_range(Bytes size);
  void release_range(Address address);
  /// Puts memory behind `size` bytes of a range, all or nothing.
  [[nodiscard]] bool map(Bytes size);
  void unmap(Bytes size) { in_use_ -= size; }

  [[nodiscard]] std::optional<Bytes> total() const { return capacity_.total; }
  /// What the driver would still give. None: no limit is known.
  [[nodiscard]] std::optional<Bytes> free() const;

 private:
  struct Expected {
    Address address;
    Bytes size;
  };

  Address made_up_address();

  DeviceCapacity capacity_;
  std::optional<std::uint32_t> order_seed_;
  Bytes in_use_ = 0;
  std::vector<Expected> expected_;  ///< in order, from expected_begin_ on
  std::size_t expected_begin_ = 0;
  std::uint32_t slots_used_ = 0;
  std::vector<Address> slots_free_;
};

}  // namespace interlace::allocator
