#pragma once

namespace interlace::replay {

/// What a kernel starts later, in ns, where another stream whose commands are fetched through the same queue has
/// unfinished work, and where a copy from the host runs besides (command_queues.hpp).
inline constexpr double kFetchBesideWork = 1'300;
inline constexpr double kFetchBesideCopies = 4'500;

struct FetchDelays {
  double beside_work_ns = kFetchBesideWork;
  double beside_copies_ns = kFetchBesideCopies;
};

/// How often a stream of which nothing is known is in the queue of the main one.
inline constexpr double kUnknownQueue = 0.5;

/// How often two streams share one of the two queues, where each is in the main stream's so often.
[[nodiscard]] constexpr double in_one_queue(double one, double other) {
  return one * other + (1.0 - one) * (1.0 - other);
}

}  // namespace interlace::replay
