#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/analysis/device_class.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// What a stream is mostly used for.
enum class StreamRole : std::uint8_t { kMain, kCompute, kCommunication, kCopy, kIdle };

[[nodiscard]] std::string_view to_string(StreamRole role);

struct StreamUse {
  trace::LaneId stream;
  StreamRole role = StreamRole::kIdle;
  std::int64_t operations = 0;                            ///< device work a step, rounded
  Nanoseconds busy_ns = 0;                                ///< a step; some work of the stream runs
  std::array<Nanoseconds, kDeviceClasses> of_class_ns{};  ///< a step, by DeviceClass; each a union

  bool operator==(const StreamUse&) const = default;
};

/// One entry a stream lane, in lane order. A stream's role is the class that takes most of its time; but the stream of
/// a rank with the most compute is its main one, whatever else it does. A stream without work in the window is idle.
[[nodiscard]] std::vector<StreamUse> stream_use(const trace::Trace& trace, std::span<const StepWindow> windows);

}  // namespace interlace::analysis
