#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulator/check/program.hpp"

namespace interlace::testing_support {

/// What running a program in some orders showed.
struct Explored {
  /// What the first wrong value was: which operation saw what. None: every value was right in every order that was run.
  std::optional<std::string> wrong;
  std::uint64_t states = 0;  ///< that were visited
  bool complete = true;      ///< false: there are more orders than the limit let through
};

/// Runs a program as a GPU might, one operation at a time, in every order that its queues and waits allow: the host
/// issues in order, each lane runs its queue in order, and whichever lane may go on may be the next. It knows queues,
/// marks, waits and memory, and no clock that says what is before what: so it can tell whether simulator/check is
/// right.
///
/// A value is the operation that wrote it. It is right if the operation that reads it sees the one that the host's
/// order puts there. Memory that was given back may be overwritten by any operation that takes memory of its pool
/// later, unless record_stream still keeps it when that is launched; whoever uses it after that sees garbage. Results
/// in another stream's pool may lie where work of that stream that was launched before still keeps temporaries.
struct Exploration {
  /// Runs at once what comes out the same whatever could run before it: found by running all else as far as it goes.
  /// Leaves the orders that can make a difference.
  bool reduced = true;
  std::uint64_t limit = 300'000;  ///< states, none of which is visited twice; gives up behind these
};
[[nodiscard]] Explored explore_all(const check::Program& program, const Exploration& how = {});

/// `runs` random orders from a seed.
[[nodiscard]] Explored explore_some(const check::Program& program, std::uint64_t seed, int runs);

}  // namespace interlace::testing_support
