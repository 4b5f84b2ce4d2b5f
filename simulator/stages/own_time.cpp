#include "simulator/stages/own_time.hpp"

#include <algorithm>
#include <string_view>

namespace interlace::stages {

using trace::OperationId;
using trace::Trace;

bool is_staged(const Trace& trace, OperationId work) {
  const trace::CopyDetail* copy = trace.copy(work);
  return copy != nullptr && copy->source == trace::MemorySpace::kPageable && copy->bytes > kLargestUnstagedCopy;
}

Nanoseconds own_time(const Trace& trace, OperationId call) {
  const Nanoseconds duration = trace.duration(call);
  if (trace.name(call).find("GraphLaunch") != std::string_view::npos) return duration;
  const auto launched = trace.launched_by(call);
  const auto staged = std::ranges::find_if(launched, [&](OperationId work) { return is_staged(trace, work); });
  if (staged == launched.end()) return std::min(duration, kLongestCall);
  const Nanoseconds before = std::clamp(trace.start(*staged) - trace.start(call), Nanoseconds{0}, duration);
  return std::min(before, kLongestCall) + (duration - before);
}

}  // namespace interlace::stages
