#include "simulator/what_if/sweep.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "simulator/cli/answer_notes.hpp"
#include "simulator/cli/forecast.hpp"
#include "simulator/cli/job_options.hpp"
#include "simulator/cli/recorded_job.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/ingest/trace_files.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/report/sweep_data.hpp"
#include "simulator/report/sweep_report.hpp"
#include "simulator/report/sweep_table.hpp"
#include "simulator/what_if/parse.hpp"

namespace interlace::cli {

namespace {

struct SweepRequest {
  PredictRequest job;
  std::string by;
};

/// What a bit more costs at a value is told by two about it: near enough for that, and far enough that what jitter
/// makes of a small change does not show (0.1 % of a step). A given stage is a small part of a step.
std::pair<double, double> about(double value, what_if::SweptUnit unit) {
  return unit == what_if::SweptUnit::kTimes ? std::pair(value / 1.1, value * 1.1) : std::pair(value / 2, value * 1.5);
}

report::SweepReport without_predictions(const what_if::Sweep& sweep, const RecordedJob& job) {
  report::SweepReport report;
  report.recorded = job.recorded();
  for (const what_if::Edit& edit : sweep.others()) report.recorded.edits.push_back(what_if::describe(edit));
  report.swept = what_if::describe(sweep.swept(), "x");
  report.edit = sweep.swept().place;
  const bool times = sweep.unit() == what_if::SweptUnit::kTimes;
  report.scale = times ? report::SweepScale::kTimes : report::SweepScale::kMicroseconds;
  report.is_bandwidth = std::holds_alternative<what_if::ScaleLink>(sweep.swept().change);
  report.around = sweep.usual();
  return report;
}

/// Predicts all schedules at all values: of one recording, and with the same draws, so that what differs is what the
/// change makes.
report::SweepReport swept(const SweepRequest& request, Console& console) {
  const what_if::Sweep sweep(what_if::read_edits(request.job.edits));
  std::vector<double> values = what_if::sweep_values(request.by, sweep.unit());
  RecordedJob job(request.job, console);
  job.ask_for_recorded();
  report::SweepReport report = without_predictions(sweep, job);

  const std::size_t shown = values.size();
  const auto [below, above] = about(report.around, sweep.unit());
  values.insert(values.end(), {below, above});
  const ForecastParts parts{.traces = false, .memory = request.job.gpu_memory_gib.has_value()};
  UneditedReplay unedited;
  std::deque<Forecast> forecasts;  // stay where they are: what they simulate points to them
  AtOnce all;
  for (const double value : values) {
    forecasts.emplace_back(job, unedited, request.job, sweep.at(value), parts).simulate(all);
  }
  std::size_t begun = 0;
  all.run(forecasts.front().fit_at_once(), [&](const std::string& doing) {
    console.progress(fmt::format("{} ({} of {})", doing, ++begun, all.size()));
  });

  std::vector<report::PredictReport> answers;
  for (Forecast& forecast : forecasts) answers.push_back(forecast.answer().report);
  for (std::size_t i = 0; i < answers.front().predictions.size(); ++i) {
    report.costs.push_back(report::cost(report.scale, below, answers[shown].predictions[i].step_time_ns, above,
                                        answers[shown + 1].predictions[i].step_time_ns));
  }
  report.recorded.capacity = answers.front().recorded.capacity;
  report.recorded.diagnostics = answers.front().recorded.diagnostics;
  report.skipped = std::move(answers.front().skipped);
  answers.resize(shown);
  for (report::PredictReport& answer : answers) report.rows.push_back(std::move(answer.predictions));
  values.resize(shown);
  report.values = std::move(values);
  return report;
}

constexpr std::string_view kSweepRows = "sweep.csv";
constexpr std::string_view kSweepPicture = "sweep.svg";

/// Before any work is done for it.
void refuse_unfit_answer(const PredictRequest& job) {
  if (!job.out) return;
  report::refuse_unwritable_folder(*job.out);
  for (const std::string_view name : {ingest::kAnswerFile, kSweepRows, kSweepPicture}) {
    refuse_overwriting((*job.out / name).string(), files_of(job));
  }
}

void keep(const report::SweepReport& report, const PredictRequest& job, Console& console) {
  report::make_folder(*job.out);
  const auto write = [&](std::string_view name, const std::function<void(std::ostream&)>& content) {
    console.progress("writing " + (*job.out / name).string());
    report::write_file(*job.out / name, content);
  };
  write(ingest::kAnswerFile, [&](std::ostream& out) { report::write_sweep_json(out, report); });
  write(kSweepRows, [&](std::ostream& out) { report::write_sweep_csv(out, report); });
  write(kSweepPicture, [&](std::ostream& out) { out << report::sweep_plot(report); });
}

void run_sweep(const SweepRequest& request, Console& console) {
  refuse_unfit_answer(request.job);
  const report::SweepReport report = swept(request, console);
  console.done();
  if (request.job.format == "json") {
    report::write_sweep_json(console.out(), report);
  } else {
    if (request.job.format == "csv") {
      report::write_sweep_csv(console.out(), report);
      tell_left_out(report.skipped, console);
    } else {
      report::write_sweep_table(console.out(), report, console.style());
    }
    console.out().flush();
    tell_recorded(report.recorded, console);
  }
  console.out().flush();
  if (request.job.out) keep(report, request.job, console);
  console.done();
  if (report.rows.front().empty()) refuse_no_prediction(request.job, report.skipped.size());
}

}  // namespace

void add_sweep(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<SweepRequest>();
  request->job.must_anchor = true;
  CLI::App* sweep =
      app.add_subcommand("sweep", "Predict schedules with one number of an edit varied: where one overtakes another");
  add_recordings_and_schedules(*sweep, request->job, "Schedules to predict besides the recorded one");
  add_job_options(*sweep, request->job);
  sweep->add_option("--format", request->job.format, "How to write the answer")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  sweep->add_option("--out", request->job.out, "Folder for the answer as JSON and CSV, and a picture of it")
      ->type_name("DIR");
  sweep->get_option("--edit")->required();
  sweep
      ->add_option("--by", request->by,
                   "What the edit's number is varied over: a list, 0.5,1,2, or a first, a last and how many, 0.25:4:5")
      ->required()
      ->type_name("LIST");
  sweep->callback([request, &chosen] {
    tell_recordings_from_schedules(request->job);
    chosen = [request](Console& console) { run_sweep(*request, console); };
  });
}

}  // namespace interlace::cli
