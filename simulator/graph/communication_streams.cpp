#include "simulator/graph/communication_streams.hpp"

#include <algorithm>
#include <cstdint>

namespace interlace::graph {

std::vector<bool> communication_streams(const trace::Trace& trace) {
  using trace::OperationKind;
  std::vector<bool> result(trace.lanes().size(), false);
  for (std::uint32_t l = 0; l < result.size(); ++l) {
    if (trace.lane({l}).kind != trace::LaneKind::kStream) continue;
    const auto count = [&, on_lane = trace.on_lane({l})](OperationKind kind) {
      return std::ranges::count_if(on_lane, [&](trace::OperationId op) { return trace.kind(op) == kind; });
    };
    result[l] = count(OperationKind::kCollective) > count(OperationKind::kKernel);
  }
  return result;
}

}  // namespace interlace::graph
