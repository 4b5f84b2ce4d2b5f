#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/id.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::stages {

/// A sharded module of the model, in the order in which the model calls them.
using ModuleId = Id<struct ModuleTag>;

/// A stage as TorchRec runs it has pieces that another schedule may place apart or fuse across modules.
enum class Piece : std::uint8_t {
  kWhole,
  kPermute,   ///< input_dist_start: bring the jagged input of a module into sharding order
  kExchange,  ///< input_dist_start: all-to-all of splits (of all modules at once, or of one)
  kSplits,    ///< input_dist_wait: the host reads the splits
  kTensors,   ///< input_dist_wait: the all-to-alls of a module's lengths, values, weights
  kDense,     ///< backward: dense arches and their gradient all-reduce
  kGradDist,  ///< backward: issue the gradient all-to-all of a module
  kUpdate,    ///< backward: gradient of the lookup with the fused table update
  kOrder,     ///< backward: what the update of a module needs to know of its ids; it needs no gradient
};
[[nodiscard]] std::string_view to_string(Piece piece);
[[nodiscard]] std::optional<Piece> piece_named(std::string_view word);

/// Stages that mostly leave no device work of their own: their host time is in the gaps of others, and the wait of
/// output_dist_wait is made anew (a reduce-scatter's result needs no assembling).
[[nodiscard]] bool mostly_without_work(schedule::Stage stage);

/// Names one segment of an iteration: the unit that schedules move.
struct SegmentKey {
  schedule::Stage stage = schedule::Stage::kCompute;
  Piece piece = Piece::kWhole;
  std::optional<ModuleId> module;

  /// Of backward: what works on the rows of tables. Without a module these are data-parallel ones, whose gradients
  /// count among the dense ones.
  [[nodiscard]] bool of_tables() const { return piece == Piece::kUpdate || piece == Piece::kOrder; }
  /// Of backward: the part of the dense net.
  [[nodiscard]] bool of_dense_part() const {
    return piece == Piece::kDense || piece == Piece::kWhole || (of_tables() && !module);
  }

  auto operator<=>(const SegmentKey&) const = default;
};

/// What the name of a range inside a stage's says: which part of the stage it is.
struct PartLabel {
  std::string_view module;  ///< empty: all
  Piece piece = Piece::kWhole;

  bool operator==(const PartLabel&) const = default;
};
/// "[ebc]", "[ebc:update]", "[:exchange]"; empty for the whole of a stage. `module` is empty for all modules.
[[nodiscard]] std::string part_label(std::string_view module, Piece piece);
/// None for a name of another form.
[[nodiscard]] std::optional<PartLabel> part_label_of(std::string_view name);

}  // namespace interlace::stages
