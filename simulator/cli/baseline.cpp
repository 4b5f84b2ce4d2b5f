#include "simulator/cli/baseline.hpp"

#include <utility>

#include "simulator/analysis/compare.hpp"
#include "simulator/cli/prediction_row.hpp"

namespace interlace::cli {

Replayed replayed(const schedule::Schedule& schedule, const replay::Predictor& predictor, const trace::Trace& recorded,
                  const replay::PredictOptions& options, bool keeps_trace) {
  replay::Prediction prediction = predictor.predict(schedule, options);
  analysis::StepAnalysis steps = analyse_prediction(prediction, recorded);
  prediction.simulated = {};
  if (!keeps_trace) const trace::Trace given_back = std::move(prediction.trace);
  return {std::move(prediction), std::move(steps)};
}

Nanoseconds Baseline::step_time() const {
  const Nanoseconds replayed = itself_.prediction.step_time;
  return step_ ? step_->corrected(replayed, 1.0) : replayed;
}

void Baseline::judge(Diagnostics& diagnostics) const {
  if (step_) step_->judge(diagnostics);
}

void Baseline::describe(report::RecordedRun& recorded) const {
  recorded.predicted_step_time_ns = step_time();
  if (step_) recorded.replay_error = step_->error();
  if (overlap_) recorded.replayed_hidden_ratio = overlap_->replayed_ratio();
}

void Baseline::relate(const Replayed& schedule, report::Prediction& row) const {
  const double alike = likeness(itself_.steps.overlap.mean, schedule.steps.overlap.mean);
  if (step_) {
    for (Nanoseconds* time : {&row.step_time_ns, &row.step_time_low_ns, &row.step_time_high_ns}) {
      *time = step_->corrected(*time, alike);
    }
  }
  if (overlap_) overlap_->correct(row.overlap, alike);
  row.speedup = static_cast<double>(step_time()) / static_cast<double>(row.step_time_ns);
  for (analysis::Reason& reason : analysis::compare(itself_.steps, schedule.steps)) {
    row.reasons.push_back(std::move(reason.text));
  }
}

std::future<Baseline> replay_recorded(const BaselineJob& job, AtOnce& all) {
  const auto measured_ns = job.predictor->sites().unrecorded_step_ns;
  const bool under_recorder = job.options.simulation.as_recorded;
  const bool has_overlap = job.is_corrected && job.overlap;
  const bool has_step = job.is_corrected && measured_ns && !under_recorder;
  // Errors are those of the job as it was recorded, whatever is asked for.
  const bool as_it_is = job.predictor == job.edited && job.options.simulation.machine.contention;
  replay::PredictOptions options = job.options;
  options.simulation.machine.contention = true;

  auto itself = all.add("replaying " + job.schedule->name, [job] {
    return replayed(*job.schedule, *job.edited, *job.trace, job.options, job.keeps_trace);
  });
  SharedReplays own;
  SharedReplays& replays = job.shared == nullptr ? own : *job.shared;
  const bool needs_overlap = has_overlap && !(as_it_is && under_recorder);
  if (needs_overlap && !replays.overlap.valid()) {
    replays.overlap = all.add("replaying the recording", [job, options] {
      return overlap_anchor(*job.overlap, *job.predictor, *job.schedule, options);
    });
  }
  const bool needs_step = has_step && !as_it_is;
  if (needs_step && !replays.step.valid()) {
    replays.step = all.add("replaying the recorded job",
                           [job, options] { return job.predictor->step_time(*job.schedule, options); });
  }
  return std::async(std::launch::deferred, [=, itself = std::move(itself), recorded = job.overlap,
                                            overlap = needs_overlap ? replays.overlap : decltype(replays.overlap)(),
                                            step = needs_step ? replays.step : decltype(replays.step)()]() mutable {
    Replayed got = itself.get();
    std::optional<OverlapAnchor> overlap_off;
    if (overlap.valid()) {
      overlap_off = overlap.get();
    } else if (has_overlap) {
      overlap_off.emplace(*recorded, got.steps.overlap.mean);
    }
    std::optional<replay::Anchor> step_off;
    if (has_step) step_off.emplace(*measured_ns, step.valid() ? step.get() : got.prediction.step_time);
    return Baseline(std::move(got), step_off, overlap_off);
  });
}

}  // namespace interlace::cli
