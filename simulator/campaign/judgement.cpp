#include "simulator/campaign/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulator/base/statistics.hpp"

namespace interlace::campaign {

namespace {

double percent_off(double predicted, double measured) { return (predicted / measured - 1) * 100; }

ErrorSizes sizes_of(const std::vector<double>& errors) {
  ErrorSizes sizes{.mean = 0, .largest = 0, .count = errors.size()};
  for (const double error : errors) {
    sizes.mean += std::abs(error) / static_cast<double>(errors.size());
    sizes.largest = std::max(sizes.largest, std::abs(error));
  }
  return sizes;
}

/// Over the schedules that were predicted: not the recorded one, whose own figures correct its replay.
template <class Member>
ErrorSizes sizes_of(const std::vector<ScheduleJudgement>& rows, Member member) {
  std::vector<double> errors;
  for (const ScheduleJudgement& row : rows) {
    if (row.*member && !row.recorded) errors.push_back(*(row.*member));
  }
  return sizes_of(errors);
}

/// What one schedule's runs came to.
class RunsOf {
 public:
  RunsOf(std::span<const MeasuredRun> runs, const std::string& schedule) {
    for (const MeasuredRun& run : runs) {
      if (run.schedule != schedule) continue;
      if (run.failure) {
        failure_ = run.failure;
      } else {
        runs_.push_back(&run);
      }
    }
  }
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }
  [[nodiscard]] const std::vector<const MeasuredRun*>& runs() const { return runs_; }

  [[nodiscard]] double median_ms() const {
    std::vector<double> steps;
    for (const MeasuredRun* run : runs_) steps.push_back(run->step_ms);
    return statistics::median(std::move(steps));
  }
  /// None of a single run, which says nothing of another.
  [[nodiscard]] std::optional<double> spread_ms() const {
    if (runs_.size() < 2) return std::nullopt;
    const double median = median_ms();
    double most = 0;
    for (const MeasuredRun* run : runs_) most = std::max(most, std::abs(run->step_ms - median));
    return most;
  }
  /// By rank, the median of the runs; of the ranks that all runs have.
  [[nodiscard]] std::vector<double> peaks(std::vector<Bytes> MeasuredRun::*member) const {
    std::size_t ranks = runs_.empty() ? 0 : (runs_.front()->*member).size();
    for (const MeasuredRun* run : runs_) ranks = std::min(ranks, (run->*member).size());
    std::vector<double> medians;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<double> values;
      for (const MeasuredRun* run : runs_) values.push_back(static_cast<double>((run->*member)[rank]));
      medians.push_back(statistics::median(std::move(values)));
    }
    return medians;
  }

 private:
  std::vector<const MeasuredRun*> runs_;
  std::optional<std::string> failure_;
};

struct PeakError {
  std::optional<Bytes> measured;
  std::optional<Bytes> predicted;
  std::optional<double> error;
};

/// measured: of all ranks, from 0. predicted: of `ranks`, where these are told; the others are left out on both sides.
PeakError compare_peaks(const std::vector<double>& measured, const std::vector<Bytes>& predicted,
                        const std::vector<std::int32_t>& ranks) {
  PeakError result;
  if (predicted.empty() && !measured.empty()) result.measured = std::llround(std::ranges::max(measured));
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const std::size_t rank = ranks.empty() ? i : static_cast<std::size_t>(ranks[i]);
    result.predicted = std::max(result.predicted.value_or(0), predicted[i]);
    if (rank >= measured.size() || measured[rank] <= 0) continue;
    result.measured = std::max(result.measured.value_or(0), Bytes{std::llround(measured[rank])});
    const double error = percent_off(static_cast<double>(predicted[i]), measured[rank]);
    if (!result.error || std::abs(error) > std::abs(*result.error)) result.error = error;
  }
  return result;
}

/// Of the mean of these; none of less than two.
std::optional<double> standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = statistics::mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / (count - 1) / count);
}

class Judge {
 public:
  Judge(const PredictionFile& prediction, std::span<const MeasuredRun> runs, std::span<const MeasuredTrace> traces)
      : prediction_(&prediction), runs_(runs), traces_(traces), base_(prediction.find(prediction.recorded)) {
    const RunsOf of_recorded(runs, prediction.recorded);
    if (!of_recorded.runs().empty()) base_ms_ = of_recorded.median_ms();
  }

  Judgement run() {
    for (const PredictedSchedule& predicted : prediction_->schedules) {
      const RunsOf of_schedule(runs_, predicted.schedule);
      if (of_schedule.runs().empty() && !of_schedule.failure()) continue;
      result_.schedules.push_back(row_of(predicted, of_schedule));
    }
    const auto& rows = result_.schedules;
    result_.speedup = sizes_of(rows, &ScheduleJudgement::speedup_error);
    result_.no_change = sizes_of(rows, &ScheduleJudgement::no_change_error);
    result_.no_contention = sizes_of(rows, &ScheduleJudgement::no_contention_error);
    result_.critical_path = sizes_of(rows, &ScheduleJudgement::critical_path_error);
    result_.overlap_points = sizes_of(rows, &ScheduleJudgement::overlap_error);
    result_.overlap_floor = sizes_of(rows, &ScheduleJudgement::overlap_floor);
    result_.allocated = sizes_of(rows, &ScheduleJudgement::allocated_error);
    result_.reserved = sizes_of(rows, &ScheduleJudgement::reserved_error);
    result_.step = sizes_of(rows, &ScheduleJudgement::step_error);
    result_.repeat_floor = sizes_of(floor_errors());
    order();
    return std::move(result_);
  }

