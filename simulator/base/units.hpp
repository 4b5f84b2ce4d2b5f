#pragma once

#include <cstdint>

namespace interlace {

/// A point in time or a span of it, in nanoseconds. Points count from the trace's own origin.
using Nanoseconds = std::int64_t;

/// An amount of memory, in bytes.
using Bytes = std::int64_t;

/// Memory is told in binary units, as torch.cuda.memory_summary, PyTorch's messages of OOM and nvidia-smi do.
inline constexpr Bytes kGibibyte = Bytes{1} << 30;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

}  // namespace interlace
