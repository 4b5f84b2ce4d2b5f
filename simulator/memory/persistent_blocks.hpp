#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "simulator/allocator/configuration.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/base/units.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::memory {

struct PersistentBlocks {
  std::vector<Bytes> bytes;  ///< by address, as asked for
  allocator::Configuration settings;
};

/// The blocks of a rank that are there when these steps begin and not given back in them: parameters,
/// optimizer state, workspaces; but for those at the addresses `of_stages`, which some stage makes for each batch and
/// whose end was not recorded. From the first recorded state of the allocator behind the steps (else the last there
/// is), of the device that the rank works on, played back to where they begin, since a recording may hold all of a
/// program; none where the recording has no state. Counts as allocator::parse_configuration and rewind do.
[[nodiscard]] std::optional<PersistentBlocks> persistent_blocks(const trace::Trace& trace, trace::RankId rank,
                                                                Interval steps,
                                                                const std::unordered_set<std::uint64_t>& of_stages,
                                                                Diagnostics& diagnostics);

}  // namespace interlace::memory
