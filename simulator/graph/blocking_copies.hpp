#pragma once

#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// Did this host call return only when the copy that it launched was over? So recorded of a copy from or to pageable
/// memory, or of one on pinned memory that the program asked for as a blocking copy (its call is not an ...Async one).
[[nodiscard]] bool returned_behind(const trace::Trace& trace, trace::OperationId call, trace::OperationId copy);

}  // namespace interlace::graph
