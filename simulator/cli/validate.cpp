#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>
#include <span>
#include <utility>

#include "simulator/campaign/judgement_json.hpp"
#include "simulator/cli/child_process.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/option_checks.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/cli/validate_request.hpp"
#include "simulator/cli/visible_gpus.hpp"
#include "simulator/report/file_output.hpp"

namespace interlace::cli {

namespace {

constexpr int kUnfinished = 3;
constexpr double kLeastMinutes = 1e-3;
constexpr double kMostMinutes = 1e6;

struct ValidateRequest {
  campaign::Plan plan;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::optional<std::string> out;        ///< a new campaign
  std::optional<std::string> resume;
  std::optional<std::string> report;
  std::optional<std::string> repredict;
  std::optional<std::string> engine;
  std::optional<double> minutes;
  int run_limit_s = 600;
  std::string format = "table";
};

std::filesystem::path folder_of_this_program() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

PlannedCampaign plan_of(const ValidateRequest& request) {
  campaign::Plan plan = request.plan;
  if (plan.workload.empty()) throw Error(kNotPlanned, "--workload", "is missing", "name what is to be trained");
  if (plan.device == "cpu" && !plan.recording) {
    throw Error(kNotPlanned, "--device cpu", "a run on a CPU cannot be recorded", "give a recording with --from");
  }
  if (plan.device == "cpu") {
    plan.record_all = false;
    plan.references = 0;
  }
  for (const std::string& variable : request.environment) {
    const std::size_t sign = variable.find('=');
    if (sign == 0 || sign == std::string::npos) {
      throw Error(kNotPlanned, "--env " + variable, "is not NAME=VALUE", "for instance --env NCCL_P2P_DISABLE=1");
    }
    plan.environment[variable.substr(0, sign)] = variable.substr(sign + 1);
  }
  plan.settings = settings_with(plan.environment);
  plan.interlace = INTERLACE_VERSION;
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  plan.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
  return planned(std::move(plan));
}

/// Holds a prediction against what has been measured: into this file of the folder, and on standard output.
campaign::Judgement judge_and_show(const campaign::Folder& folder, const campaign::Plan& plan,
                                   const campaign::PredictionFile& prediction, const std::string& digest,
                                   const std::string& file, const std::string& format, Console& console) {
  campaign::Judgement judgement = campaign::judge(prediction, folder.read_runs(), folder.read_traces());
  const std::string json = campaign::judgement_json(plan, digest, prediction, judgement);
  console.done();
  if (format == "json") {
    console.out() << json;
  } else {
    const std::string what =
        digest.empty() ? "predicted anew, when the measurements were known" : "prediction.json, SHA-256 " + digest;
    write_campaign_table(console.out(), plan, what, prediction, judgement, console.style());
  }
  console.out().flush();
  folder.write(file, json);
  return judgement;
}

/// report.json anew, and on standard output.
campaign::Judgement show(const campaign::Folder& folder, const std::string& format, Console& console) {
  const campaign::Plan plan = folder.read_plan();
  const auto prediction = folder.read_prediction();
  if (!prediction) {
    throw Error(kNotPlanned, folder.path().string(), "nothing has been predicted yet", "go on with --resume");
  }
  return judge_and_show(folder, plan, *prediction, folder.prediction_digest(), "report.json", format, console);
}

/// report_anew.json: what this program would have predicted. The prediction that was written down stays.
void show_anew(const campaign::Folder& folder, const std::string& format, Console& console) {
  const campaign::Plan plan = folder.read_plan();
  const campaign::PredictionFile prediction = predict_campaign(folder, plan, std::nullopt, console);
  static_cast<void>(judge_and_show(folder, plan, prediction, "", "report_anew.json", format, console));
}

/// Asks for all that a campaign runs with, before anything is made for it.
void find_means(const campaign::Plan& plan, CampaignRunner& runner) {
  if (!std::filesystem::exists(runner.engine)) {
    throw Error(kPartNotBuilt, runner.engine.string(), "the engine is not part of this build",
                "build the preset engine-cuda, or name one with --engine");
  }
  runner.engine_help = ask_child(runner.engine, {"run", "--help"}, std::chrono::seconds(60)).text;
  if (plan.device == "cuda") runner.gpus = visible_gpus();
  const bool records = !plan.recording || plan.record_all;
  if (records && !runner.engine_knows("--record") && !std::filesystem::exists(runner.recorder)) {
    throw Error(kPartNotBuilt, runner.recorder.string(),
                "recording is not part of this build, and the engine cannot record itself",
                "build the preset gpu-node, or name another engine with --engine");
  }
}

int run_validate(const ValidateRequest& request, Console& console) {
  if (request.report) {
    static_cast<void>(show(campaign::Folder(*request.report), request.format, console));
    return 0;
  }
  if (request.repredict) {
    show_anew(campaign::Folder(*request.repredict), request.format, console);
    return 0;
  }
  if (!request.out && !request.resume) {
    throw Error(kNotPlanned, "validate", "needs one of --out, --resume, --report and --repredict",
                "--out begins a campaign in a new folder");
  }
  PlannedCampaign asked;
  if (request.out) asked = plan_of(request);
  const std::filesystem::path here = folder_of_this_program();
  CampaignRunner runner{.engine = request.engine ? std::filesystem::path(*request.engine) : here / "interlace-engine",
                        .recorder = here / "interlace-record",
                        .budget = std::nullopt,
                        .run_limit = std::chrono::seconds(request.run_limit_s)};
  if (request.minutes) runner.budget = std::chrono::seconds(static_cast<std::int64_t>(*request.minutes * 60));
  const campaign::Folder folder(request.out ? *request.out : *request.resume);
  const campaign::Plan plan = request.out ? asked.plan : folder.read_plan();
  if (request.out) report::refuse_unwritable_folder(folder.path());
  find_means(plan, runner);
  if (request.out) std::filesystem::create_directories(folder.path());
  const campaign::Lock lock(folder);
  if (request.out) {
    asked.plan.hardware = runner.gpus;
    asked.plan.engine = digest_of_engine(runner.engine);
    folder.create(asked.plan, asked.inputs);
  }
  const bool finished = carry_out(folder, runner, console);
  if (!finished) {
    console.note("not finished: go on with: interlace validate --resume " + folder.path().string());
    if (!folder.read_prediction()) return kUnfinished;
  }
  const campaign::Judgement judgement = show(folder, request.format, console);
  if (!finished) return kUnfinished;
  // Without a run of the recorded schedule nothing can be said of any other.
  const auto has_result = [](const campaign::ScheduleJudgement& row) { return row.recorded && row.runs > 0; };
  return std::ranges::any_of(judgement.schedules, has_result) ? 0 : 1;
}

void add_plan_options(CLI::App& validate, ValidateRequest& request) {
  campaign::Plan& plan = request.plan;
  plan.recorded = "torchrec/sparse_dist";
  plan.schedules = {"all"};
  validate.add_option("--workload", plan.workload, "What is trained (interlace-engine workloads), or a file")
      ->type_name("NAME|FILE");
  validate.add_option("--record", plan.recorded, "The schedule to record and to predict from")
      ->capture_default_str()
      ->type_name("NAME|FILE");
  CLI::Option* const from =
      validate.add_option("--from", plan.recording, "A recording of that schedule, instead of making one")
          ->type_name("FILE|DIR");
  validate
      .add_option(
          "--recordings", plan.recordings,
          "Runs that record it: predictions are means over them, and so is the overlap of as many recorded runs "
          "of each schedule")
      ->check(CLI::Range(1, 100))
      ->capture_default_str()
      ->excludes(from);
  validate.add_option("--schedules", plan.schedules, "Schedules to predict and to run, or all that apply")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("all|NAME|FILE,...");
  validate.add_option("--machine", plan.machine, "Profile of the machine for the predictions (interlace calibrate)")
      ->type_name("FILE");
  validate.add_option("--ranks", plan.ranks, "Ranks to start; the workload's number where absent")
      ->check(CLI::Range(1, 4096));
  validate.add_option("--batch", plan.batch, "Samples a batch and rank; the workload's where absent")
      ->check(whole_number(1, INT32_MAX));
  validate.add_option("--device", plan.device, "Where to run")
      ->check(CLI::IsMember({"cuda", "cpu"}))
      ->capture_default_str();
  validate
      .add_option("--references", plan.references,
                  "Runs of the recorded schedule without the recorder, before the prediction; 0: the recording's own")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  validate.add_option("--repeats", plan.repeats, "Measured runs of each schedule")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  validate.add_option("--steps", plan.steps, "Timed steps of a run")
      ->check(whole_number(1, INT32_MAX))
      ->capture_default_str();
  validate.add_option("--warmup", plan.warmup, "Steps before them")
      ->check(whole_number(0, INT32_MAX))
      ->capture_default_str();
  validate.add_option("--record-steps", plan.recorded_steps, "Timed steps of a recorded run")
      ->check(CLI::Range(3, 10'000))
      ->capture_default_str();
  validate.add_flag_callback(
      "--no-traces", [&plan] { plan.record_all = false; }, "Record no further runs: no measured overlap");
  validate.add_option("--env", request.environment, "A variable for the engine, also more than once")
      ->type_name("NAME=VALUE");
}

/// Throws where one of these was given with `way`, beside which they mean nothing.
void refuse_beside(const CLI::Option& way, std::span<CLI::Option* const> others) {
  for (const CLI::Option* other : others) {
    if (way.count() > 0 && other->count() > 0) throw CLI::ExcludesError(way.get_name(), other->get_name());
  }
}

}  // namespace

void add_validate(CLI::App& app, Action& chosen, int& status) {
  const auto request = std::make_shared<ValidateRequest>();
  CLI::App* validate = app.add_subcommand(
      "validate", "Record one schedule on GPUs, predict all from it, run all, and hold the one against the other");
  validate->footer(
      "Exit status: 0 when all is done, 3 where --minutes ended it before, 1 where something is wrong, also where no "
      "run of the recorded schedule came to an end.");
  add_plan_options(*validate, *request);
  const std::vector<CLI::Option*> of_a_plan =
      validate->get_options([](const CLI::Option* option) { return !option->check_name("--help"); });
  const std::vector<CLI::Option*> of_runs{
      validate->add_option("--minutes", request->minutes, "Stop before so many have passed; --resume goes on")
          ->check(number("number of minutes", kLeastMinutes, kMostMinutes)),
      validate->add_option("--engine", request->engine, "interlace-engine, where it is not beside this program")
          ->type_name("FILE"),
      validate->add_option("--run-limit", request->run_limit_s, "Seconds after which a run is ended")
          ->check(CLI::Range(1, 86'400))
          ->capture_default_str()};
  const std::vector<CLI::Option*> ways{
      validate->add_option("--out", request->out, "Folder of a new campaign")->type_name("DIR"),
      validate->add_option("--resume", request->resume, "Go on with a campaign")->type_name("DIR"),
      validate->add_option("--report", request->report, "Make the figures of a campaign anew, without a GPU")
          ->type_name("DIR"),
      validate
          ->add_option(
              "--repredict", request->repredict,
              "Predict a campaign's recording anew and hold that against its measurements: what a changed model "
              "would have said")
          ->type_name("DIR")};
  for (CLI::Option* option : of_a_plan) option->group("A new campaign (with --out)");
  for (CLI::Option* option : of_runs) option->group("Runs (with --out or --resume)");
  validate->add_option("--format", request->format, "How to write the answer")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  validate->callback([request, &chosen, &status, of_a_plan, of_runs, ways] {
    // A campaign's plan is fixed when it begins; its figures need no runs.
    for (std::size_t way = 0; way < ways.size(); ++way) {
      refuse_beside(*ways[way], std::span(ways).first(way));
      if (way > 0) refuse_beside(*ways[way], of_a_plan);
      if (way > 1) refuse_beside(*ways[way], of_runs);
    }
    chosen = [request, &status](Console& console) { status = run_validate(*request, console); };
  });
}

}  // namespace interlace::cli
