#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"

namespace interlace::schedule {

inline constexpr ErrorCode kUnreadable{"schedule.unreadable"};
inline constexpr ErrorCode kSyntax{"schedule.syntax"};
inline constexpr ErrorCode kUnknownVersion{"schedule.unknown_version"};
inline constexpr ErrorCode kUnknownStage{"schedule.unknown_stage"};
inline constexpr ErrorCode kUnknownStream{"schedule.unknown_stream"};
inline constexpr ErrorCode kUnknownField{"schedule.unknown_field"};
inline constexpr ErrorCode kRepeatedField{"schedule.repeated_field"};
inline constexpr ErrorCode kMissingField{"schedule.missing_field"};
inline constexpr ErrorCode kMisplacedField{"schedule.misplaced_field"};
inline constexpr ErrorCode kBadValue{"schedule.bad_value"};
inline constexpr ErrorCode kDuplicateStream{"schedule.duplicate_stream"};
inline constexpr ErrorCode kDuplicateEvent{"schedule.duplicate_event"};
inline constexpr ErrorCode kSameAsCycle{"schedule.same_as_cycle"};
inline constexpr ErrorCode kEventNeverRecorded{"schedule.event_never_recorded"};
inline constexpr ErrorCode kEventTooEarly{"schedule.event_too_early"};
inline constexpr ErrorCode kNestedForEach{"schedule.nested_for_each"};
inline constexpr ErrorCode kRepeatedStage{"schedule.repeated_stage"};
inline constexpr ErrorCode kMissingStage{"schedule.missing_stage"};
inline constexpr ErrorCode kBatchOrder{"schedule.batch_order"};
inline constexpr ErrorCode kIncompleteBackward{"schedule.incomplete_backward"};
inline constexpr ErrorCode kNoSuchSchedule{"schedule.no_such_schedule"};

/// One thing that is wrong in a schedule.
struct Problem {
  ErrorCode code;
  int line = 0;      ///< 1-based; 0: the file as a whole
  std::string text;  ///< what is wrong and what to do, one sentence
};

/// A schedule that cannot be used. what() holds every problem, one a line; code(), place() and problem() are those of
/// the first.
class InvalidSchedule : public Error {
 public:
  /// Requires at least one problem. They are sorted by line; those of one line keep their order.
  InvalidSchedule(const std::string& source, std::vector<Problem> problems);

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  /// The schedule's file, or what else it came from.
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::vector<Problem> problems_;
};

}  // namespace interlace::schedule
