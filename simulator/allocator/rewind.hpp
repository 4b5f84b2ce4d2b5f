#pragma once

#include <span>
#include <string_view>

#include "simulator/allocator/configuration.hpp"
#include "simulator/allocator/state.hpp"
#include "simulator/allocator/trace_entry.hpp"
#include "simulator/base/diagnostics.hpp"

namespace interlace::allocator {

inline constexpr DiagnosticKind kHistoryContradictsState{
    "allocator.history_contradicts_state", Severity::kWarning,
    "an entry of the allocator's history does not fit the state it is said to have led to",
    "the history may be cut off or of another device; predicted memory may be off"};

inline constexpr DiagnosticKind kPoolClassGuessed{
    "allocator.pool_class_guessed", Severity::kInfo,
    "whether memory taken from an expandable segment belonged to small or large blocks was guessed by its size",
    "none needed"};

/// The state before `history`, given the state after it. What no entry tells is known by the allocator's own rules:
/// free blocks are always the largest gaps; a block is as large as its rounded request, and keeps what follows it where
/// a free block could not be that small (at most 1 MiB in the large pool), so that blocks that ended inside the window
/// get their true size too. (Where the right neighbour was free already, slack cannot be told from it and counts as
/// free; never met in a recording.)
/// Pending blocks of the result are those whose free was requested before the history and completed in it, and those
/// never completed. Entries that contradict the state are counted in `diagnostics` and left out; so are oom entries,
/// which change nothing. The result passes check_state(). Throws Error(allocator.bad_state) if `after` does not.
[[nodiscard]] AllocatorState rewind(const AllocatorState& after, std::span<const TraceEntry> history,
                                    const Configuration& configuration, std::string_view source,
                                    Diagnostics& diagnostics);

}  // namespace interlace::allocator
