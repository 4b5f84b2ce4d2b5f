#pragma once

#include "simulator/check/findings.hpp"

namespace interlace::check {

struct WaitReview {
  std::vector<WaitUse> waits;
  bool redundant_together = true;
};

/// Takes each written wait out of a schedule and looks whether anything clashes then that did not before.
[[nodiscard]] WaitReview review_waits(const schedule::Schedule& schedule, const UnrollOptions& options);

}  // namespace interlace::check
