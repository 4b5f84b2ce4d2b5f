#pragma once

#include <array>
#include <cstdint>
#include <limits>

/// What a recording may say of an operation. More is damage of the file, and would take products and sums of these
/// numbers out of int64.
namespace interlace::trace {

/// What CUDA allows of blocks and of threads; at least 1 of each.
inline constexpr std::array<std::int32_t, 3> kLargestGrid{std::numeric_limits<std::int32_t>::max(), 65535, 65535};
inline constexpr std::array<std::int32_t, 3> kLargestBlock{1024, 1024, 1024};
/// Of bytes or elements: a petabyte.
inline constexpr std::int64_t kLargestAmount = std::int64_t{1} << 50U;
/// Of the bytes of all allocations and frees of one process: four exabytes.
inline constexpr std::int64_t kLargestAmountInAll = std::int64_t{1} << 62U;
/// Bytes of the largest type of elements, a complex number of two doubles.
inline constexpr std::int64_t kLargestElement = 16;

}  // namespace interlace::trace
