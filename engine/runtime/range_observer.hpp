#pragma once

#include <string>

namespace interlace::engine {

/// Is told of each range that a rank's host enters and leaves, in the host's order and on its thread. What it throws
/// ends the run as a failure of that rank.
class RangeObserver {
 public:
  RangeObserver() = default;
  RangeObserver(const RangeObserver&) = delete;
  RangeObserver& operator=(const RangeObserver&) = delete;
  RangeObserver(RangeObserver&&) = delete;
  RangeObserver& operator=(RangeObserver&&) = delete;
  virtual ~RangeObserver() = default;

  virtual void entered(int rank, const std::string& range) = 0;
  virtual void left(int rank) noexcept = 0;
};

}  // namespace interlace::engine
