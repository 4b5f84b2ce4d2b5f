#include "simulator/memory/named_ranges.hpp"

#include <algorithm>
#include <cstdint>

namespace interlace::memory {

std::vector<Interval> named_ranges(const trace::Trace& trace, trace::RankId rank, std::string_view name) {
  const auto text = std::ranges::find(trace.strings(), name);
  if (text == trace.strings().end()) return {};
  const trace::StringId id{static_cast<std::uint32_t>(text - trace.strings().begin())};
  std::vector<Interval> found;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    if (trace.names()[i] != id || trace.kind(op) != trace::OperationKind::kRange || trace.rank_of(op) != rank) continue;
    found.push_back({trace.start(op), trace.end(op)});
  }
  return found;
}

}  // namespace interlace::memory
