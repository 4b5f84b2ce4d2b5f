#pragma once

#include <optional>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/units.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::memory {

/// The blocks of a rank that are there before the first recorded event and never given back: parameters, optimizer
/// state, workspaces. By address, as asked for. From a recorded state of the allocator, played back to the start; none
/// where the recording has no state. Counts as allocator::rewind does.
[[nodiscard]] std::optional<std::vector<Bytes>> persistent_blocks(const trace::Trace& trace, trace::RankId rank,
                                                                  Diagnostics& diagnostics);

}  // namespace interlace::memory
