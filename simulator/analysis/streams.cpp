#include "simulator/analysis/streams.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace interlace::analysis {

namespace {

using trace::OperationId;

StreamRole role_of(const StreamUse& use) {
  if (use.operations == 0) return StreamRole::kIdle;
  const auto most = std::ranges::max_element(use.of_class_ns) - use.of_class_ns.begin();
  switch (static_cast<DeviceClass>(most)) {
    case DeviceClass::kCompute: return StreamRole::kCompute;
    case DeviceClass::kCommunication: return StreamRole::kCommunication;
    case DeviceClass::kCopy: return StreamRole::kCopy;
  }
  return StreamRole::kIdle;
}

StreamUse use_of(const trace::Trace& trace, trace::LaneId stream, const StepWindow& window) {
  StreamUse use{.stream = stream};
  std::array<std::vector<Interval>, kDeviceClasses> of_class;
  std::vector<Interval> all;
  for (const OperationId op : trace.on_lane(stream)) {
    if (!trace::is_device_work(trace.kind(op))) continue;
    const Interval span{trace.start(op), trace.end(op)};
    const Interval clipped = intersection(span, window.span);
    // What has begun before the window counts for the part that lies in it; what takes no time, where it stands.
    if (span.length() > 0 ? clipped.length() <= 0 : !window.span.contains(span.begin)) continue;
    ++use.operations;
    of_class[static_cast<std::size_t>(device_class(trace, op))].push_back(clipped);
    all.push_back(clipped);
  }
  use.busy_ns = divided(IntervalSet(std::move(all)).length(), window.steps);
  for (std::size_t i = 0; i < kDeviceClasses; ++i) {
    use.of_class_ns[i] = divided(IntervalSet(std::move(of_class[i])).length(), window.steps);
  }
  use.role = role_of(use);
  use.operations = divided(use.operations, window.steps);
  return use;
}

}  // namespace

std::string_view to_string(StreamRole role) {
  static constexpr std::array<std::string_view, 5> kNames{"main", "compute", "communication", "copy", "idle"};
  return kNames[static_cast<std::size_t>(role)];
}

std::vector<StreamUse> stream_use(const trace::Trace& trace, std::span<const StepWindow> windows) {
  assert(windows.size() == trace.ranks().size());
  std::vector<StreamUse> result;
  std::vector<std::optional<std::size_t>> main(windows.size());  // of a rank: position in result
  constexpr auto kComputeClass = static_cast<std::size_t>(DeviceClass::kCompute);
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (lane.kind != trace::LaneKind::kStream) continue;
    result.push_back(use_of(trace, {i}, windows[lane.rank.index()]));
    if (result.back().of_class_ns[kComputeClass] == 0) continue;
    auto& best = main[lane.rank.index()];
    if (!best || result.back().of_class_ns[kComputeClass] > result[*best].of_class_ns[kComputeClass]) {
      best = result.size() - 1;
    }
  }
  for (const auto& of_rank : main) {
    if (of_rank) result[*of_rank].role = StreamRole::kMain;
  }
  return result;
}

}  // namespace interlace::analysis
