#include "simulator/trace/call_effect.hpp"

namespace interlace::trace {

CallEffect call_effect(std::string_view name) {
  if (!name.starts_with("cu")) return CallEffect::kOther;
  name.remove_prefix(name.starts_with("cuda") ? 4 : 2);
  if (name.starts_with("LaunchKernel") || name.starts_with("LaunchCooperativeKernel")) {
    return CallEffect::kLaunchesKernel;
  }
  if (name.starts_with("StreamBeginCapture")) return CallEffect::kBeginsCapture;
  if (name.starts_with("StreamEndCapture")) return CallEffect::kEndsCapture;
  return CallEffect::kOther;
}

}  // namespace interlace::trace
