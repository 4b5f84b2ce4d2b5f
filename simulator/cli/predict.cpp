#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "simulator/base/at_once.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/forecast.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recorded_job.hpp"
#include "simulator/ingest/trace_files.hpp"
#include "simulator/report/mean_report.hpp"
#include "simulator/what_if/parse.hpp"

namespace interlace::cli {

namespace {

/// What is predicted of one recording: of the first of those that the request names.
PredictAnswer forecast(const PredictRequest& request, Console& console) {
  const std::vector<what_if::Edit> edits = what_if::read_edits(request.edits);
  RecordedJob job(request, console);
  UneditedReplay unedited;
  Forecast forecast(job, unedited, request, edits, {});
  AtOnce all;
  forecast.simulate(all);
  all.run(forecast.fit_at_once(), [&](const std::string& doing) { console.progress(doing); });
  Forecast::Answer answer = forecast.answer();
  return {std::move(answer.report),
          {"measured", job.take_trace(), job.windows()},
          job.read_with(),
          std::move(answer.traces)};
}

/// A run that counts twice would be taken for two that agree.
void refuse_repeated_recordings(const PredictRequest& request) {
  std::set<std::filesystem::path> given;
  const auto add = [&](const std::vector<std::string>& named) {
    Diagnostics left_out;  // counted where the files are read
    bool is_new = true;
    for (const std::filesystem::path& file :
         ingest::trace_files(std::vector<std::filesystem::path>(named.begin(), named.end()), left_out)) {
      is_new = given.insert(std::filesystem::weakly_canonical(file)).second && is_new;
    }
    return is_new;
  };
  add(request.recordings);
  for (const std::string& again : request.again) {
    if (add({again})) continue;
    throw Error(kRepeatedRecording, again, "this recording is given twice, so that one run would count as two",
                "name a recording of another run with --again, or leave it out");
  }
}

/// Of several recordings one may lack what a schedule needs: the mean has no row of it then.
void drop_traces_without_rows(PredictAnswer& answer) {
  std::erase_if(answer.predicted, [&](const SteadyTrace& trace) {
    return std::ranges::find(answer.report.predictions, trace.title, &report::Prediction::schedule) ==
           answer.report.predictions.end();
  });
}

}  // namespace

PredictAnswer predict(const PredictRequest& request, Console& console) {
  if (!request.again.empty()) refuse_repeated_recordings(request);
  PredictAnswer answer = forecast(request, console);
  std::vector<report::PredictReport> reports{std::move(answer.report)};
  for (const std::string& again : request.again) {
    PredictRequest other = request;
    other.recordings = {again};
    other.memory_snapshots.clear();
    reports.push_back(forecast(other, console).report);
  }
  answer.report = report::mean_over(std::move(reports));
  drop_traces_without_rows(answer);
  return answer;
}

}  // namespace interlace::cli
