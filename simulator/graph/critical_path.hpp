#pragma once

#include <optional>
#include <span>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/graph/graph.hpp"

namespace interlace::graph {

/// What a stretch of a critical path was spent on.
enum class PathTime : std::uint8_t {
  kCompute,        ///< in a kernel or a memset
  kCommunication,  ///< in a collective after its last rank had come
  kCopy,           ///< in a copy
  kHost,           ///< in or between host calls, and from a launching call to the start of its work
  kWaiting,        ///< between device operations, from the end of what was waited for to the start of the next
};
inline constexpr std::size_t kPathTimes = 5;
[[nodiscard]] std::string_view to_string(PathTime time);

/// One operation that the end of a window hung on.
struct PathStep {
  trace::OperationId operation;
  Interval in;      ///< the part of the operation that lies on the path
  Interval before;  ///< from the point that bound it (end of the step before, or its call's start) to `in`
  EdgeKind bound_by = EdgeKind::kDuration;  ///< the dependency that was met last
  std::optional<Nanoseconds> slack;  ///< how much earlier the next dependency was met; none where there is no other

  bool operator==(const PathStep&) const = default;
};

struct CriticalPath {
  Interval window;
  std::vector<PathStep> steps;  ///< by time; their intervals fill the window without gap or overlap
};

struct PathBreakdown {
  Interval window;
  std::array<Nanoseconds, kPathTimes> spent{};  ///< by PathTime; the sum is the length of the window

  [[nodiscard]] Nanoseconds of(PathTime time) const { return spent[static_cast<std::size_t>(time)]; }
  bool operator==(const PathBreakdown&) const = default;
};

/// The chain of dependencies, each the last to be met, that leads to the last operation ending in the window: walked
/// backward from there through recorded times until the start of the window. What no dependency explains ends the walk;
/// the time before it counts as waiting (device) or host. Times of a recording, not of a prediction: O(path + n).
[[nodiscard]] CriticalPath critical_path(const Graph& graph, Interval window);
/// The same for several windows (the steps of a training run), with one sort of the operations for all.
[[nodiscard]] std::vector<CriticalPath> critical_paths(const Graph& graph, std::span<const Interval> windows);

[[nodiscard]] PathBreakdown breakdown(const Graph& graph, const CriticalPath& path);

}  // namespace interlace::graph
