#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/ingest/kineto/rank_file.hpp"

namespace interlace::ingest {

inline constexpr DiagnosticKind kMissingRanks{
    "ingest.missing_ranks", Severity::kWarning, "ranks of the job whose recordings were not given",
    "collectives are taken to end as recorded: what another schedule changes on the missing ranks is not seen; name "
    "the files of all ranks"};
inline constexpr DiagnosticKind kSeveralHosts{
    "ingest.several_hosts", Severity::kWarning, "hosts beyond the first",
    "times are compared as if all hosts' clocks agreed; waits between hosts may be off"};

/// The rank number of each file: the one it tells, else its position among the files, moved to the next that is free.
/// Checks that the files are ranks of one run: world sizes and process groups agree, no rank comes twice, and there is
/// a moment that all of them recorded. Counts missing ranks.
/// Throws ingest.duplicate_rank, ingest.ranks_of_different_runs.
[[nodiscard]] std::vector<std::int32_t> number_ranks(std::span<const kineto::RankFile> files, Diagnostics& diagnostics);

}  // namespace interlace::ingest
