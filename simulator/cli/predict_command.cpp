#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <ostream>

#include "simulator/cli/answer_notes.hpp"
#include "simulator/cli/job_options.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/predict_table.hpp"

namespace interlace::cli {

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
    tell_left_out(answer.report.skipped, console);
    tell_recorded(answer.report.recorded, console);
  } else {
    report::write_predict_table(console.out(), answer.report, console.style());
    console.out().flush();
    tell_recorded(answer.report.recorded, console);
  }
  // Last: an answer that cannot be kept is there all the same.
  console.out().flush();
  if (request.out) write_answer(answer, *request.out, files_of(request), console);
  console.done();
  if (answer.report.predictions.empty()) refuse_no_prediction(request, answer.report.skipped.size());
}

void add_predict(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<PredictRequest>();
  request->must_anchor = true;
  CLI::App* predict = app.add_subcommand("predict", "Predict what other schedules would do to a recorded job");
  add_recordings_and_schedules(*predict, *request, "Schedules to predict");
  predict
      ->add_option("--again", request->again,
                   "A recording of another run of the same job: a folder where it has several ranks. Once for each "
                   "such run; what is predicted is the mean over all (docs/validate.md)")
      ->allow_extra_args(false)
      ->type_name("FILE|DIR");
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
    tell_recordings_from_schedules(*request);
    chosen = [request](Console& console) {
      refuse_unfit_out(*request);
      show_prediction(*request, console);
    };
  });
}

}  // namespace interlace::cli
