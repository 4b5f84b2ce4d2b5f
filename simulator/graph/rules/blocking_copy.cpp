#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

using trace::MemorySpace;
using trace::OperationId;

namespace {

bool says_async(std::string_view name) { return name.find("Async") != std::string_view::npos; }

}  // namespace

// cudaMemcpyAsync to pageable host memory returns only when the copy is done, and so does every cudaMemcpy that touches
// the host. From pageable memory the call returns when the data are staged, which is not when the copy ends.
void add_blocking_copies(const trace::Trace& trace, EdgeList& edges) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.kind(op) != trace::OperationKind::kCopy) continue;
    const auto call = trace.launch_of(op);
    const trace::CopyDetail* copy = trace.copy(op);
    if (!call || copy == nullptr || copy->peer) continue;
    const bool to_host = copy->source == MemorySpace::kDevice && copy->destination == MemorySpace::kPageable;
    const bool synchronous = trace.name(*call).find("Memcpy") != std::string_view::npos &&
                             !says_async(trace.name(*call)) && copy->destination != MemorySpace::kDevice;
    if (!to_host && !synchronous) continue;
    edges.add(Graph::end_of(op), Graph::end_of(*call), EdgeKind::kBlockingCopy, kClockTolerance);
  }
}

}  // namespace interlace::graph
