#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::benchmarks {

/// INTERLACE_BENCHMARK_OPERATIONS, 200,000 where absent.
inline std::size_t operations_wanted() {
  const char* text = std::getenv("INTERLACE_BENCHMARK_OPERATIONS");
  return text == nullptr ? 200'000 : static_cast<std::size_t>(std::strtoull(text, nullptr, 10));
}

/// Eight ranks with a host thread (calls in ranges) and four streams each, gaps and lengths as in recordings.
inline trace::Trace large_trace(std::size_t operations) {
  constexpr std::size_t kRanks = 8;
  trace::TraceBuilder builder;
  builder.reserve(operations);
  std::mt19937 random(7);
  std::lognormal_distribution<double> length(9, 1.2);
  const auto stage = [&](std::size_t i) { return builder.intern("## stage" + std::to_string(i % 9) + " ##"); };
  for (std::size_t r = 0; r < kRanks; ++r) {
    const auto rank = builder.add_rank({.number = static_cast<std::int32_t>(r)});
    const auto thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
    for (std::int64_t s = 0; s < 4; ++s) {
      const auto stream = builder.lane(trace::LaneKind::kStream, rank, 0, s + 1);
      Nanoseconds at = 0;
      for (std::size_t i = 0; i < operations / kRanks / 8; ++i) {
        const auto name = builder.intern("void kernel_" + std::to_string(i % 300) + "<float, 4>(float*)");
        const auto busy = static_cast<Nanoseconds>(length(random));
        const auto number = static_cast<std::int64_t>((r * 4 + static_cast<std::size_t>(s)) * operations + i);
        if (i % 50 == 0)
          builder.add_range({thread, stage(i / 50), at, 50'000, {}}, {.kind = trace::RangeKind::kAnnotation});
        builder.add_host_call({thread, builder.intern("cudaLaunchKernel"), at, 3'000, number});
        builder.add_kernel({stream, name, at + 5'000, busy, number}, {});
        at += busy + static_cast<Nanoseconds>(length(random) / 4);
      }
    }
  }
  Diagnostics counted;
  return std::move(builder).build(counted);
}

}  // namespace interlace::benchmarks
