#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ostream>

#include "simulator/base/error.hpp"
#include "simulator/base/units.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/job_options.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/predict_table.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::cli {

namespace {

/// Where what is assumed of the machine comes from.
void tell_machine(const report::RecordedRun& recorded, Console& console) {
  const auto joined = [](const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); };
  if (recorded.machine_profile) {
    console.note("machine: from " + *recorded.machine_profile + ": " + joined(recorded.machine_values));
  }
  if (!recorded.machine_fitted.empty()) {
    console.note("machine: from the recording: " + joined(recorded.machine_fitted) +
                 (recorded.machine_profile ? "" : "; all else as usual (no --machine)"));
  }
}

/// All that was named, files or not.
std::vector<std::string> files_of(const PredictRequest& request) {
  std::vector<std::string> all;
  for (const auto* named :
       {&request.recordings, &request.again, &request.schedules, &request.edits, &request.memory_snapshots}) {
    all.insert(all.end(), named->begin(), named->end());
  }
  if (request.profile) all.push_back(*request.profile);
  if (request.machine) all.push_back(*request.machine);
  return all;
}

/// An answer without a prediction is a failure; why each schedule was left out stands in it.
void refuse_no_prediction(const PredictRequest& request, const report::PredictReport& report) {
  if (!report.predictions.empty()) return;
  throw Error(kNothingPredicted, request.recordings.front(),
              fmt::format("none of the {} schedules applies to the recording", report.skipped.size()),
              "the reasons stand above; where stages are missing, give the --profile that names them");
}

}  // namespace

void refuse_unfit_out(const PredictRequest& request) {
  if (request.out) refuse_unfit_folder(*request.out, files_of(request));
}

void show_prediction(const PredictRequest& request, Console& console) {
  const PredictAnswer answer = predict(request, console);
  console.done();
  if (request.format == "json") {
    report::write_predict_json(console.out(), answer.report);
  } else if (request.format == "csv") {
    report::write_predict_csv(console.out(), answer.report);
    console.out().flush();
    for (const report::SkippedGroup& group : report::skipped_by_reason(answer.report.skipped)) {
      console.note("left out, " + group.why + ": " + group.schedules);
    }
    tell_machine(answer.report.recorded, console);
    console.flaws(answer.report.recorded.diagnostics);
  } else {
    report::write_predict_table(console.out(), answer.report, console.style());
    console.out().flush();
    tell_machine(answer.report.recorded, console);
    console.flaws(answer.report.recorded.diagnostics);
  }
  // Last: an answer that cannot be kept is there all the same.
  console.out().flush();
  if (request.out) write_answer(answer, *request.out, files_of(request), console);
  console.done();
  refuse_no_prediction(request, answer.report);
}

namespace {

/// A list of schedules goes on to the next option: recordings behind it were meant as such.
void take_recordings(PredictRequest& request) {
  const auto is_recording = [](const std::string& word) {
    // A folder may be called as the schedule that was recorded into it; a pipe was never asked for a recording.
    const bool is_name = word == "all" || schedule::full_name(word, schedule::library());
    return !is_name && !std::filesystem::is_fifo(word) && !is_schedule(word);
  };
  std::ranges::copy_if(request.schedules, std::back_inserter(request.recordings), is_recording);
  std::erase_if(request.schedules, is_recording);
  const auto refuse = [](const char* why) { throw CLI::RequiredError(why, CLI::ExitCodes::RequiredError); };
  if (request.recordings.empty()) refuse("no recording is named: it stands in front of the options, or behind --from");
  if (request.schedules.empty()) refuse("--schedule is required");
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<PredictRequest>();
  request->must_anchor = true;
  CLI::App* predict = app.add_subcommand("predict", "Predict what other schedules would do to a recorded job");
  predict->add_option("recording,--from", request->recordings, kRecordingsHelp)->type_name("FILE|DIR");
  predict
      ->add_option("--again", request->again,
                   "A recording of another run of the same job: a folder where it has several ranks. Once for each "
                   "such run; what is predicted is the mean over all (docs/validate.md)")
      ->allow_extra_args(false)
      ->type_name("FILE|DIR");
  predict
      ->add_option("--schedule", request->schedules,
                   "Schedules to predict: built-in names (interlace schedules), files, or \"all\" that apply")
      ->required()
      ->type_name("NAME|FILE|all");
  add_job_options(*predict, *request);
  predict->add_option("--format", request->format, "How to write the answer")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  predict->add_option("--out", request->out, "Folder for predicted traces and a report to look at")->type_name("DIR");
  predict->add_option("--steps", request->steps, "Steady steps to simulate in a run, as many as memory holds")
      ->check(CLI::Range(3, 1'000'000));
  predict->add_flag_callback(
      "--no-contention", [request] { request->contention = false; },
      "Let works that run side by side not slow each other, to see what sharing the GPU costs");
  predict->callback([request, &chosen] {
    take_recordings(*request);
    chosen = [request](Console& console) {
      refuse_unfit_out(*request);
      show_prediction(*request, console);
    };
  });
}

}  // namespace interlace::cli
