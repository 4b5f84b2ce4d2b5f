#include "simulator/analysis/device_class.hpp"

#include <array>
#include <cassert>

namespace interlace::analysis {

std::string_view to_string(DeviceClass device_class) {
  static constexpr std::array<std::string_view, kDeviceClasses> kNames{"compute", "communication", "copy"};
  return kNames[static_cast<std::size_t>(device_class)];
}

DeviceClass device_class(const trace::Trace& trace, trace::OperationId device_work) {
  assert(trace::is_device_work(trace.kind(device_work)));
  switch (trace.kind(device_work)) {
    case trace::OperationKind::kCollective: return DeviceClass::kCommunication;
    case trace::OperationKind::kCopy: {
      const trace::CopyDetail& copy = *trace.copy(device_work);
      if (copy.peer) return DeviceClass::kCommunication;
      const bool within = copy.source == trace::MemorySpace::kDevice && copy.destination == trace::MemorySpace::kDevice;
      return within ? DeviceClass::kCompute : DeviceClass::kCopy;
    }
    default: return DeviceClass::kCompute;
  }
}

}  // namespace interlace::analysis
