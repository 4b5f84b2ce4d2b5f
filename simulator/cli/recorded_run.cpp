#include "simulator/cli/recorded_run.hpp"

#include <cmath>
#include <utility>

#include "simulator/cli/memory_rows.hpp"

namespace interlace::cli {

report::RecordedRun recorded_run(const trace::Trace& trace, std::vector<std::string> files,
                                 const std::optional<analysis::RecordedSteps>& steps) {
  report::RecordedRun recorded;
  recorded.files = std::move(files);
  recorded.memory = recorded_memory(trace);
  for (const trace::Rank& rank : trace.ranks()) {
    recorded.ranks.push_back(rank.number);
    if (rank.world_size) recorded.world_size = rank.world_size;
  }
  if (!steps) return recorded;
  recorded.overlap = steps->overlap;
  recorded.step_time_ns = steps->overlap.step_ns;
  recorded.host_blocked_ns = steps->host_blocked_ns;
  recorded.steps = steps->windows.device.front().steps;
  recorded.steps_found = steps->found;
  return recorded;
}

void add_machine(const replay::SiteTable& sites, report::RecordedRun& recorded) {
  recorded.machine_fitted = sites.fitted;
  for (const replay::SharedQueue& queue : sites.shared_queues) {
    recorded.late_starts.push_back({queue.stream, std::llround(queue.late_ns)});
  }
  recorded.uneven_parts_ns = std::llround(sites.uneven_parts_ns);
}

}  // namespace interlace::cli
