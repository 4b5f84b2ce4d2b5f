#pragma once

#include <cstdint>
#include <string_view>

namespace interlace::trace {

/// What a host call of CUDA or HIP does to what the device is to run, as far as its name tells.
enum class CallEffect : std::uint8_t {
  kOther,
  kLaunchesKernel,  ///< one, unless a graph is being captured
  kBeginsCapture,
  kEndsCapture,
};

/// Of the runtime's and the driver's calls of CUDA and those of HIP, in any version. Of other launches no work need
/// come: graphs may be empty, and copies and memsets of no bytes leave no record.
[[nodiscard]] CallEffect call_effect(std::string_view name);

}  // namespace interlace::trace
