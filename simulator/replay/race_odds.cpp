#include "simulator/replay/race_odds.hpp"

namespace interlace::replay {

namespace {

/// Part of the meetings that kernels won, by kind, over the recordings of fifteen jobs of TorchRec and of the engine.
constexpr std::array<double, kMeetings> kKernelFirst{0.76, 0.76, 0.64};
/// Meetings that these count for beside those of a recording, and those beside the ones of a single pair.
constexpr double kUsualMeetings = 4.0;

double shrunk(const MeetingsSeen& seen, double usual) {
  return (usual * kUsualMeetings + seen.kernel_first) / (kUsualMeetings + seen.meetings);
}

}  // namespace

void MeetingsSeen::add(const MeetingsSeen& more) {
  kernel_first += more.kernel_first;
  meetings += more.meetings;
}

RaceOdds::RaceOdds(const std::array<MeetingsSeen, kMeetings>& seen) {
  for (std::size_t m = 0; m < kMeetings; ++m) usual_[m] = shrunk(seen[m], kKernelFirst[m]);
}

void RaceOdds::see(SiteId kernel, Meeting meeting, const MeetingsSeen& seen) { seen_[{kernel, meeting}].add(seen); }

double RaceOdds::kernel_first(SiteId kernel, Meeting meeting) const {
  const auto found = seen_.find({kernel, meeting});
  const double usual = usual_[static_cast<std::size_t>(meeting)];
  return found == seen_.end() ? usual : shrunk(found->second, usual);
}

}  // namespace interlace::replay
