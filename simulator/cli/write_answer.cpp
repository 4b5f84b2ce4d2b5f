#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <ostream>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "simulator/campaign/campaign_files.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/ingest/trace_files.hpp"
#include "simulator/report/chrome_trace.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/report/html_report.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/timeline_picture.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::cli {

namespace {

/// A stem of its own for each trace, none that of the recording: schedules of users may have any name, and the same.
std::vector<std::string> stems_of(std::span<const SteadyTrace> predicted) {
  std::set<std::string> taken{std::filesystem::path(ingest::kMeasuredTrace).stem().string()};
  std::vector<std::string> stems;
  for (const SteadyTrace& trace : predicted) {
    const std::string usual = campaign::file_stem(trace.title);
    std::string stem = usual;
    for (int number = 2; !taken.insert(stem).second; ++number) stem = fmt::format("{}_{}", usual, number);
    stems.push_back(std::move(stem));
  }
  return stems;
}

report::TimelinePicture picture_of(const SteadyTrace& steady, std::string title) {
  return report::picture_of_step(steady.trace, steady.windows.front(), std::move(title));
}

constexpr std::string_view kPage = "report.html";
constexpr std::string_view kRows = "report.csv";
constexpr std::string_view kTrace = ".ilt";
constexpr std::string_view kPerfetto = ".perfetto.json.gz";

/// All files of it.
std::set<std::string> names_of_answer(std::span<const std::string> stems) {
  std::set<std::string> names{std::string(kPage), std::string(ingest::kAnswerFile), std::string(kRows),
                              std::string(ingest::kMeasuredTrace)};
  for (const std::string& stem : stems) {
    names.insert(stem + std::string(kTrace));
    names.insert(stem + std::string(kPerfetto));
  }
  return names;
}

/// Traces that an earlier answer left in the folder, by the names that only answers have.
std::vector<std::string> left_by_earlier(const std::filesystem::path& folder, const std::set<std::string>& names) {
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kPerfetto) || names.contains(name)) continue;
    stems.push_back(name.substr(0, name.size() - kPerfetto.size()));
  }
  std::ranges::sort(stems);
  return stems;
}

std::vector<report::TimelineComparison> timelines(const PredictAnswer& answer) {
  std::vector<report::TimelineComparison> all;
  if (answer.measured.windows.empty()) return all;
  const std::int32_t rank = answer.measured.trace.ranks().front().number;
  const report::TimelinePicture measured = picture_of(answer.measured, fmt::format("measured, rank {}", rank));
  for (const std::size_t i : report::by_step_time(answer.report)) {
    const SteadyTrace& predicted = answer.predicted[i];
    all.push_back({predicted.title,
                   {measured, picture_of(predicted, fmt::format("predicted {}, rank {}", predicted.title, rank))}});
  }
  return all;
}

}  // namespace

void refuse_unfit_folder(const std::filesystem::path& folder, const std::vector<std::string>& inputs) {
  report::refuse_unwritable_folder(folder);
  for (const std::string& name : names_of_answer({})) refuse_overwriting((folder / name).string(), inputs);
}

void write_answer(const PredictAnswer& answer, const std::filesystem::path& folder,
                  const std::vector<std::string>& inputs, Console& console) {
  const std::vector<std::string> stems = stems_of(answer.predicted);
  const std::set<std::string> names = names_of_answer(stems);
  for (const std::string& name : names) refuse_overwriting((folder / name).string(), inputs);
  report::make_folder(folder);
  const auto write = [&](std::string_view name, const std::function<void(std::ostream&)>& content) {
    console.progress("writing " + (folder / name).string());
    report::write_file(folder / name, content);
  };
  const auto write_trace = [&](std::string_view name, const trace::Trace& trace, const Diagnostics& diagnostics) {
    write(name, [&](std::ostream& out) { trace::write_ilt(trace, diagnostics, out, (folder / name).string()); });
  };
  write(kPage, [&](std::ostream& out) { report::write_html(out, answer.report, timelines(answer)); });
  write(ingest::kAnswerFile, [&](std::ostream& out) { report::write_predict_json(out, answer.report); });
  write(kRows, [&](std::ostream& out) { report::write_predict_csv(out, answer.report); });
  write_trace(ingest::kMeasuredTrace, answer.measured.trace, answer.read_with);
  for (std::size_t i = 0; i < answer.predicted.size(); ++i) {
    const SteadyTrace& predicted = answer.predicted[i];
    Diagnostics of_prediction;
    for (const Diagnostic& entry : answer.report.predictions[i].diagnostics) of_prediction.add(entry);
    write_trace(stems[i] + std::string(kTrace), predicted.trace, of_prediction);
    std::vector<report::ChromeRun> runs;
    const auto add = [&](const SteadyTrace& steady, const std::string& title) {
      runs.push_back({&steady.trace, title, steady.windows.empty() ? 0 : steady.windows.front().span.begin});
    };
    add(answer.measured, "measured");
    add(predicted, "predicted " + predicted.title);
    write(stems[i] + std::string(kPerfetto), [&](std::ostream& out) { report::write_chrome_trace(out, runs); });
  }
  if (const std::vector<std::string> left = left_by_earlier(folder, names); !left.empty()) {
    console.note(fmt::format("{} also holds predicted traces that are not of this answer: {}", folder.string(),
                             fmt::join(left, ", ")));
  }
}

}  // namespace interlace::cli
