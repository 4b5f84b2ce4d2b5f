#include "simulator/replay/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "simulator/analysis/clock_offsets.hpp"
#include "simulator/analysis/compare.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "simulator/analysis/steps.hpp"
#include "simulator/analysis/streams.hpp"
#include "simulator/base/at_once.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/overlap_anchor.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/prediction_row.hpp"
#include "simulator/cli/recorded_run.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/ingest/trace_files.hpp"
#include "simulator/replay/anchor.hpp"
#include "simulator/replay/applicable.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/replay/recorded_schedule.hpp"
#include "simulator/report/mean_report.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/stages/unmatched_rules.hpp"
#include "simulator/what_if/apply.hpp"
#include "simulator/what_if/parse.hpp"

namespace interlace::cli {

namespace {

/// The label of the annotation that the recorded optimizer runs in.
std::optional<std::string> optimizer_label(const analysis::Annotations& annotations, const replay::SiteTable& table) {
  for (const std::vector<replay::RecordedIteration>& iterations : table.ranks) {
    for (const replay::RecordedCall& call : iterations.front().calls) {
      if (call.segment.stage != schedule::Stage::kOptimizerStep) continue;
      if (!call.call) continue;
      if (const auto label = annotations.stage_of(*call.call)) return std::string(label->stage);
    }
  }
  return std::nullopt;
}

/// The steps that the recorded optimizer ends; none where a rank has no whole one.
std::vector<analysis::StepWindow> windows_as_predicted(const trace::Trace& trace,
                                                       const analysis::Annotations& annotations,
                                                       const replay::SiteTable& table) {
  const auto steps = analysis::steps_ended_by(trace, annotations, optimizer_label(annotations, table));
  if (!std::ranges::all_of(steps, analysis::has_whole_step)) return {};
  return analysis::windows_of(trace, steps).device;
}

/// Kernels, collectives and copies a step, mean over ranks.
double works_a_step(const trace::Trace& trace, std::span<const analysis::StepWindow> windows) {
  double works = 0;
  for (const analysis::StreamUse& use : analysis::stream_use(trace, windows)) {
    works += static_cast<double>(use.operations);
  }
  return works / static_cast<double>(windows.size());
}

/// One predicted schedule with all that the report needs of it.
struct Predicted {
  replay::Prediction prediction;
  std::vector<analysis::StepWindow> windows;
  analysis::StepAnalysis steps;
};

/// What is known to be off in the replay of the recorded schedule.
struct Anchors {
  std::optional<replay::Anchor> step;
  std::optional<OverlapAnchor> overlap;
};

/// What a schedule does otherwise than the recorded one; reasons are of both as replayed, since corrections differ.
void compare_with_recorded(const Predicted& recorded, const Predicted& other, report::Prediction& row) {
  row.speedup = static_cast<double>(recorded.prediction.step_time) / static_cast<double>(other.prediction.step_time);
  for (analysis::Reason& reason : analysis::compare(recorded.steps, other.steps)) {
    row.reasons.push_back(std::move(reason.text));
  }
}

replay::PredictOptions options_of(const PredictRequest& request) {
  replay::PredictOptions options;
  options.simulation.seed = request.seed;
  if (request.steps) options.simulation.iterations = options.simulation.warm_up + *request.steps;
  options.simulation.machine.contention = request.contention;
  options.simulation.as_recorded = request.under_recorder;
  if (request.device_only) {
    options.runs = 1;
    options.simulation.jitter = false;
    options.simulation.host_scale = 0;
  }
  options.run_steps = request.run_steps;
  if (request.gpu_memory_gib) options.memory.capacity = std::llround(*request.gpu_memory_gib * kGibibyte);
  return options;
}

/// What is simulated for an answer, all at once before any of it is told. A future without a state is of what is not
/// simulated.
struct Simulated {
  std::future<Predicted> itself;  ///< the recorded schedule as asked for
  /// That of the job as it was recorded, whatever is asked for: its errors are what is corrected.
  std::future<OverlapAnchor> overlap_anchor;
  std::future<Nanoseconds> recorded_step;
  std::vector<std::future<Predicted>> asked;
};

/// Throws Error(cli.cannot_anchor) where the measured step that was given is of no use with that recording.
void refuse_useless_step(double measured_ms, const report::RecordedRun& recorded) {
  constexpr const char* kOption = "--measured-step-ms";
  if (!recorded.schedule) {
    throw Error(kCannotAnchor, kOption, "the recorded schedule is neither a built-in one nor one of those asked for",
                "leave --measured-step-ms out, or name the recorded schedule with --schedule");
  }
  // A recorder costs a job bound by its host half of its pace at most; a slip of units is a factor of a thousand.
  constexpr double kMostApart = 4;
  const double recorded_ms = static_cast<double>(recorded.step_time_ns.value_or(0)) / static_cast<double>(kMillisecond);
  if (recorded_ms <= 0 || std::max(measured_ms / recorded_ms, recorded_ms / measured_ms) <= kMostApart) return;
  throw Error(
      kCannotAnchor, kOption,
      fmt::format("{} ms a step cannot be of this job: it was recorded with {:.2f} ms", measured_ms, recorded_ms),
      "give the mean time of one step, in milliseconds");
}

/// What is predicted of one recording: of the first of those that the request names.
class Forecast {
 public:
  Forecast(const PredictRequest& request, Console& console);

