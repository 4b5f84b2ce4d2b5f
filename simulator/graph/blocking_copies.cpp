#include "simulator/graph/blocking_copies.hpp"

#include <string_view>

namespace interlace::graph {

bool returned_behind(const trace::Trace& trace, trace::OperationId call, trace::OperationId copy) {
  if (trace.kind(copy) != trace::OperationKind::kCopy || trace.end(copy) > trace.end(call)) return false;
  const trace::CopyDetail& detail = *trace.copy(copy);
  const auto has_end_in = [&](trace::MemorySpace space) {
    return detail.source == space || detail.destination == space;
  };
  if (has_end_in(trace::MemorySpace::kPageable)) return true;
  const bool asynchronous = trace.name(call).find("Async") != std::string_view::npos;
  return !asynchronous && has_end_in(trace::MemorySpace::kPinned);
}

}  // namespace interlace::graph
