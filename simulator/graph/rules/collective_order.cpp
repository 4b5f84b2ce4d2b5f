#include "simulator/graph/rules/collective_order.hpp"

#include <algorithm>
#include <iterator>

#include "simulator/graph/rules/edge_list.hpp"

namespace interlace::graph {

using trace::OperationId;

namespace {

trace::CollectiveFunction function_of(const trace::Trace& trace, OperationId work) {
  const trace::CollectiveDetail* detail = trace.collective(work);
  return detail == nullptr ? trace::CollectiveFunction::kUnknown : detail->function;
}

}  // namespace

bool is_of_all_ranks(const trace::Trace& trace, OperationId collective) {
  return function_of(trace, collective) != trace::CollectiveFunction::kSendRecv;
}

bool may_belong_together(const trace::Trace& trace, OperationId a, OperationId b) {
  const bool overlap =
      trace.start(a) <= trace.end(b) + kClockTolerance && trace.start(b) <= trace.end(a) + kClockTolerance;
  return overlap && function_of(trace, a) == function_of(trace, b);
}

std::optional<Numbered> by_sequence(const trace::Trace& trace, std::span<const OperationId> collectives) {
  Numbered numbered;
  for (const OperationId work : collectives) {
    const trace::CollectiveDetail* detail = trace.collective(work);
    if (detail == nullptr || !detail->sequence || !numbered.emplace(*detail->sequence, work).second) {
      return std::nullopt;
    }
  }
  return numbered;
}

std::optional<Alignment> align(const trace::Trace& trace, std::span<const OperationId> first,
                               std::span<const OperationId> other) {
  Alignment best;
  const auto try_shift = [&](std::ptrdiff_t shift) {
    Alignment tried{.shift = shift};
    for (std::ptrdiff_t i = 0; i < std::ssize(first); ++i) {
      const std::ptrdiff_t j = i + shift;
      if (j < 0 || j >= std::ssize(other)) continue;
      ++tried.pairs;
      const bool fits =
          may_belong_together(trace, first[static_cast<std::size_t>(i)], other[static_cast<std::size_t>(j)]);
      tried.fit += fits ? 1 : 0;
    }
    if (tried.fit > best.fit) best = tried;
  };
  try_shift(0);
  if (best.fit > 0 && 20 * best.fit >= 19 * std::max(std::ssize(first), std::ssize(other))) return best;
  // Collectives of one stream do not overlap each other, so few of `other` meet the middle one.
  static constexpr std::ptrdiff_t kMaxTried = 8;
  const std::ptrdiff_t middle = std::ssize(first) / 2;
  std::ptrdiff_t tried = 0;
  for (std::ptrdiff_t j = 0; j < std::ssize(other) && tried < kMaxTried; ++j) {
    if (!may_belong_together(trace, first[static_cast<std::size_t>(middle)], other[static_cast<std::size_t>(j)])) {
      continue;
    }
    try_shift(j - middle);
    ++tried;
  }
  return best.fit > 0 && 2 * best.fit >= best.pairs ? std::optional(best) : std::nullopt;
}

}  // namespace interlace::graph
