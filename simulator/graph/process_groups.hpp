#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// The recorded ranks that meet in the collectives of one process group.
struct ProcessGroup {
  std::string name;                  ///< as recorded; empty where none was
  std::vector<trace::RankId> ranks;  ///< in ascending order; not all of the group where not all were recorded
  bool shares_its_name = false;      ///< with other groups of this size
  bool is_ambiguous = false;         ///< these ranks are in several groups, and nobody can tell who is in which
};

/// Which ranks of a recording wait for each other in which collectives.
///
/// What is recorded of a group: NCCL's profiler interface tells of each collective its communicator, which has a number
/// of its own among all of the job, and a sequence number within it. The collector makes the number part of the group's
/// name in .ilt files, so that these names are never shared. PyTorch's profiler (Kineto) writes c10d's name of the
/// group ("0" for all ranks, then "1" ...), how many ranks it has, and in newer versions `Seq`, the number of the
/// collective within it. c10d counts names on each rank, so where each rank makes only the groups it is in
/// (split_group, as a device mesh does for each of its dimensions), all groups of the dimension have one name, one size
/// and the same sequence numbers, but in versions that make such names from the ranks; and a name may come again when
/// its group is gone. Older versions write no name.
///
/// So collectives of one name and one size are of one group as long as no more ranks have them than fit into it. Where
/// more have, that many groups share the name, and ranks are of one group where nearly all of their collectives that
/// belong together by sequence number, else by order, ran at the same time. Such a group may lack ranks: those that
/// were not recorded. Two cases remain ambiguous: more ranks that ran together than the group has, since groups ran
/// side by side; and several ranks none of which ran together with any other, since the clocks of their hosts differ
/// or the name was of different groups over time. Collectives whose group has no name are held apart by the order of
/// their streams on the rank, for c10d gives each group a stream of its own. Those without a size are of all ranks that
/// have the name.
///
/// Sends and receives belong to a group, but are of two of its ranks and in no common order, so they tell of no one
/// else. O(n log n) for n collectives, and O(n) more for each rank and each group of a name that is shared.
class ProcessGroups {
 public:
  /// Counts the collectives of ambiguous groups (graph.ambiguous_group).
  ProcessGroups(const trace::Trace& trace, Diagnostics& diagnostics);

  [[nodiscard]] const std::vector<ProcessGroup>& all() const { return groups_; }
  /// The place in all() of the group that a collective is of; none for other work.
  [[nodiscard]] std::optional<std::size_t> of(trace::OperationId work) const;

 private:
  std::vector<ProcessGroup> groups_;
  std::unordered_map<trace::OperationId, std::size_t> of_collective_;
};

inline constexpr DiagnosticKind kAmbiguousGroup{
    "graph.ambiguous_group", Severity::kWarning,
    "collectives of several process groups that have one name, where the times do not tell which ranks wait for each "
    "other; the dependency graph joins them with none, and in predictions all of these ranks wait for each other",
    "give each process group a name of its own; predictions let ranks wait that do not"};

}  // namespace interlace::graph
