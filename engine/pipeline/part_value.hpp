#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace interlace::engine {

/// What a part of a batch's message holds: another value for each sender and receiver, and for each of as many batches
/// in a row as are left: 127 on 4096 ranks, 130,000 on 128. It counts the normal positive floats, of which there are
/// near 2^31: whole numbers would be exact up to 2^24 only, which is one batch on 4096 ranks. None is 0 or no number,
/// as memory may be that nobody has written.
[[nodiscard]] constexpr float part_value(std::int64_t batch, std::size_t from, std::size_t to, std::size_t ranks) {
  constexpr std::uint64_t kSmallest = 0x0080'0000;
  constexpr std::uint64_t kCount = 0x7f00'0000;
  const std::uint64_t pairs = std::uint64_t{ranks} * ranks;
  const std::uint64_t batches = std::max<std::uint64_t>(1, kCount / pairs);
  const std::uint64_t number = static_cast<std::uint64_t>(batch) % batches * pairs + from * ranks + to;
  return std::bit_cast<float>(static_cast<std::uint32_t>(kSmallest + number));
}

}  // namespace interlace::engine
