#pragma once

#include <string>
#include <vector>

#include "simulator/schedule/schedule.hpp"

namespace interlace::what_if {

/// One change to a schedule, and the schedule that it leads to.
struct Move {
  schedule::Schedule schedule;
  std::string text;  ///< "input_dist_wait(i+2) above output_dist_wait(i)"
};

/// All well-formed schedules that are one change away:
/// - a stage, with the waits and records that belong to it, or a loop over modules, at another place of the host's
/// order;
/// - a loop over modules in two, two neighbours in one, or a stage beside a loop taken into it;
/// - a stage of the input or the embeddings for a later batch, with all that it needs for it, or for an earlier one,
/// with
///   all that needs it;
/// - such a stage on another stream, also on one of its own; a stream that is another one's other name for itself, or
/// the
///   other way around; a stream more urgent, or less;
/// - a written wait left out;
/// - backward in its two parts, or both as one.
/// Whether they are free of races is not looked at: a wait may be missing, or have lost its sense. The same schedule
/// may come more than once. In an order that depends on the schedule only.
[[nodiscard]] std::vector<Move> moves(const schedule::Schedule& from);

}  // namespace interlace::what_if
