#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "simulator/base/id.hpp"

namespace interlace::replay {

using SiteId = Id<struct SiteTag>;

/// What made a collective and a kernel ready together.
enum class Meeting : std::uint8_t {
  kBehindKernel,     ///< a kernel ended: the next of its stream meets a collective that waited for that stream
  kOnIssuingStream,  ///< a collective ended: the next one meets a kernel of the stream that issued it
  kOnAnotherStream,  ///< the same, with a kernel of another stream
};
inline constexpr std::size_t kMeetings = 3;

/// How many meetings were seen, and in how many of them the kernel started first.
struct MeetingsSeen {
  double kernel_first = 0;
  double meetings = 0;

  void add(const MeetingsSeen& more);
};

/// Who starts first where kernels become ready together with the collectives of a site (docs/contention.md, "Who is
/// first"). What the recording shows of a pair counts most, then what it shows of that kind of meeting.
class RaceOdds {
 public:
  RaceOdds() : RaceOdds(std::array<MeetingsSeen, kMeetings>{}) {}
  /// `seen`: all meetings of the recording, by kind.
  explicit RaceOdds(const std::array<MeetingsSeen, kMeetings>& seen);

  void see(SiteId kernel, Meeting meeting, const MeetingsSeen& seen);

  /// Probability that this kernel is first.
  [[nodiscard]] double kernel_first(SiteId kernel, Meeting meeting) const;

 private:
  std::array<double, kMeetings> usual_{};
  std::map<std::pair<SiteId, Meeting>, MeetingsSeen> seen_;
};

}  // namespace interlace::replay
