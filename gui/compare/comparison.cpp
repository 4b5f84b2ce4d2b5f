#include "gui/compare/comparison.hpp"

namespace interlace::gui {

Comparison::Comparison(const Run& measured, const Run& predicted, std::ptrdiff_t offset, AlignBy by,
                       const std::array<Nanoseconds, kSides>& anchors) {
  const auto measured_step = aligned_step(measured, offset);
  const auto predicted_step = aligned_step(predicted, offset);
  if (!measured_step || !predicted_step || !measured_step->batch || !predicted_step->batch) return;
  matching_ = Matching(measured, *measured_step->batch, predicted, *predicted_step->batch);
  if (const auto sides = aligned(measured, predicted, offset, by, anchors)) {
    leads_ = gui::leads(measured, (*sides)[0], predicted, (*sides)[1], matching_);
  }
  constexpr int kWorthTelling = 1000;
  if (by == AlignBy::kStep) won_ = won_by_stage(measured, leads_, measured_step->span.length() / kWorthTelling);
}

}  // namespace interlace::gui
