#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace interlace::engine {

/// How a table is spread over the ranks.
enum class Sharding : std::uint8_t {
  kTableWise,   ///< one rank holds all of it
  kRowWise,     ///< each rank holds a block of its rows
  kColumnWise,  ///< each rank holds some columns of every row
};

/// An embedding table with its one jagged feature.
struct TableSpec {
  std::int64_t rows = 0;
  std::int32_t dim = 0;      ///< columns: floats a row
  std::int32_t pooling = 0;  ///< ids a sample, on average
  Sharding sharding = Sharding::kTableWise;

  bool operator==(const TableSpec&) const = default;
};

/// Ids in the longest bag of a table's feature.
[[nodiscard]] constexpr std::int32_t longest_bag(const TableSpec& table) { return 2 * table.pooling; }
/// Tables that the model looks up together: TorchRec's EmbeddingBagCollection. Rows are pooled by sum; a weighted one
/// multiplies each row by a weight that comes with the id.
struct ModuleSpec {
  std::string name;
  bool weighted = false;
  std::vector<TableSpec> tables;

  bool operator==(const ModuleSpec&) const = default;
};

/// Floats of a sample's pooled embeddings: the sum over the tables.
[[nodiscard]] constexpr std::int64_t pooled_width(const ModuleSpec& module) {
  std::int64_t width = 0;
  for (const TableSpec& table : module.tables) width += table.dim;
  return width;
}

/// The fused optimizer of the sharded tables.
enum class TableOptimizer : std::uint8_t {
  kSgd,             ///< row -= rate * g
  kRowWiseAdagrad,  ///< m += mean(g * g) over the row's columns; row -= rate / (sqrt(m) + epsilon) * g
  kAccumulate,      ///< row += g: for gradients of tables whose optimizer is not fused
};

struct TableOptimizerSpec {
  TableOptimizer kind = TableOptimizer::kSgd;
  float rate = 0.1F;
  float epsilon = 1e-8F;

  bool operator==(const TableOptimizerSpec&) const = default;
};

}  // namespace interlace::engine
