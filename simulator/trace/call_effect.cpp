#include "simulator/trace/call_effect.hpp"

#include <initializer_list>

namespace interlace::trace {

namespace {

/// Takes the first of the prefixes that the name has off it.
bool take_prefix(std::string_view& name, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return true;
  }
  return false;
}

}  // namespace

CallEffect call_effect(std::string_view name) {
  const bool is_hip = name.starts_with("hip");
  if (!take_prefix(name, {"cuda", "cu", "hip"})) return CallEffect::kOther;
  // hipModuleLaunchKernel is what cuLaunchKernel is; hipExt is AMD's own, with events around the kernel.
  if (is_hip) take_prefix(name, {"ExtModule", "Ext", "HccModule", "Module"});
  if (name.starts_with("LaunchKernel") || name.starts_with("LaunchCooperativeKernel")) {
    return CallEffect::kLaunchesKernel;
  }
  if (name.starts_with("StreamBeginCapture")) return CallEffect::kBeginsCapture;
  if (name.starts_with("StreamEndCapture")) return CallEffect::kEndsCapture;
  return CallEffect::kOther;
}

}  // namespace interlace::trace
