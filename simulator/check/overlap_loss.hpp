#pragma once

#include <vector>

#include "simulator/check/findings.hpp"

namespace interlace::check {

/// `losses`: streams that a lost overlap has made so are left to its fix. Streams whose work is ordered with all work
/// of another stream as if it ran there: making the one the other takes no overlap away. Found by doing so and
/// comparing what is ordered.
[[nodiscard]] std::vector<PointlessStream> find_pointless_streams(const Examined& examined,
                                                                  const std::vector<LostOverlap>& losses);

/// A lost overlap, and the schedule with its wait moved up.
struct MendedLoss {
  LostOverlap lost;
  schedule::Schedule mended;
};

/// Stages that read on the host behind a wait of their stream for all that is queued on another, where that holds work
/// of this iteration that the wait need not cover: with the wait above that work nothing clashes that did not before.
[[nodiscard]] std::vector<MendedLoss> find_lost_overlaps(const Examined& examined);

}  // namespace interlace::check
