#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/data/counter_hash.hpp"
#include "engine/workload/table.hpp"
#include "engine/workload/workload.hpp"

// Where the initial values of a model come from: each part has a seed of its own, below the workload's. Batches have
// the subseeds from 0 on.
namespace interlace::engine {

inline constexpr std::uint64_t kModelSeeds = std::uint64_t{1} << 48U;

/// Of initialise_parameters().
[[nodiscard]] constexpr std::uint64_t dense_seed(const Workload& workload) {
  return subseed(workload.seed, kModelSeeds);
}
/// Of a module's tables; the data-parallel one counts as the module behind the last.
[[nodiscard]] constexpr std::uint64_t module_seed(const Workload& workload, std::size_t module) {
  return subseed(workload.seed, kModelSeeds + 1 + module);
}
/// The cells of a table are uniform values of its seed, counted row by row, within this bound.
[[nodiscard]] constexpr std::uint64_t table_seed(std::uint64_t module_seed, std::size_t table) {
  return subseed(module_seed, table);
}
[[nodiscard]] inline float table_bound(const TableSpec& table) {
  return 1.0F / std::sqrt(static_cast<float>(table.rows));
}

}  // namespace interlace::engine
