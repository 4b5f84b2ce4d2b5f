#include "simulator/replay/communicators.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace interlace::replay {

namespace {

Members places_of(const graph::ProcessGroup& group, const stages::Cut& cut) {
  Members places;
  for (std::uint32_t r = 0; r < cut.ranks.size(); ++r) {
    if (std::ranges::binary_search(group.ranks, cut.ranks[r].rank)) places.push_back(r);
  }
  return places;
}

}  // namespace

Communicators::Communicators(const graph::ProcessGroups& groups, const stages::Cut& cut)
    : groups_(&groups), members_(1, Members(cut.ranks.size())) {
  std::iota(members_.front().begin(), members_.front().end(), 0);
  for (const graph::ProcessGroup& group : groups.all()) {
    Members members = places_of(group, cut);
    if (group.name.empty() || members.empty() || members == members_.front()) {
      of_group_.push_back(kAll);
      continue;
    }
    of_group_.push_back(static_cast<std::uint32_t>(members_.size()));
    members_.push_back(std::move(members));
  }
}

std::uint32_t Communicators::of(trace::OperationId work) const {
  const auto group = groups_->of(work);
  return group ? of_group_[*group] : kAll;
}

}  // namespace interlace::replay