  /// Once.
  PredictAnswer answer();

 private:
  std::optional<double> measured_ns() const;
  bool has_own_called(std::string_view name) const;
  const schedule::Schedule* recognised();
  replay::Predictor edited_predictor();
  void describe_recording();
  void simulate();
  void simulate_recorded(AtOnce& all);
  void replay_recorded();
  void add(const schedule::AskedSchedule& one, std::future<Predicted>& simulated);
  void add_prediction(const schedule::Schedule& schedule, std::future<Predicted>& simulated);
  bool is_recorded(const schedule::Schedule& schedule) const;
  Predicted run(const schedule::Schedule& schedule) const;

  const PredictRequest& request_;
  Console& console_;
  replay::PredictOptions options_;
  std::vector<what_if::Edit> edits_;
  std::vector<schedule::AskedSchedule> asked_;
  ingest::Recording recording_;
  Diagnostics read_with_;  ///< what recording_ is flawed by before all else
  stages::Cut cut_;
  std::optional<contention::MachineProfile> machine_;
  replay::SiteTable sites_;
  std::vector<schedule::Schedule> library_;
  std::vector<schedule::Schedule> own_;  ///< those asked for that are not in the library
  const schedule::Schedule* known_;      ///< the recorded one; none where it is none of these
  replay::Predictor predictor_;
  std::optional<replay::Predictor> unedited_;  ///< that of the job as it was recorded
  Simulated simulated_;
  std::vector<analysis::StepWindow> windows_;  ///< of the recording, to lay it beside predictions
  report::PredictReport report_;
  std::optional<Predicted> itself_;  ///< the recorded schedule replayed
  Anchors anchors_;
  std::vector<SteadyTrace> traces_;
};

stages::Cut cut_of(ingest::Recording& recording, const PredictRequest& request, Console& console) {
  console.progress("cutting the recording into stages");
  return stages::cut(recording.trace, profile_for(request.profile, recording.trace), recording.diagnostics);
}

std::vector<schedule::Schedule> not_in(const std::vector<schedule::Schedule>& library,
                                       const std::vector<schedule::AskedSchedule>& asked) {
  std::vector<schedule::Schedule> own;
  for (const schedule::AskedSchedule& one : asked) {
    const auto is_same = [&](const schedule::Schedule& known) { return schedule::same_pipeline(known, one.schedule); };
    if (std::ranges::none_of(library, is_same)) own.push_back(one.schedule);
  }
  return own;
}

Forecast::Forecast(const PredictRequest& request, Console& console)
    : request_(request),
      console_(console),
      options_(options_of(request)),
      edits_(what_if::read_edits(request.edits)),
      asked_(schedule::asked_schedules(request.schedules)),
      recording_(read_recording(request.recordings, request.memory_snapshots, console)),
      read_with_(recording_.diagnostics),
      cut_(cut_of(recording_, request, console)),
      machine_(request.machine ? std::optional(contention::read_machine_profile(*request.machine)) : std::nullopt),
      sites_(replay::find_sites(recording_.trace, cut_, recording_.diagnostics, machine_ ? &*machine_ : nullptr)),
      library_(schedule::all_sound()),
      own_(not_in(library_, asked_)),
      known_(recognised()),
      predictor_(edited_predictor()) {
  if (known_ != nullptr) predictor_.learn_memory(*known_, recording_.diagnostics);
  analysis::count_differing_clocks(recording_.trace, recording_.diagnostics);
}

std::optional<double> Forecast::measured_ns() const {
  if (!request_.measured_step_ms) return std::nullopt;
  return *request_.measured_step_ms * static_cast<double>(kMillisecond);
}

/// By itself or, where nothing else that is asked for is called so, by its file.
bool Forecast::has_own_called(std::string_view name) const {
  const bool is_asked = std::ranges::any_of(asked_, [&](const auto& one) { return one.schedule.name == name; });
  return std::ranges::any_of(own_, [&](const schedule::Schedule& own) {
    return own.name == name || (!is_asked && own.name == schedule::name_with_file(name, own.source));
  });
}

/// A schedule of the user's own may be a variant of what was recorded, and as like to it: it is taken for the recorded
/// one where the recording says its name, or where none of the library is like enough.
const schedule::Schedule* Forecast::recognised() {
  const auto among = [&](std::span<const schedule::Schedule> candidates) {
    return replay::recorded_schedule(candidates, recording_.trace, cut_, sites_, recording_.diagnostics, measured_ns());
  };
  const auto named = replay::named_schedule(recording_.trace);
  if (named && has_own_called(*named)) return among(own_);
  const schedule::Schedule* of_library = among(library_);
  return of_library != nullptr ? of_library : among(own_);
}

replay::Predictor Forecast::edited_predictor() {
  replay::SiteTable edited = what_if::apply_edits(sites_, edits_);
  std::vector<const schedule::Schedule*> replayed;
  if (known_ != nullptr) replayed.push_back(known_);
  for (const schedule::AskedSchedule& one : asked_) replayed.push_back(&one.schedule);
  what_if::refuse_idle_edits(edits_, replayed);
  if (request_.device_only) {
    edited.launch_latency_ns = 0;
    edited.wait_latency_ns = 0;
  }
  return {recording_.trace, cut_, std::move(edited)};
}

bool Forecast::is_recorded(const schedule::Schedule& schedule) const {
  return known_ != nullptr && schedule::same_pipeline(schedule, *known_);
}

Predicted Forecast::run(const schedule::Schedule& schedule) const {
  replay::Prediction prediction = predictor_.predict(schedule, options_);
  std::vector<analysis::StepWindow> windows = analysis::windows_of(prediction.steps);
  analysis::StepAnalysis steps = analyse_prediction(prediction, recording_.trace);
  prediction.simulated = {};  // the largest part of it by far, which has told what it tells
  return {std::move(prediction), std::move(windows), std::move(steps)};
}

void Forecast::describe_recording() {
  const analysis::Annotations annotations(recording_.trace);
  const auto steps = analysis::recorded_steps(recording_.trace, annotations);
  report::RecordedRun& recorded = report_.recorded = recorded_run(recording_.trace, request_.recordings, steps);
  if (steps && !request_.again.empty()) {
    recorded.works_a_step = works_a_step(recording_.trace, steps->windows.device);
  }
  recorded.machine_fitted = sites_.fitted;
  if (machine_) {
    recorded.machine_profile = machine_->source;
    recorded.machine_values = machine_->values(sites_.fitted);
  }
  recorded.capacity = options_.memory.capacity;
  for (const what_if::Edit& edit : edits_) recorded.edits.push_back(what_if::describe(edit));
  windows_ = windows_as_predicted(recording_.trace, annotations, predictor_.sites());
  if (known_ != nullptr) recorded.schedule = known_->name;
}

void Forecast::simulate_recorded(AtOnce& all) {
  simulated_.itself = all.add("predicting " + known_->name, [this] { return run(*known_); });
  if (request_.device_only) return;
  replay::PredictOptions options = options_;
  options.simulation.machine.contention = true;
  const bool as_it_is = request_.edits.empty() && request_.contention;
  unedited_.emplace(recording_.trace, cut_, sites_);
  if (report_.recorded.overlap && !(as_it_is && request_.under_recorder)) {
    simulated_.overlap_anchor = all.add("replaying the recording", [this, options] {
      return overlap_anchor(*report_.recorded.overlap, *unedited_, *known_, options);
    });
  }
  if (sites_.unrecorded_step_ns && !request_.under_recorder && !as_it_is) {
    simulated_.recorded_step = all.add("replaying the recorded job",
                                       [this, options] { return unedited_->predict(*known_, options).step_time; });
  }
}

void Forecast::simulate() {
  AtOnce all;
  if (known_ != nullptr) simulate_recorded(all);
  for (const schedule::AskedSchedule& one : asked_) {
    std::future<Predicted>& simulated = simulated_.asked.emplace_back();
    const bool is_left_out = !one.by_name && replay::lost_stage(one.schedule, predictor_.sites());
    if (is_recorded(one.schedule) || is_left_out) continue;
    simulated = all.add("predicting " + one.schedule.name, [this, &one] { return run(one.schedule); });
  }
  all.run(predictor_.fit_at_once(options_), [this](const std::string& doing) { console_.progress(doing); });
}

void Forecast::replay_recorded() {
  itself_ = simulated_.itself.get();
  if (simulated_.overlap_anchor.valid()) {
    anchors_.overlap = simulated_.overlap_anchor.get();
  } else if (report_.recorded.overlap && !request_.device_only) {
    anchors_.overlap.emplace(*report_.recorded.overlap, itself_->steps.overlap.mean);
  }
  if (sites_.unrecorded_step_ns && !request_.under_recorder && !request_.device_only) {
    anchors_.step.emplace(*sites_.unrecorded_step_ns, simulated_.recorded_step.valid() ? simulated_.recorded_step.get()
                                                                                       : itself_->prediction.step_time);
  }
  if (anchors_.step) {
    anchors_.step->correct(itself_->prediction, 1.0);
    anchors_.step->judge(recording_.diagnostics);
    report_.recorded.replay_error = anchors_.step->error();
  }
  if (anchors_.overlap) report_.recorded.replayed_hidden_ratio = anchors_.overlap->replayed_ratio();
  report_.recorded.predicted_step_time_ns = itself_->prediction.step_time;
}

void Forecast::add_prediction(const schedule::Schedule& schedule, std::future<Predicted>& simulated) {
  const bool is_itself = is_recorded(schedule);
  Predicted predicted = is_itself ? *itself_ : simulated.get();
  predicted.prediction.schedule = schedule.name;
  const double alike = itself_ ? likeness(itself_->steps.overlap.mean, predicted.steps.overlap.mean) : 0.0;
  if (anchors_.step && !is_itself) anchors_.step->correct(predicted.prediction, alike);
  Diagnostics assumptions;
  if (!request_.contention) assumptions.count(replay::kContentionOff);
  if (const auto lost = replay::lost_stage(schedule, predictor_.sites())) {
    assumptions.count(replay::kStageLeftOut, schedule::to_string(*lost));
  }
  report::Prediction& row = report_.predictions.emplace_back(prediction_row(
      schedule, predicted.prediction, predicted.steps, cut_.modules, assumptions, predictor_.sites().lone_rank));
  if (anchors_.overlap) anchors_.overlap->correct(row.overlap, alike);
  if (itself_) compare_with_recorded(*itself_, predicted, row);
  traces_.push_back({schedule.name, std::move(predicted.prediction.trace), std::move(predicted.windows)});
}

/// A stage may be missing since the user's profile does not find it.
Error with_advice_on_profile(const Error& error, const Diagnostics& found) {
  const auto unmatched = std::ranges::find(found.entries(), stages::kUnmatchedRule.code, &Diagnostic::code);
  const std::string_view advice = "or have the annotation profile (--profile) name it as the recording does";
  const std::string rule =
      unmatched == found.entries().end() ? "" : fmt::format(": no annotation matches {}", unmatched->first_place);
  return {replay::kStageNotRecorded, error.place(), error.problem(),
          fmt::format("{}, {}{}", error.advice(), advice, rule)};
}

void Forecast::add(const schedule::AskedSchedule& one, std::future<Predicted>& simulated) {
  if (one.by_name) {
    try {
      add_prediction(one.schedule, simulated);
    } catch (const Error& error) {
      if (!request_.profile || error.code() != replay::kStageNotRecorded.name) throw;
      throw with_advice_on_profile(error, recording_.diagnostics);
    }
    return;
  }
  auto why =
      replay::predict_if_applicable(one.schedule, predictor_.sites(), [&] { add_prediction(one.schedule, simulated); });
  if (why) report_.skipped.push_back({one.schedule.name, std::move(*why)});
}

PredictAnswer Forecast::answer() {
  describe_recording();
  if (request_.must_anchor && request_.measured_step_ms)
    refuse_useless_step(*request_.measured_step_ms, report_.recorded);
  simulate();
  if (known_ != nullptr) replay_recorded();
  for (std::size_t i = 0; i < asked_.size(); ++i) add(asked_[i], simulated_.asked[i]);
  const auto known_memory = [](const report::Prediction& row) { return !row.memory.empty(); };
  if (request_.gpu_memory_gib && std::ranges::none_of(report_.predictions, known_memory)) {
    recording_.diagnostics.count(kMemoryNotRecorded, request_.recordings.front());
  }
  report_.recorded.diagnostics = recording_.diagnostics.entries();
  return {std::move(report_),
          {"measured", std::move(recording_.trace), std::move(windows_)},
          std::move(read_with_),
          std::move(traces_)};
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

}  // namespace

PredictAnswer predict(const PredictRequest& request, Console& console) {
  if (!request.again.empty()) refuse_repeated_recordings(request);
  PredictAnswer answer = Forecast(request, console).answer();
  std::vector<report::PredictReport> reports{std::move(answer.report)};
  for (const std::string& again : request.again) {
    PredictRequest other = request;
    other.recordings = {again};
    other.memory_snapshots.clear();
    reports.push_back(Forecast(other, console).answer().report);
  }
  answer.report = report::mean_over(std::move(reports));
  return answer;
}

}  // namespace interlace::cli
