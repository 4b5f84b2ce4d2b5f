#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "simulator/base/id.hpp"
#include "simulator/trace/operation.hpp"

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

  void add(bool kernel_was_first);
};

/// What delays the start of a kernel beyond what a kernel needs that is alone.
struct Delays {
  double waits = 0;            ///< that its stream passes in front of it
  double waiting_streams = 0;  ///< of its priority, which wait for events as it becomes ready
};

/// Who starts first where kernels become ready together with the collectives of a site (docs/contention.md, "Who is
/// first"). What the recording shows of a pair counts most, then what it shows of that kind of meeting.
class RaceOdds {
 public:
  RaceOdds() : RaceOdds(std::array<MeetingsSeen, kMeetings>{}) {}
  /// `seen`: all meetings of the recording, by kind.
  explicit RaceOdds(const std::array<MeetingsSeen, kMeetings>& seen);

  /// Who was first where this instance of the collective met the kernel.
  void see(trace::OperationId collective, SiteId kernel, Meeting meeting, bool kernel_was_first);

  /// Probability that this kernel is first. `more`: what delays it here, less what did where the recording shows it.
  [[nodiscard]] double kernel_first(SiteId kernel, Meeting meeting, const Delays& more = {}) const;
  /// Was it first where the recording shows them to meet? None where it does not.
  [[nodiscard]] std::optional<bool> kernel_was_first(trace::OperationId collective, SiteId kernel,
                                                     Meeting meeting) const;

 private:
  std::array<double, kMeetings> usual_{};
  std::map<std::pair<SiteId, Meeting>, MeetingsSeen> seen_;
  std::map<std::tuple<trace::OperationId, SiteId, Meeting>, bool> outcomes_;
};

}  // namespace interlace::replay
