#pragma once

#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// A rank of its own has nothing to exchange: NCCL queues no kernel, at most a copy. Yet PyTorch lets NCCL's stream
/// wait for the issuing one, and who awaits the result for NCCL's, so that the splits of the next input, for which the
/// host waits, stand behind the gradients of the backward before. Moves what is launched in c10d's ranges ("nccl:...")
/// to a collectives' stream, and puts a work that takes no time there for each range that launches nothing. Leaves
/// recordings with collectives as they are.
void keep_order_of_exchanges(const trace::Trace& trace, const stages::Cut& cut, SiteTable& table);

}  // namespace interlace::replay
