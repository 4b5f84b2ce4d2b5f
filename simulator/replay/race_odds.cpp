#include "simulator/replay/race_odds.hpp"

#include <cmath>

namespace interlace::replay {

namespace {

/// Part of the meetings that kernels won, by kind, over the recordings of fifteen jobs of TorchRec and of the engine.
constexpr std::array<double, kMeetings> kKernelFirst{0.76, 0.76, 0.64};
/// Meetings that these count for beside those of a recording, and those beside the ones of a single pair.
constexpr double kUsualMeetings = 4.0;

/// What a wait more takes from the logarithm of a kernel's odds against a collective behind another: from one wait to
/// two the same pairs went from 0.71 to 0.24 (25 pairs of the engine) and from 0.75 to 0.53 (124 of TorchRec).
constexpr double kLostToWait = 1.5;
/// What a waiting stream more takes from it: where a kernel ends, the next one of its stream was first in 440 of 448
/// meetings of TorchRec's sparse_dist and semi_sync, in 151 of 203 of fused_sparse_dist, whose lookup stream waits
/// meanwhile (seven jobs); in 349 of 683 and 41 of 252 of the engine's (eight).
constexpr double kLostToWaitingStream = 2.2;

double shrunk(const MeetingsSeen& seen, double usual) {
  return (usual * kUsualMeetings + seen.kernel_first) / (kUsualMeetings + seen.meetings);
}

}  // namespace

void MeetingsSeen::add(bool kernel_was_first) {
  kernel_first += kernel_was_first ? 1.0 : 0.0;
  meetings += 1.0;
}

RaceOdds::RaceOdds(const std::array<MeetingsSeen, kMeetings>& seen) {
  for (std::size_t m = 0; m < kMeetings; ++m) usual_[m] = shrunk(seen[m], kKernelFirst[m]);
}

void RaceOdds::see(trace::OperationId collective, SiteId kernel, Meeting meeting, bool kernel_was_first) {
  seen_[{kernel, meeting}].add(kernel_was_first);
  outcomes_[{collective, kernel, meeting}] = kernel_was_first;
}

std::optional<bool> RaceOdds::kernel_was_first(trace::OperationId collective, SiteId kernel, Meeting meeting) const {
  const auto found = outcomes_.find({collective, kernel, meeting});
  return found == outcomes_.end() ? std::nullopt : std::optional(found->second);
}

double RaceOdds::kernel_first(SiteId kernel, Meeting meeting, const Delays& more) const {
  const auto found = seen_.find({kernel, meeting});
  const double usual = usual_[static_cast<std::size_t>(meeting)];
  const double part = found == seen_.end() ? usual : shrunk(found->second, usual);
  const double lost = kLostToWait * more.waits + kLostToWaitingStream * more.waiting_streams;
  if (lost == 0) return part;
  const double odds = part / (1.0 - part) * std::exp(-lost);
  return odds / (1.0 + odds);
}

}  // namespace interlace::replay
