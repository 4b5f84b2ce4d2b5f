#pragma once

#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// By lane: is it a stream of collectives, as NCCL's process groups have? Such a stream has more communication kernels
/// than others. A few on a compute stream do not make it one: there PyTorch runs collectives that the program does not
/// ask for asynchronously. Copies and fills say nothing: a gathering into a list of tensors ends with a copy a rank.
[[nodiscard]] std::vector<bool> communication_streams(const trace::Trace& trace);

}  // namespace interlace::graph
