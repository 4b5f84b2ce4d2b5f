#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "gui/session/run.hpp"

namespace interlace::gui {

/// The batch that a step trains: that of the last operation of an optimizer step that ends in it. None where the trace
/// does not tell.
[[nodiscard]] std::optional<std::int32_t> trained_batch(const Run& run, Interval step);

/// Which operations of two runs are the same piece of work: device work of one rank, stage and name, the n-th of its
/// batch; and the host calls that launched it. Batches are told apart by how far they are from the one that the aligned
/// steps train, so that what is aligned is what is matched.
class Matching {
 public:
  /// Nothing matches.
  Matching() = default;
  /// measured_batch, predicted_batch: what the aligned steps train.
  Matching(const Run& measured, std::int32_t measured_batch, const Run& predicted, std::int32_t predicted_batch);

  [[nodiscard]] std::optional<trace::OperationId> predicted_of(trace::OperationId measured) const;
  [[nodiscard]] std::optional<trace::OperationId> measured_of(trace::OperationId predicted) const;
  [[nodiscard]] std::size_t size() const { return predicted_of_.size(); }

 private:
  void join(trace::OperationId measured, trace::OperationId predicted);

  std::unordered_map<trace::OperationId, trace::OperationId> predicted_of_;
  std::unordered_map<trace::OperationId, trace::OperationId> measured_of_;
};

}  // namespace interlace::gui
