#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Places of ranks in a recording, in ascending order.
using Members = std::vector<std::uint32_t>;

/// Which ranks meet in the collectives of a recording, by their process groups. PyTorch may call several groups that
/// share no rank by one name, as those of one dimension of a mesh: they are told apart by whose kernels always run at
/// the same time, where the recording says how many ranks a group has. Collectives without a group are of all ranks.
class Communicators {
 public:
  /// All recorded ranks: always the first communicator.
  static constexpr std::uint32_t kAll = 0;

  /// Of the collectives in the cut iterations. Counts replay.groups_unclear.
  Communicators(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics);

  /// That a collective of this rank is of.
  [[nodiscard]] std::uint32_t of(trace::OperationId collective, std::uint32_t rank) const;
  [[nodiscard]] const std::vector<Members>& all() const { return members_; }

 private:
  struct GroupOfName;
  using Groups = std::map<trace::StringId, GroupOfName>;

  void gather(const stages::RankCut& cut, std::uint32_t rank, Groups& groups) const;
  void add(const GroupOfName& group, const Members& members);

  const trace::Trace* trace_;
  std::vector<Members> members_;
  std::map<std::pair<trace::StringId, std::uint32_t>, std::uint32_t> of_rank_;  ///< by group and rank
};

inline constexpr DiagnosticKind kGroupsUnclear{
    "replay.groups_unclear", Severity::kWarning,
    "process groups of one name of which the recording does not show who is in which: all of their ranks meet in "
    "replay",
    "give the groups names of their own; predictions let ranks wait that do not"};

}  // namespace interlace::replay
