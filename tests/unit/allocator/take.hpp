#pragma once

#include <gtest/gtest.h>

#include "simulator/allocator/caching_allocator.hpp"

/// What tests of the allocator do and ask all the time.
namespace interlace::allocator {

inline constexpr Stream kSide = 11;

/// What a malloc gives that has to succeed.
inline Allocation take(CachingAllocator& allocator, Bytes size, Stream stream = 0, Nanoseconds now = 0) {
  const MallocResult result = allocator.malloc(size, stream, now);
  EXPECT_TRUE(result.allocation);
  return *result.allocation;
}
inline BlockId take_block(CachingAllocator& allocator, Bytes size, Stream stream = 0, Nanoseconds now = 0) {
  return take(allocator, size, stream, now).block;
}

inline Bytes reserved(const CachingAllocator& allocator) { return allocator.statistics().reserved_bytes.all.current; }

}  // namespace interlace::allocator
