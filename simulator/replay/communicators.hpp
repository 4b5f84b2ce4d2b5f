#pragma once

#include <cstdint>
#include <vector>

#include "simulator/graph/process_groups.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Places of ranks in a recording, in ascending order.
using Members = std::vector<std::uint32_t>;

/// Which ranks meet in the collectives of a recording: those of the process group, or all who may be in it where
/// several groups have one name and nothing tells them apart. Collectives whose group has no name are of all ranks.
class Communicators {
 public:
  /// All recorded ranks: always the first communicator.
  static constexpr std::uint32_t kAll = 0;

  /// groups: of the recording that was cut; they must outlive this.
  Communicators(const graph::ProcessGroups& groups, const stages::Cut& cut);

  /// That a collective is of; kAll for other work.
  [[nodiscard]] std::uint32_t of(trace::OperationId work) const;
  [[nodiscard]] const std::vector<Members>& all() const { return members_; }

 private:
  const graph::ProcessGroups* groups_;
  std::vector<Members> members_;
  std::vector<std::uint32_t> of_group_;  ///< by process group
};

}  // namespace interlace::replay
