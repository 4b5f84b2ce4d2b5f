#include "tests/support/trace_difference.hpp"

#include <algorithm>
#include <utility>

namespace interlace::trace {

namespace {

template <class T>
bool same(const T* a, const T* b) {
  return (a == nullptr) == (b == nullptr) && (a == nullptr || *a == *b);
}

std::string difference_of_operation(const Trace& a, const Trace& b, OperationId op) {
  if (a.kind(op) != b.kind(op)) return "kind";
  if (a.lane_of(op) != b.lane_of(op)) return "lane";
  if (a.start(op) != b.start(op)) return "start";
  if (a.duration(op) != b.duration(op)) return "duration";
  if (a.names()[op.index()] != b.names()[op.index()]) return "name";
  if (!same(a.kernel(op), b.kernel(op))) return "kernel";
  if (!same(a.collective(op), b.collective(op))) return "collective";
  if (!same(a.copy(op), b.copy(op))) return "copy";
  if (!same(a.sync(op), b.sync(op))) return "sync";
  if (!same(a.range(op), b.range(op))) return "range";
  if (!same(a.allocation(op), b.allocation(op))) return "allocation";
  if (!same(a.note(op), b.note(op))) return "note";
  if (a.launch_of(op) != b.launch_of(op)) return "launch_of";
  if (!std::ranges::equal(a.launched_by(op), b.launched_by(op))) return "launched_by";
  return {};
}

}  // namespace

Rank as_recorded(Rank rank) {
  if (!rank.recorded_as.empty()) rank.source = std::exchange(rank.recorded_as, {});
  return rank;
}

std::string first_difference(const Trace& a, const Trace& b) {
  if (a.size() != b.size()) return "size " + std::to_string(a.size()) + " and " + std::to_string(b.size());
  if (a.origin() != b.origin()) return "origin";
  if (a.length() != b.length()) return "length";
  if (!std::ranges::equal(a.strings(), b.strings())) return "strings";
  if (!std::ranges::equal(a.ranks(), b.ranks(), {}, as_recorded, as_recorded)) return "ranks";
  if (!std::ranges::equal(a.lanes(), b.lanes())) return "lanes";
  if (!std::ranges::equal(a.launches_without_work(), b.launches_without_work())) return "launches_without_work";
  if (!std::ranges::equal(a.allocator_states(), b.allocator_states())) return "allocator_states";
  for (std::uint32_t lane = 0; lane < a.lanes().size(); ++lane) {
    if (!std::ranges::equal(a.on_lane({lane}), b.on_lane({lane}))) return "on_lane " + std::to_string(lane);
  }
  for (std::uint32_t op = 0; op < a.size(); ++op) {
    const std::string what = difference_of_operation(a, b, {op});
    if (!what.empty()) return what + " of operation " + std::to_string(op);
  }
  return {};
}

}  // namespace interlace::trace
