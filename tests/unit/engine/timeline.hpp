#pragma once

#include <string>
#include <vector>

#include "engine/workload/workload.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::engine {

/// What a recording of a run on GPUs would show, were each piece of work to take a time that only its place in its
/// stage decides, none slowed by another: the engine's own calls and ranges, on the CPU backend, laid out in time by
/// the rules of streams, events and collectives.
struct Timeline {
  trace::Trace trace;
  /// From the end of one iteration's optimizer to the next one's (of the iteration, where there is none), on the device
  /// of rank 0, between the first and the last iteration that run all stages.
  double step_ns = 0.0;
};
[[nodiscard]] Timeline timeline_of(const schedule::Schedule& schedule, const Workload& workload);

}  // namespace interlace::engine
