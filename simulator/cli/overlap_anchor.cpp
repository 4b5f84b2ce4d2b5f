#include "simulator/cli/overlap_anchor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "simulator/cli/prediction_row.hpp"

namespace interlace::cli {

namespace {

/// Slope of other schedules' errors over the recorded one's: see docs/accuracy.md
/// (tools/accuracy/shared_hidden_error.py).
constexpr double kSharedHiddenError = 0.5;

/// Parts nearer to none or all than this tell no more than that.
constexpr double kLeastPart = 0.01;

double log_odds(double part) {
  const double known = std::clamp(part, kLeastPart, 1.0 - kLeastPart);
  return std::log(known / (1.0 - known));
}

/// The part whose odds are `by` times those of this one: none stays none, and all stays all.
double with_odds_times(double by, double part) { return by * part / (1.0 - part + by * part); }

double part_of(double log_odds) { return 1.0 / (1.0 + std::exp(-log_odds)); }

}  // namespace

OverlapAnchor::OverlapAnchor(const analysis::OverlapSummary& recorded, const analysis::OverlapSummary& replayed)
    : replayed_(replayed.communication_hidden_ratio()) {
  const auto was = recorded.communication_hidden_ratio();
  if (was && replayed_) error_ = log_odds(*replayed_) - log_odds(*was);
}

void OverlapAnchor::correct(analysis::OverlapSummary& overlap, double likeness) const {
  const auto predicted = overlap.communication_hidden_ratio();
  if (!predicted || error_ == 0) return;
  const double shared = std::lerp(kSharedHiddenError, 1.0, likeness);
  const double hidden = likeness == 1.0 ? part_of(log_odds(*predicted) - error_)
                                        : with_odds_times(std::exp(-shared * error_), *predicted);
  const Nanoseconds more =
      std::llround(hidden * static_cast<double>(overlap.communication_ns)) - overlap.communication_hidden_ns;
  overlap.communication_hidden_ns += more;
  overlap.exposed_communication_ns -= more;
}

double likeness(const analysis::OverlapSummary& recorded, const analysis::OverlapSummary& other) {
  constexpr double kOther = 0.01;
  const auto apart = [&](Nanoseconds analysis::OverlapSummary::*of) {
    return static_cast<double>(std::abs(recorded.*of - other.*of));
  };
  const double all = apart(&analysis::OverlapSummary::step_ns) +
                     apart(&analysis::OverlapSummary::exposed_communication_ns) +
                     apart(&analysis::OverlapSummary::idle_ns);
  return 1.0 - std::min(1.0, all / (kOther * std::max(1.0, static_cast<double>(recorded.step_ns))));
}

OverlapAnchor overlap_anchor(const analysis::OverlapSummary& recorded, const replay::Predictor& unedited,
                             const schedule::Schedule& schedule, replay::PredictOptions options) {
  options.simulation.as_recorded = true;
  return {recorded, predicted_overlap(unedited.simulate_runs(schedule, options)).mean};
}

}  // namespace interlace::cli
