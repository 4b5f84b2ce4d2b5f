#include "simulator/graph/critical_path.hpp"

#include <algorithm>

namespace interlace::graph {

using trace::OperationId;
using trace::OperationKind;

std::string_view to_string(PathTime time) {
  static constexpr std::array<std::string_view, kPathTimes> kNames{"compute", "communication", "copy", "host",
                                                                   "waiting"};
  return kNames[static_cast<std::size_t>(time)];
}

namespace {

struct Arrival {
  VertexId from;
  EdgeKind kind;
  Nanoseconds time;
  std::optional<Nanoseconds> next;  ///< when the last but one dependency was met
};

/// The dependency of a vertex that was met last; of several at one time the one that is no mere duration, then the one
/// of the lower kind and vertex, so that the path is the same in every run.
std::optional<Arrival> last_arrival(const Graph& graph, VertexId vertex) {
  std::optional<Arrival> last;
  graph.for_each_predecessor(vertex, [&](VertexId from, EdgeKind kind) {
    const Nanoseconds time = graph.time_of(from);
    const auto better = [&] {
      if (time != last->time) return time > last->time;
      if ((kind == EdgeKind::kDuration) != (last->kind == EdgeKind::kDuration)) return kind != EdgeKind::kDuration;
      return kind != last->kind ? kind < last->kind : from < last->from;
    };
    if (!last || better()) {
      last = Arrival{from, kind, time, last ? std::optional(last->time) : std::nullopt};
    } else {
      last->next = std::max(last->next.value_or(time), time);
    }
  });
  return last;
}

/// Walks back from `vertex` to the start of the window. Each turn puts one stretch of time in front of the path.
class Walk {
 public:
  Walk(const Graph& graph, Interval window, VertexId last)
      : graph_(graph), window_(window), at_(last), time_(window.end) {}

  std::vector<PathStep> run() {
    open_step(at_);
    take(graph_.time_of(at_), false);  // from the last end to the end of the window
    // No path is longer than this: clocks that disagree may close one to a circle.
    for (std::size_t left = graph_.vertices(); left > 0 && time_ > window_.begin; --left) {
      const auto arrival = last_arrival(graph_, at_);
      if (!arrival) break;
      step_back(*arrival);
    }
    take(window_.begin, true);
    close_step();
    std::ranges::reverse(steps_);
    return std::move(steps_);
  }

 private:
  void open_step(VertexId vertex) {
    step_ = PathStep{.operation = graph_.operation_of(vertex).value_or(step_.operation),
                     .in = {time_, time_},
                     .before = {time_, time_},
                     .bound_by = EdgeKind::kDuration,
                     .slack = {}};
  }
  void close_step() { steps_.push_back(step_); }

  /// Gives the time back to `until` to the step: to what lies before the operation or to the operation itself.
  void take(Nanoseconds until, bool before) {
    until = std::max(until, window_.begin);
    if (until >= time_) return;
    if (before) {
      step_.before.begin = until;
    } else {
      step_.in.begin = until;
      step_.before = {until, until};
    }
    time_ = until;
  }

  void step_back(const Arrival& arrival) {
    const auto here = graph_.operation_of(at_);
    const auto there = graph_.operation_of(arrival.from);
    // The end of an operation, and of a collective from its meeting point, is the operation's own time.
    const bool inside = Graph::is_end(at_) && here && (arrival.kind == EdgeKind::kDuration || !there);
    // From a meeting point to the start that came last no time passes: the path goes on with that rank.
    take(arrival.time, !inside);
    if (there && *there != step_.operation) {
      step_.bound_by = arrival.kind;
      if (arrival.next) step_.slack = std::max<Nanoseconds>(0, arrival.time - *arrival.next);
      close_step();
      open_step(arrival.from);
    }
    at_ = arrival.from;
  }

  const Graph& graph_;
  Interval window_;
  VertexId at_;
  Nanoseconds time_;  ///< everything from here to the end of the window is explained
  PathStep step_;
  std::vector<PathStep> steps_;
};

/// Operations with edges, by end.
std::vector<OperationId> by_end(const trace::Trace& trace) {
  std::vector<OperationId> operations;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) <= OperationKind::kHostSync) operations.push_back({i});
  }
  std::ranges::stable_sort(operations, {}, [&](OperationId op) { return trace.end(op); });
  return operations;
}

}  // namespace

std::vector<CriticalPath> critical_paths(const Graph& graph, std::span<const Interval> windows) {
  const trace::Trace& trace = graph.trace();
  const std::vector<OperationId> ends = by_end(trace);
  std::vector<CriticalPath> paths;
  for (const Interval window : windows) {
    CriticalPath path{window, {}};
    const auto after = std::ranges::upper_bound(ends, window.end, {}, [&](OperationId op) { return trace.end(op); });
    if (after != ends.begin() && trace.end(*std::prev(after)) > window.begin) {
      path.steps = Walk(graph, window, Graph::end_of(*std::prev(after))).run();
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

CriticalPath critical_path(const Graph& graph, Interval window) {
  return std::move(critical_paths(graph, std::span(&window, 1)).front());
}

namespace {

PathTime time_in(OperationKind kind) {
  switch (kind) {
    case OperationKind::kKernel:
    case OperationKind::kMemset: return PathTime::kCompute;
    case OperationKind::kCollective: return PathTime::kCommunication;
    case OperationKind::kCopy: return PathTime::kCopy;
    default: return PathTime::kHost;
  }
}

/// Before a host call the host was busy, before a kernel bound by its launch the launch was on its way; any other
/// time before device work is waiting.
PathTime time_before(const trace::Trace& trace, const PathStep& step) {
  const bool host = !is_device_work(trace.kind(step.operation)) || step.bound_by == EdgeKind::kLaunch;
  return host ? PathTime::kHost : PathTime::kWaiting;
}

}  // namespace

PathBreakdown breakdown(const Graph& graph, const CriticalPath& path) {
  const trace::Trace& trace = graph.trace();
  PathBreakdown result{path.window, {}};
  const auto add = [&](PathTime time, Nanoseconds length) { result.spent[static_cast<std::size_t>(time)] += length; };
  for (const PathStep& step : path.steps) {
    add(time_in(trace.kind(step.operation)), step.in.length());
    add(time_before(trace, step), step.before.length());
  }
  if (path.steps.empty()) add(PathTime::kWaiting, path.window.length());
  return result;
}

}  // namespace interlace::graph