 private:
  ScheduleJudgement row_of(const PredictedSchedule& predicted, const RunsOf& of_schedule) const {
    ScheduleJudgement row;
    row.schedule = predicted.schedule;
    row.recorded = predicted.schedule == prediction_->recorded;
    row.runs = of_schedule.runs().size();
    row.failure = of_schedule.failure();
    row.predicted_ms = predicted.step_ms;
    row.predicted_overlap = predicted.overlap;
    if (row.runs == 0) return row;
    row.measured_ms = of_schedule.median_ms();
    row.spread_ms = of_schedule.spread_ms();
    row.step_error = percent_off(row.predicted_ms, row.measured_ms);
    row.inside = predicted.low_ms <= row.measured_ms && row.measured_ms <= predicted.high_ms;
    add_speedups(predicted, row);
    add_overlap(row);
    const PeakError allocated =
        compare_peaks(of_schedule.peaks(&MeasuredRun::allocated_peak), predicted.allocated_peak, predicted.ranks);
    row.measured_allocated = allocated.measured;
    row.predicted_allocated = allocated.predicted;
    row.allocated_error = allocated.error;
    const PeakError reserved =
        compare_peaks(of_schedule.peaks(&MeasuredRun::reserved_peak), predicted.reserved_peak, predicted.ranks);
    row.measured_reserved = reserved.measured;
    row.predicted_reserved = reserved.predicted;
    row.reserved_error = reserved.error;
    return row;
  }

  void add_speedups(const PredictedSchedule& predicted, ScheduleJudgement& row) const {
    if (row.recorded || base_ == nullptr || !base_ms_) return;
    const double measured = row.measured_ms / *base_ms_;
    row.speedup_error = percent_off(predicted.step_ms / base_->step_ms, measured);
    row.no_change_error = percent_off(1.0, measured);
    const auto baseline = [&](std::optional<double> PredictedSchedule::*member) -> std::optional<double> {
      if (!(predicted.*member) || !(base_->*member)) return std::nullopt;
      return percent_off(*(predicted.*member) / *(base_->*member), measured);
    };
    row.no_contention_error = baseline(&PredictedSchedule::no_contention_ms);
    row.critical_path_error = baseline(&PredictedSchedule::critical_path_ms);
  }

  void add_overlap(ScheduleJudgement& row) const {
    std::vector<double> hidden;
    std::vector<double> exposed_ms;
    const MeasuredTrace* one = nullptr;
    for (const MeasuredTrace& trace : traces_) {
      if (trace.schedule != row.schedule || trace.failure) continue;
      one = &trace;
      if (trace.overlap.hidden_ratio) hidden.push_back(*trace.overlap.hidden_ratio);
      exposed_ms.push_back(trace.overlap.exposed_ms);
    }
    if (one == nullptr) return;
    row.measured_overlap = {std::nullopt, statistics::mean(exposed_ms)};
    if (hidden.empty()) return;
    row.measured_overlap->hidden_ratio = statistics::mean(hidden);
    if (!row.predicted_overlap.hidden_ratio) return;
    row.overlap_error = (*row.predicted_overlap.hidden_ratio - *row.measured_overlap->hidden_ratio) * 100;
    const auto floor = standard_error(hidden.size() > 1 ? hidden : one->single_steps_hidden);
    if (floor) row.overlap_floor = *floor * 100;
  }

  [[nodiscard]] std::vector<double> floor_errors() const {
    std::vector<double> errors;
    if (!base_ms_) return errors;
    for (const ScheduleJudgement& row : result_.schedules) {
      if (row.recorded || row.runs == 0) continue;
      std::vector<double> of_row;
      for (const MeasuredRun& run : runs_) {
        if (run.schedule != row.schedule || run.failure) continue;
        const auto same_round = std::ranges::find_if(runs_, [&](const MeasuredRun& other) {
          return other.repeat == run.repeat && other.schedule == prediction_->recorded && !other.failure;
        });
        if (same_round == runs_.end()) continue;
        of_row.push_back(percent_off(run.step_ms / same_round->step_ms, row.measured_ms / *base_ms_));
      }
      if (of_row.size() > 1) errors.insert(errors.end(), of_row.begin(), of_row.end());  // one is its own median
    }
    return errors;
  }

  void order() {
    const auto& rows = result_.schedules;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        const ScheduleJudgement& a = rows[i];
        const ScheduleJudgement& b = rows[j];
        if (!a.spread_ms || !b.spread_ms) continue;
        const double gap = a.measured_ms - b.measured_ms;
        if (std::abs(gap) <= 2 * std::max(*a.spread_ms, *b.spread_ms)) continue;
        ++result_.pairs_counted;
        if (gap * (a.predicted_ms - b.predicted_ms) > 0) {
          ++result_.pairs_right;
        } else {
          result_.pairs_wrong.push_back(gap < 0 ? a.schedule + " before " + b.schedule
                                                : b.schedule + " before " + a.schedule);
        }
      }
    }
  }

  const PredictionFile* prediction_;
  std::span<const MeasuredRun> runs_;
  std::span<const MeasuredTrace> traces_;
  const PredictedSchedule* base_;
  std::optional<double> base_ms_;
  Judgement result_;
};

}  // namespace

Judgement judge(const PredictionFile& prediction, std::span<const MeasuredRun> runs,
                std::span<const MeasuredTrace> traces) {
  return Judge(prediction, runs, traces).run();
}

}  // namespace interlace::campaign
