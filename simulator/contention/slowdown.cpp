#include "simulator/contention/slowdown.hpp"

#include <algorithm>

namespace interlace::contention {

double memory_slowdown(std::int32_t ctas) { return ctas <= 1 ? 1.0 : 1.0 + 0.22 * std::min(ctas, 48) / 32.0; }

double compute_slowdown(const KernelShape& shape, std::int32_t ctas) {
  const auto alone = static_cast<double>(shape.waves_on(shape.sm_count));
  const auto shared = static_cast<double>(shape.waves_on(shape.sm_count - ctas));
  return shared / alone;
}

double slowdown(const KernelShape& shape, std::int32_t ctas) {
  return shape.bound == Bound::kCompute ? compute_slowdown(shape, ctas) : memory_slowdown(ctas);
}

double freed_of_collectives(const KernelShape& shape, double measured, double covered, std::int32_t ctas) {
  if (measured <= 0 || covered <= 0) return measured;
  if (shape.bound == Bound::kCompute && shape.waves() <= 1.0) {
    // A single round of blocks: those that found no SM free had to wait for the collective to end, or for the first
    // ones to retire, whichever was sooner.
    const bool had_to_wait = shape.waves_on(shape.sm_count - ctas) > 1;
    return had_to_wait ? std::max(measured - covered, measured / 2.0) : measured;
  }
  const double share = std::min(1.0, covered / measured);
  return measured * ((1.0 - share) + share / slowdown(shape, ctas));
}

}  // namespace interlace::contention
