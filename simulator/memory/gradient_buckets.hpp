#pragma once

#include <vector>

#include "simulator/base/units.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::memory {

/// Takes from the persistent blocks those that PyTorch's DistributedDataParallel reduces gradients in: one of them for
/// each all-reduce that an iteration's backward sends, of the same size; in that order. None unless the recording has
/// the range that names its forward, and a block for every all-reduce.
///
/// They are not there from the start. DistributedDataParallel begins with one bucket for all parameters
/// (torch/nn/parallel/distributed.py, _ddp_init_helper) and makes the final ones in front of the second forward, when
/// it knows in what order gradients come (torch/csrc/distributed/c10d/reducer.cpp, rebuild_buckets). With static_graph,
/// as TorchRec asks for, the first backward keeps every gradient until it ends and reduces them then
/// (delay_all_reduce). ProcessGroupNCCL refers to what it has reduced until its watchdog has seen that it is done and
/// the program calls for another collective (ProcessGroupNCCL.cpp, shelvesToUnstash_): so the first bucket stays for a
/// while beside the final ones.
[[nodiscard]] std::vector<Bytes> take_gradient_buckets(const trace::Trace& trace, const stages::RankCut& cut,
                                                       std::vector<Bytes>& persistent);

}  // namespace interlace::memory
