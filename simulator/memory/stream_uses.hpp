#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::memory {

/// A call of record_stream, said in terms of the schedule: so that it means something under another one.
struct StreamUse {
  enum class Kind : std::uint8_t {
    kNamed,       ///< a stream that the step's `record_stream` names
    kOwn,         ///< the stream that the segment itself runs on
    kCollective,  ///< that of collectives, `number` of them
    kOther,       ///< any other of the schedule, `number` in Schedule::streams
  };
  stages::SegmentKey in;  ///< where it was called
  Kind kind = Kind::kOwn;
  std::uint32_t number = 0;

  auto operator<=>(const StreamUse&) const = default;
};

/// What the recorded streams of a rank are to the schedule that it was recorded under, by what ran on them.
class StreamRoles {
 public:
  StreamRoles(const trace::Trace& trace, const stages::RankCut& cut, const schedule::Schedule& recorded);

  /// None for a stream that no stage's work ran on.
  [[nodiscard]] std::optional<StreamUse> use(const stages::SegmentKey& in, trace::LaneId stream) const;

 private:
  const schedule::Schedule* recorded_;
  std::map<trace::LaneId, std::uint32_t> collectives_;
  std::map<trace::LaneId, schedule::StreamIndex> of_schedule_;
};

/// The stream that a segment runs on; none where the schedule does not run it.
[[nodiscard]] std::optional<schedule::StreamIndex> stream_of(const schedule::Schedule& schedule,
                                                             const stages::SegmentKey& segment);

/// The streams that a use stands for under a schedule. Those of collectives are numbered behind its own.
[[nodiscard]] std::vector<schedule::StreamIndex> streams_of(const StreamUse& use, const schedule::Schedule& recorded,
                                                            const schedule::Schedule& wanted);

}  // namespace interlace::memory
