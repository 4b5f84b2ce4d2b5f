#pragma once

#include "simulator/base/units.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

/// Calls that do not wait take microseconds; longer ones wait for the device, or were interrupted by the profiler or
/// the system.
inline constexpr Nanoseconds kLongestCall = 40 * kMicrosecond;

/// CUDA takes so much from pageable memory along with the command; what is larger the host itself brings into memory
/// that the device can read, piece by piece, and is busy until the last one is there.
inline constexpr Bytes kLargestUnstagedCopy = 65'536;

/// Is it a copy from pageable memory that the host is busy with?
[[nodiscard]] bool is_staged(const trace::Trace& trace, trace::OperationId work);

/// What a host call that launches work takes of the host by itself: no more than kLongestCall, but of two. A CUDA graph
/// takes as long to launch as it has nodes; staging a copy lasts from the copy's start on (before it, the call waited
/// for the stream).
[[nodiscard]] Nanoseconds own_time(const trace::Trace& trace, trace::OperationId call);

}  // namespace interlace::stages
