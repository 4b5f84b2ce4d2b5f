#pragma once

#include <string>

#include "engine/job/job_store.hpp"
#include "engine/runtime/progress.hpp"

namespace interlace::engine {

/// Waits for a key that another rank puts, which may be long at it: this rank goes on in the eyes of its Watch
/// meanwhile, as it is the other's Watch that sees whether that one does. place: where this rank stands then.
[[nodiscard]] std::string await_key(JobStore& store, const std::string& key, Progress& progress,
                                    const std::string& place);

/// Tells that this rank is through with `what`, a word of its own, and waits in the same way until all ranks are.
void await_ranks(JobStore& store, const std::string& what, int rank, int ranks, Progress& progress);

}  // namespace interlace::engine
