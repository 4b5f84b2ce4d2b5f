#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// What device work keeps busy, as far as overlap is concerned.
enum class DeviceClass : std::uint8_t {
  kCompute,        ///< kernels, memsets and copies within one device
  kCommunication,  ///< collectives, and copies between devices
  kCopy,           ///< copies between host and device
};
inline constexpr std::size_t kDeviceClasses = 3;

[[nodiscard]] std::string_view to_string(DeviceClass device_class);

/// The class of one device operation (is_device_work must hold). A copy whose ends are unknown counts as kCopy.
[[nodiscard]] DeviceClass device_class(const trace::Trace& trace, trace::OperationId device_work);

}  // namespace interlace::analysis
