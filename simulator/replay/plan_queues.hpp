#pragma once

#include "simulator/replay/program.hpp"

namespace interlace::replay {

/// Fills in how often each stream of a plan shares the queue of the main stream's commands (command_queues.hpp).
/// Streams that run kernels come into the two queues by turns, in the order of their first use. The main one is used
/// long before a pipeline begins, and others may be in between: of the rest, one that is known tells of all.
void find_queues(const SiteTable& table, Plan& plan);

}  // namespace interlace::replay
