#include "simulator/graph/streams_of_rank.hpp"

#include <algorithm>
#include <tuple>

namespace interlace::graph {

std::vector<trace::LaneId> streams_of_rank(const trace::Trace& trace, trace::RankId rank) {
  std::vector<trace::LaneId> streams;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    const trace::Lane& lane = trace.lane({l});
    if (lane.kind == trace::LaneKind::kStream && lane.rank == rank) streams.push_back({l});
  }
  std::ranges::sort(streams, {}, [&](trace::LaneId id) {
    const trace::Lane& lane = trace.lane(id);
    return std::tuple(lane.process, lane.number, id);
  });
  return streams;
}

}  // namespace interlace::graph
