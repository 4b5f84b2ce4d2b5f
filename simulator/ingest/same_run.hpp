#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"

namespace interlace::ingest {

inline constexpr DiagnosticKind kMissingRanks{
    "ingest.missing_ranks", Severity::kWarning, "ranks of the job whose recordings were not given",
    "collectives are taken to end as recorded: what another schedule changes on the missing ranks is not seen; name "
    "the files of all ranks"};
inline constexpr DiagnosticKind kSeveralHosts{
    "ingest.several_hosts", Severity::kWarning, "hosts beyond the first",
    "times are compared as if all hosts' clocks agreed; waits between hosts may be off"};

inline constexpr DiagnosticKind kRanksByOrder{
    "ingest.ranks_by_order", Severity::kInfo, "ranks that do not say which they are",
    "they are numbered in the order in which they are named, those of a folder by name"};

/// What one recorded rank says of its run, whatever the format. Empty where the format does not tell.
struct RankFacts {
  std::filesystem::path file;
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> world_size;
  std::vector<std::int32_t> group_of_all;  ///< ranks of the default process group
  std::string producer;
  std::string host_name;
  std::string run_id;  ///< equal for files of one recording
  /// From the first start to the last end in the file, on the recording's clock; none where nothing was recorded.
  std::optional<Interval> window;
  std::optional<std::int64_t> device;  ///< the only GPU that it works on, by its ordinal
  std::optional<std::size_t> parts;    ///< that the file was read in; files of different numbers are different
};

/// The rank number of each recorded rank: the one it tells, else its position in `ranks`, moved to the next that is
/// free. Checks that they are ranks of one run: world sizes and process groups agree, no rank comes twice, and there is
/// a moment that all of them recorded, as far as that can be told: clocks of two hosts may be
/// seconds apart, and of one recording the programs may have run one after another. Counts missing ranks, hosts beyond
/// the first and ranks outside the world. Throws ingest.duplicate_rank, ingest.ranks_of_different_runs.
[[nodiscard]] std::vector<std::int32_t> number_ranks(std::span<const RankFacts> ranks, Diagnostics& diagnostics);

/// Whether number_ranks counts this: then what an earlier reading stored of it holds no longer.
[[nodiscard]] bool is_found_by_number_ranks(std::string_view code);

}  // namespace interlace::ingest
