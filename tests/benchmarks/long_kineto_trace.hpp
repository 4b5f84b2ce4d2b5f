#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>

namespace interlace::benchmarks {

/// One operator, its launch, the kernel and the arrow between, laid out as Kineto does. {0}: number, {1}: name, {2} to
/// {4}: microseconds of operator, launch and kernel.
inline constexpr const char* kFiveEvents = R"--(,
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::operator_{1}", "pid": 1917, "tid": 1917,
    "ts": {2}.935, "dur": 9.839,
    "args": {{
      "External id": {0}, "Record function id": 0, "Sequence number": {0}, "Fwd thread id": 0, "Ev Idx": {0}
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1917, "tid": 1917,
    "ts": {3}.125, "dur": 3.500,
    "args": {{
      "External id": {0}, "cbid": 211, "correlation": {0}
    }}
  }},
  {{
    "ph": "s", "id": {0}, "pid": 1917, "tid": 1917, "ts": {3}.125,
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "void at::vectorized_elementwise_kernel<4, at::functor_{1}<float>, std::array<char*, 3ul> >(int, at::functor_{1}<float>, std::array<char*, 3ul>)", "pid": 0, "tid": 7,
    "ts": {4}.750, "dur": 6.080,
    "args": {{
      "External id": {0}, "queued": 0, "device": 0, "context": 1,
      "stream": 7, "correlation": {0},
      "registers per thread": 32,
      "shared memory": 0,
      "blocks per SM": 29.09091,
      "warps per SM": 232.72728,
      "grid": [3840, 1, 1],
      "block": [256, 1, 1],
      "est. achieved occupancy %": 100
    }}
  }},
  {{
    "ph": "f", "id": {0}, "pid": 0, "tid": 7, "ts": {4}.750,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }})--";

/// A file of 5 * operators + 1 events.
inline std::string long_kineto_trace(std::int64_t operators) {
  std::string text = R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1},
  "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1917, "tid": 1917, "ts": 1.000, "dur": 9.000})";
  for (std::int64_t i = 0; i < operators; ++i) {
    const std::int64_t at = 4405607881792 + i * 20;
    fmt::format_to(std::back_inserter(text), fmt::runtime(kFiveEvents), i, i % 100, at, at + 2, at + 9);
  }
  return text + "\n  ]}\n";
}

}  // namespace interlace::benchmarks
