#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/workload/dense_spec.hpp"
#include "engine/workload/table.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kUnknownWorkload{"engine.unknown_workload"};
inline constexpr ErrorCode kBadWorkload{"engine.bad_workload"};

/// What the stages `compute`, `all_to_all` and `validate_output` work on.
struct MessageSpec {
  std::int64_t elements = 0;         ///< floats of the message of a rank, cut into equal parts for all ranks
  std::int64_t matrix = 0;           ///< each `compute` multiplies square matrices of this size ...
  std::int64_t multiplications = 0;  ///< ... so often

  bool operator==(const MessageSpec&) const = default;
};

/// What is trained: shapes, data and optimizers. Sizes are per rank where nothing else is said.
struct Workload {
  std::string name;
  std::string description;
  int ranks = 1;
  std::int64_t batch = 0;  ///< samples a batch
  std::int64_t steps = 0;
  std::int64_t distinct_batches = 0;  ///< made beforehand and used in turn
  std::optional<DenseSpec> dense;     ///< none: no model, only a message
  std::vector<ModuleSpec> modules;    ///< sharded, in the order in which the model calls them
  std::optional<ModuleSpec> data_parallel;
  /// The sharded modules weigh each id by a learned weight of its place in its bag.
  bool feature_processors = false;
  TableOptimizerSpec table_optimizer;
  float dense_rate = 0.1F;                       ///< SGD
  std::int64_t bucket_bytes = 25 * 1024 * 1024;  ///< gradients are reduced in buckets of at least this size
  std::optional<MessageSpec> message;
  std::uint64_t seed = 1;

  bool operator==(const Workload&) const = default;
};

inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 30;
inline constexpr std::int64_t kMostSamples = std::int64_t{1} << 24;  ///< of a batch

/// What the command line says instead of the workload.
struct WorkloadChanges {
  std::optional<int> ranks;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> steps;
  bool feature_processors = false;  ///< true: as Workload::feature_processors
};
/// Throws engine.bad_workload where the workload has nothing of the kind, or cannot be on so many ranks.
void change(Workload& workload, const WorkloadChanges& changes);

/// Reads a workload (docs/engine.md has the fields). `source` names the text in messages. Throws engine.bad_workload.
[[nodiscard]] Workload parse_workload(std::string_view text, const std::string& source);

/// One built-in workload: a file of engine/workload/library/, compiled in.
struct WorkloadEntry {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const WorkloadEntry> workload_library();
/// Throws engine.unknown_workload where none has this name.
[[nodiscard]] const WorkloadEntry& built_in_workload(const std::string& name);

/// A built-in workload, or a file (anything that ends in ".json"). Throws engine.unknown_workload, engine.bad_workload.
[[nodiscard]] Workload load_workload(const std::string& name_or_file);

}  // namespace interlace::engine
