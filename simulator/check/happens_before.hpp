#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/check/program.hpp"

namespace interlace::check {

/// Which operations of a program are done before others begin, whatever the timing.
///
/// Each lane is a chain, so the operations before one are told by a number a lane: how many of that lane's are done
/// (a vector clock). A launch is behind all that the host did before; work is behind what its lane has; a wait joins
/// the clock of its mark. That is exact for programs of this kind: an operation is before another if and only if a path
/// of launches, lane order and waits leads there.
///
/// The host's reads inside stages (Instruction::Cause::kStageRead) order things only if `stage_reads`: a stage may know
/// its result already, so a sound schedule does not rely on them.
class HappensBefore {
 public:
  /// The program must outlive it.
  HappensBefore(const Program& program, bool stage_reads);

  [[nodiscard]] bool before(OperationIndex earlier, OperationIndex later) const;
  /// Whether all that stands in front of a mark includes the operation.
  [[nodiscard]] bool covered(OperationIndex operation, MarkIndex mark) const;
  /// The newest operation of a lane that is before `later`; none where no operation of the lane is.
  [[nodiscard]] std::optional<OperationIndex> newest_before(LaneIndex lane, OperationIndex later) const;
  /// How many operations of each lane are done when the operation begins, itself included on its own lane.
  [[nodiscard]] std::span<const std::uint32_t> clock(OperationIndex operation) const;
  /// The operations of a lane in order.
  [[nodiscard]] const std::vector<OperationIndex>& on_lane(LaneIndex lane) const { return on_lane_[lane.index()]; }

 private:
  [[nodiscard]] std::uint32_t at(OperationIndex operation, LaneIndex lane) const {
    return clocks_[operation.index() * lanes_ + lane.index()];
  }

  const Program* program_;
  std::size_t lanes_;
  std::vector<std::uint32_t> clocks_;  ///< by operation, then lane
  std::vector<std::uint32_t> marks_;   ///< by mark, then lane
  std::vector<std::uint32_t> place_;   ///< of each operation on its lane, from 1
  std::vector<std::vector<OperationIndex>> on_lane_;
};

/// The smallest number of batches after which every iteration orders its operations exactly as the one before, so that
/// more batches show nothing new, and then some to drain. See docs/check.md for why that suffices.
[[nodiscard]] std::int64_t batches_to_steady_state(const schedule::Schedule& schedule, const UnrollOptions& options);

/// Runs that end before their pipeline has filled lack what both ends lack, so that less is in order: the numbers of
/// batches for which what belongs to one batch can meet both ends.
[[nodiscard]] std::vector<std::int64_t> lengths_of_short_runs(const schedule::Schedule& schedule);

}  // namespace interlace::check
