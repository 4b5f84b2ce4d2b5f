#include "simulator/report/mean_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>

#include "simulator/base/error.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/report/errors.hpp"

namespace interlace::report {

namespace {

std::string job_of(const RecordedRun& recorded) {
  return fmt::format("{} on rank{} {}{}", recorded.schedule.value_or("a schedule that is not in the library"),
                     recorded.ranks.size() == 1 ? "" : "s", fmt::join(recorded.ranks, ", "),
                     recorded.world_size ? fmt::format(" of {}", *recorded.world_size) : "");
}

void refuse_other_jobs(const std::vector<PredictReport>& reports) {
  const RecordedRun& first = reports.front().recorded;
  for (const PredictReport& other : reports) {
    const RecordedRun& run = other.recorded;
    const bool same_size = !run.world_size || !first.world_size || *run.world_size == *first.world_size;
    if (run.schedule == first.schedule && run.ranks == first.ranks && same_size) continue;
    throw Error(kOtherJob, run.files.front(),
                fmt::format("holds {}, and {} {}", job_of(run), first.files.front(), job_of(first)),
                "name recordings of the same schedule on the same ranks");
  }
}

/// A mean over two jobs says nothing of either, and nothing in a recording names its job. Runs of one job launched the
/// same number of works within 5 % (four TorchRec jobs that were recorded twice; the window of steps cuts some off) and
/// took as long within 41 % on the most disturbed of hosts (docs/accuracy.md). What they exchange is the job's own.
bool looks_like_another_job(const RecordedRun& run, const RecordedRun& first) {
  constexpr double kMostWorks = 1.1;
  constexpr double kMostBytes = 1.1;
  constexpr double kMostTime = 1.5;
  const auto apart = [](auto a, auto b) {
    const double ratio = a && b && *a > 0 && *b > 0 ? static_cast<double>(*a) / static_cast<double>(*b) : 1;
    return std::max(ratio, 1 / ratio);
  };
  return apart(run.works_a_step, first.works_a_step) > kMostWorks ||
         apart(run.largest_exchange, first.largest_exchange) > kMostBytes ||
         apart(run.step_time_ns, first.step_time_ns) > kMostTime;
}

/// Over those of the rows that have a value; none where none has.
template <class Row, class Value>
std::optional<Value> mean_of(const std::vector<const Row*>& rows, std::optional<Value> Row::*member) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (row->*member) values.push_back(static_cast<double>(*(row->*member)));
  }
  if (values.empty()) return std::nullopt;
  const double mean = statistics::mean(values);
  if constexpr (std::is_integral_v<Value>) return std::llround(mean);
  return static_cast<Value>(mean);
}

Nanoseconds mean_of(const std::vector<const Prediction*>& rows, Nanoseconds Prediction::*member) {
  std::vector<double> values;
  for (const Prediction* row : rows) values.push_back(static_cast<double>(row->*member));
  return std::llround(statistics::mean(values));
}

/// Flaws of the same kind as one.
template <class Row>
Diagnostics flaws_of(const std::vector<const Row*>& rows) {
  Diagnostics all;
  for (const Row* row : rows) {
    for (const Diagnostic& flaw : row->diagnostics) all.add(flaw);
  }
  return all;
}

RecordedRun recorded_in(const std::vector<PredictReport>& reports) {
  std::vector<const RecordedRun*> rows;
  std::vector<analysis::OverlapSummary> overlaps;
  for (const PredictReport& report : reports) {
    rows.push_back(&report.recorded);
    if (report.recorded.overlap) overlaps.push_back(*report.recorded.overlap);
  }
  RecordedRun mean = *rows.front();
  mean.files.clear();
  mean.steps = 0;
  mean.steps_found = 0;
  for (const RecordedRun* row : rows) {
    mean.files.insert(mean.files.end(), row->files.begin(), row->files.end());
    mean.steps += row->steps;
    mean.steps_found += row->steps_found;
  }
  mean.recordings = std::ssize(rows);
  mean.step_time_ns = mean_of(rows, &RecordedRun::step_time_ns);
  mean.predicted_step_time_ns = mean_of(rows, &RecordedRun::predicted_step_time_ns);
  mean.host_blocked_ns = mean_of(rows, &RecordedRun::host_blocked_ns);
  mean.replay_error = mean_of(rows, &RecordedRun::replay_error);
  mean.replayed_hidden_ratio = mean_of(rows, &RecordedRun::replayed_hidden_ratio);
  if (!overlaps.empty()) mean.overlap = analysis::mean_of(overlaps);
  Diagnostics flaws;
  for (const RecordedRun* row : rows) {
    if (looks_like_another_job(*row, *rows.front())) flaws.count(kUnlikeRecordings, row->files.front());
  }
  flaws.merge(flaws_of(rows));
  mean.diagnostics = flaws.entries();
  return mean;
}

Prediction mean_prediction(const std::vector<const Prediction*>& rows, const RecordedRun& recorded) {
  Prediction mean = *rows.front();
  std::vector<analysis::OverlapSummary> overlaps;
  for (const Prediction* row : rows) {
    mean.step_times_ns.push_back(row->step_time_ns);
    overlaps.push_back(row->overlap);
  }
  mean.step_time_ns = mean_of(rows, &Prediction::step_time_ns);
  mean.step_time_low_ns = mean_of(rows, &Prediction::step_time_low_ns);
  mean.step_time_high_ns = mean_of(rows, &Prediction::step_time_high_ns);
  if (mean.speedup && recorded.predicted_step_time_ns) {
    mean.speedup = static_cast<double>(*recorded.predicted_step_time_ns) / static_cast<double>(mean.step_time_ns);
  }
  mean.overlap = analysis::mean_of(overlaps);
  mean.host_blocked_ns = mean_of(rows, &Prediction::host_blocked_ns);
  mean.diagnostics = flaws_of(rows).entries();
  return mean;
}

}  // namespace

PredictReport mean_over(std::vector<PredictReport> reports) {
  if (reports.size() == 1) return std::move(reports.front());
  refuse_other_jobs(reports);
  PredictReport mean{.recorded = recorded_in(reports), .predictions = {}, .skipped = {}};
  for (const PredictReport& report : reports) {
    for (const SkippedSchedule& one : report.skipped) {
      const bool known =
          std::ranges::find(mean.skipped, one.schedule, &SkippedSchedule::schedule) != mean.skipped.end();
      if (!known) mean.skipped.push_back(one);
    }
  }
  for (const Prediction& first : reports.front().predictions) {
    std::vector<const Prediction*> rows;
    for (const PredictReport& report : reports) {
      const auto row = std::ranges::find(report.predictions, first.schedule, &Prediction::schedule);
      if (row != report.predictions.end()) rows.push_back(&*row);
    }
    if (rows.size() == reports.size()) mean.predictions.push_back(mean_prediction(rows, mean.recorded));
  }
  return mean;
}

}  // namespace interlace::report
