#include "gui/session/write_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "simulator/analysis/step_window.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/report/html_report.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/timeline_picture.hpp"

namespace interlace::gui {

namespace {

std::vector<report::TimelineComparison> timelines(const Recorded& recorded, std::span<const ForecastPtr> forecasts,
                                                  const report::PredictReport& report) {
  std::vector<report::TimelineComparison> all;
  if (recorded.facts.steps == 0) return all;
  const trace::Trace& trace = recorded.run->trace();
  const std::int32_t rank = trace.ranks().front().number;
  const report::TimelinePicture measured = report::picture_of_step(
      trace, analysis::steady_windows_of(recorded.run->steps()).front(), fmt::format("measured, rank {}", rank));
  for (const std::size_t i : report::by_step_time(report)) {
    const Forecast& forecast = *forecasts[i];
    const std::vector<Interval>& steps = forecast.run->first_steps();
    if (steps.empty()) continue;
    const std::string title = fmt::format("predicted {}, rank {}", forecast.schedule.name, rank);
    all.push_back({forecast.schedule.name,
                   {measured, report::picture_of_step(forecast.run->trace(), analysis::window_of(steps), title)}});
  }
  return all;
}

}  // namespace

report::PredictReport report_of(const Recorded& recorded, std::span<const ForecastPtr> forecasts,
                                std::span<const report::SkippedSchedule> left_out) {
  report::PredictReport report;
  report.skipped.assign(left_out.begin(), left_out.end());
  report.recorded = recorded.facts;
  if (!forecasts.empty()) {
    std::ranges::copy(forecasts.front()->diagnostics, std::back_inserter(report.recorded.diagnostics));
  }
  for (const ForecastPtr& forecast : forecasts) {
    report.recorded.predicted_step_time_ns = forecast->replayed_step_ns;
    report.recorded.replay_error = forecast->replay_error;
    report.recorded.replayed_hidden_ratio = forecast->replayed_hidden_ratio;
    report.predictions.push_back(forecast->row);
  }
  return report;
}

void write_report(const Recorded& recorded, std::span<const ForecastPtr> forecasts,
                  std::span<const report::SkippedSchedule> left_out, const std::filesystem::path& file) {
  const report::PredictReport report = report_of(recorded, forecasts, left_out);
  const std::string end = file.extension().string();
  if (end == ".html") {
    const auto pictures = timelines(recorded, forecasts, report);
    report::write_file(file, [&](std::ostream& out) { report::write_html(out, report, pictures); });
  } else if (end == ".json") {
    report::write_file(file, [&](std::ostream& out) { report::write_predict_json(out, report); });
  } else if (end == ".csv") {
    report::write_file(file, [&](std::ostream& out) { report::write_predict_csv(out, report); });
  } else {
    throw Error(kUnknownReportFormat, file.string(), "the name does not tell the format of the report",
                "end it in .html, .json or .csv");
  }
}

}  // namespace interlace::gui
