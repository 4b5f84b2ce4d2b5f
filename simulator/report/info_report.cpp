#include "simulator/report/info_report.hpp"

#include <algorithm>
#include <utility>

#include "simulator/trace/lane_name.hpp"

namespace interlace::report {

InfoReport make_info(const trace::Trace& trace, const Diagnostics& diagnostics, std::size_t kernels) {
  const analysis::Annotations annotations(trace);
  const auto steps = analysis::find_steps(trace, annotations);
  const auto windows = analysis::windows_of(trace, steps);
  const auto overlap = analysis::overlap(trace, annotations, windows.device);

  InfoReport info;
  info.length = trace.length();
  for (std::size_t i = 0; i < trace.ranks().size(); ++i) {
    info.ranks.push_back({trace.ranks()[i], steps[i], windows.device[i], windows.host[i], overlap.ranks[i]});
  }
  info.operations = analysis::count_operations(trace);
  for (const analysis::StreamUse& use : analysis::stream_use(trace, windows.device)) {
    const trace::Lane& lane = trace.lane(use.stream);
    info.streams.push_back(
        {trace.ranks()[lane.rank.index()].number, trace::lane_name(trace, use.stream), lane.priority, use});
  }
  std::ranges::stable_sort(info.streams, {}, [](const StreamInfo& s) { return std::pair(s.rank, -s.use.busy_ns); });
  info.collectives = analysis::tally_collectives(trace);
  info.kernels = analysis::top_kernels(trace, kernels);
  info.host_blocks = analysis::host_blocking(trace, annotations, windows.host);
  info.host_ahead = windows.host_ahead;
  info.idle = analysis::idle_causes(trace, annotations, windows.device);
  for (analysis::MemoryUse& use : analysis::memory_use(trace)) {
    std::vector<std::string> names;
    for (const analysis::StreamMemory& stream : use.streams) {
      names.push_back(stream.stream ? trace::lane_name(trace, *stream.stream) : "");
    }
    const std::int32_t number = trace.ranks()[use.rank.index()].number;
    info.memory.push_back({number, std::move(use), std::move(names)});
  }
  info.notes = analysis::tally_notes(trace);
  info.diagnostics = diagnostics.entries();
  return info;
}

}  // namespace interlace::report
