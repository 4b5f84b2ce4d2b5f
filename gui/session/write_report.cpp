#include "gui/session/write_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "simulator/report/file_output.hpp"
#include "simulator/report/html_report.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/svg.hpp"

namespace interlace::gui {

namespace {

/// A step in the middle of the first rank's steps (the earlier of two).
report::TimelinePicture picture_of(const Run& run, const std::string& title) {
  const std::vector<Interval>& steps = run.first_steps();
  const Interval step = steps[(steps.size() - 1) / 2];
  const Nanoseconds resolution = step.length() / report::kPlotPixels / 2;
  return report::timeline_picture(run.trace(), analysis::Annotations(run.trace()), {0}, step, title, resolution);
}

std::vector<report::TimelineComparison> timelines(const Recorded& recorded, std::span<const ForecastPtr> forecasts,
                                                  const report::PredictReport& report) {
  std::vector<report::TimelineComparison> all;
  if (recorded.run->first_steps().empty()) return all;
  const std::int32_t rank = recorded.run->trace().ranks().front().number;
  const report::TimelinePicture measured = picture_of(*recorded.run, fmt::format("measured, rank {}", rank));
  for (const std::size_t i : report::by_step_time(report)) {
    const Forecast& forecast = *forecasts[i];
    if (forecast.run->first_steps().empty()) continue;
    const std::string title = fmt::format("predicted {}, rank {}", forecast.schedule.name, rank);
    all.push_back({forecast.schedule.name, {measured, picture_of(*forecast.run, title)}});
  }
  return all;
}

}  // namespace

report::PredictReport report_of(const Recorded& recorded, std::span<const ForecastPtr> forecasts) {
  report::PredictReport report;
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

void write_report(const Recorded& recorded, std::span<const ForecastPtr> forecasts, const std::filesystem::path& file) {
  const report::PredictReport report = report_of(recorded, forecasts);
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
