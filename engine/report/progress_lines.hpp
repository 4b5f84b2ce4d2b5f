#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>

namespace interlace::engine {

/// Tells how far a training is, in lines that come at most every so often: a short run says nothing.
class ProgressLines {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEvery{5};

  /// batches: all of them, those that are not timed too.
  ProgressLines(std::ostream& out, std::int64_t batches, Clock::time_point now = Clock::now());

  /// To be called when the host turns to a batch, from 0.
  void begin(std::int64_t batch, Clock::time_point now = Clock::now());

 private:
  std::ostream* out_;
  std::int64_t batches_;
  Clock::time_point told_;
};

}  // namespace interlace::engine
