#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cupti_collector/file_output.hpp"

namespace interlace::collector {

/// Which process of a job this is.
struct RankIdentity {
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> world_size;

  bool operator==(const RankIdentity&) const = default;
};

/// As the launcher says in the environment: torchrun, Open MPI, MPICH and Slurm. variable: the value of a variable of
/// the environment, null where it is not set.
[[nodiscard]] RankIdentity identify_rank(const std::function<const char*(const char*)>& variable);

/// Makes the file `rankN.ilt` in the folder for a process and gives N: its rank; where it has none or the file of its
/// rank is there already (a second process of one rank), the first number that is free, beyond the ranks of the job.
/// None where no file can be made; errno tells why.
[[nodiscard]] std::optional<std::int32_t> create_rank_file(const std::filesystem::path& folder,
                                                           const RankIdentity& identity, FileOutput& output);
[[nodiscard]] std::filesystem::path rank_file(const std::filesystem::path& folder, std::int32_t number);

}  // namespace interlace::collector
