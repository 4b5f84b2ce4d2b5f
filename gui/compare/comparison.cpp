#include "gui/compare/comparison.hpp"

#include "gui/compare/alignment.hpp"

namespace interlace::gui {

Comparison::Comparison(const Run& measured, const Run& predicted, std::ptrdiff_t step) {
  const auto measured_step = step_at(measured.first_steps(), step);
  const auto predicted_step = step_at(predicted.first_steps(), step);
  if (!measured_step || !predicted_step) return;
  const auto measured_batch = trained_batch(measured, *measured_step);
  const auto predicted_batch = trained_batch(predicted, *predicted_step);
  if (!measured_batch || !predicted_batch) return;
  matching_ = Matching(measured, *measured_batch, predicted, *predicted_batch);
  leads_ = gui::leads(measured, *measured_step, predicted, *predicted_step, matching_);
}

}  // namespace interlace::gui
