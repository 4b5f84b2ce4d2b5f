#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "simulator/campaign/next_step.hpp"
#include "simulator/campaign/sha256.hpp"
#include "simulator/cli/child_process.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/validate_request.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::cli {

namespace {

using campaign::NextStep;
using Clock = std::chrono::steady_clock;

/// Nothing where the engine did not come to write it.
std::string content_of(const std::filesystem::path& file) { return campaign::content_of(file).value_or(""); }

/// The last line that says something.
std::string last_line(const std::filesystem::path& log) {
  std::string text = content_of(log);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

class Campaign {
 public:
  Campaign(const campaign::Folder& folder, const CampaignRunner& runner, Console& console)
      : folder_(&folder), runner_(&runner), console_(&console), plan_(folder.read_plan()), began_(Clock::now()) {}

  bool run() {
    check_settings();
    while (true) {
      const auto prediction = folder_->read_prediction();
      const std::vector<campaign::MeasuredRun> runs = folder_->read_runs();
      const std::vector<campaign::MeasuredRun> references = folder_->read_references();
      const std::vector<campaign::MeasuredTrace> traces = folder_->read_traces();
      const NextStep step = campaign::next_step(plan_, {.recordings = folder_->recordings_made(),
                                                        .references = references,
                                                        .prediction = prediction ? &*prediction : nullptr,
                                                        .runs = runs,
                                                        .traces = traces});
      if (step.kind == NextStep::Kind::kDone) return true;
      if (!has_time()) return false;
      const auto from = Clock::now();
      carry_out(step, prediction ? std::ssize(prediction->schedules) : 0);
      longest_ = std::max(longest_, Clock::now() - from);
    }
  }

 private:
  /// Figures of one campaign are of one setting, of one engine on one kind of GPU.
  void check_settings() const {
    const auto refuse = [&](const std::string& what, const char* remedy) {
      throw Error(kOtherSettings, folder_->path().string(), what, remedy);
    };
    if (settings_with(plan_.environment) != plan_.settings) {
      refuse("the variables of CUDA, NCCL or PyTorch are not those that the campaign was begun with",
             "set them as in plan.json, or begin a new campaign");
    }
    if (!plan_.engine.empty() && digest_of_engine(runner_->engine) != plan_.engine) {
      refuse(runner_->engine.string() + " is not the engine that the campaign was begun with",
             "name that one with --engine, or begin a new campaign");
    }
    const auto kinds = [](const std::vector<std::string>& gpus) { return std::set(gpus.begin(), gpus.end()); };
    if (!plan_.hardware.empty() && !runner_->gpus.empty() && kinds(plan_.hardware) != kinds(runner_->gpus)) {
      refuse(fmt::format("the GPUs are {}, the campaign was begun on {}", fmt::join(kinds(runner_->gpus), "; "),
                         fmt::join(kinds(plan_.hardware), "; ")),
             "go on where it was begun, or begin a new campaign");
    }
  }

  /// Whether a step like the longest so far would end within the budget.
  [[nodiscard]] bool has_time() const {
    if (!runner_->budget) return true;
    constexpr std::chrono::seconds kUsual{60};
    const auto expected = std::max<Clock::duration>(longest_ + longest_ / 4, steps_ == 0 ? kUsual : kUsual / 4);
    return Clock::now() - began_ + expected < *runner_->budget;
  }

  void carry_out(const NextStep& step, std::ptrdiff_t schedules) {
    ++steps_;
    switch (step.kind) {
      case NextStep::Kind::kRecord: record(step.repeat); break;
      case NextStep::Kind::kReference:
        console_->note(fmt::format("running {} without the recorder, {} of {}", name_of(step.schedule), step.repeat + 1,
                                   plan_.references));
        folder_->write_reference(measure(step, fmt::format("reference_{:03}", step.repeat)));
        break;
      case NextStep::Kind::kPredict: predict(); break;
      case NextStep::Kind::kRun:
        console_->note(fmt::format("run {} of {}: {}", step.repeat * schedules + step.position + 1,
                                   schedules * plan_.repeats, step.schedule));
        folder_->write_run(measure(step, fmt::format("{:03}", folder_->next_run())));
        break;
      case NextStep::Kind::kRecordRun: record_run(step.schedule, step.repeat); break;
      case NextStep::Kind::kDone: break;
    }
  }

  [[nodiscard]] std::vector<std::string> arguments(const std::string& schedule, std::int64_t steps) {
    std::vector<std::string> words{"run",
                                   "--workload",
                                   folder_->input(plan_.workload),
                                   "--schedule",
                                   engine_name(schedule),
                                   "--device",
                                   plan_.device,
                                   "--steps",
                                   std::to_string(steps),
                                   "--warmup",
                                   std::to_string(plan_.warmup),
                                   "--format",
                                   "json"};
    const auto add = [&](const char* option, const auto& value) {
      if (value) words.insert(words.end(), {option, std::to_string(*value)});
    };
    add("--ranks", plan_.ranks);
    add("--batch", plan_.batch);
    // Of large tables it takes longer than all steps, and nobody reads it here.
    if (runner_->engine_knows("--no-digest")) words.emplace_back("--no-digest");
    if (runner_->engine_knows("--cooldown")) {
      // So that the pipeline does not drain in the timed steps.
      const std::int32_t ahead = schedule::depth(schedule::load(engine_name(schedule)));
      words.insert(words.end(), {"--cooldown", std::to_string(ahead)});
    }
    return words;
  }

  /// A schedule from a file is known to the engine by that file. Names are told apart when the campaign is planned.
  [[nodiscard]] std::string engine_name(const std::string& schedule) const {
    std::vector<std::string> asked = plan_.schedules;
    asked.push_back(plan_.recorded);
    for (const std::string& one : asked) {
      if (one == schedule || (one != "all" && name_of(one) == schedule)) return folder_->input(one);
    }
    return schedule;
  }

  /// Of a schedule as the plan has it.
  [[nodiscard]] std::string name_of(const std::string& planned) const {
    return schedule::load(folder_->input(planned)).name;
  }

  void predict() {
    const std::vector<campaign::MeasuredRun> references = folder_->read_references();
    const bool none_ended =
        !references.empty() && std::ranges::all_of(references, [](const auto& run) { return run.failure.has_value(); });
    if (none_ended) {
      throw Error(kEngineFailed, name_of(plan_.recorded),
                  "none of its runs without the recorder came to an end: " + *references.back().failure,
                  "mend that, delete what is in references/, and go on with --resume");
    }
    console_->note("predicting");
    folder_->write_prediction(predict_campaign(*folder_, plan_, folder_->predicted(), *console_));
    console_->note("prediction.json has SHA-256 " + folder_->prediction_digest());
  }

  /// Why it ended badly; none where it did not.
  std::optional<std::string> run_engine(ChildProcess child) {
    child.environment = plan_.environment;
    child.limit = runner_->run_limit;
    const ChildEnd end = run_child(child);
    if (end.timed_out) return fmt::format("not done after {} s", runner_->run_limit.count());
    if (end.status != 0) return fmt::format("status {}: {}", end.status, last_line(child.log));
    return std::nullopt;
  }

  ChildProcess recorded_child(const std::string& schedule, const std::filesystem::path& into,
                              const std::filesystem::path& out, const std::filesystem::path& log) {
    std::error_code none;
    std::filesystem::remove_all(into, none);  // what an interrupted run left
    std::vector<std::string> words = arguments(schedule, plan_.recorded_steps);
    if (runner_->engine_knows("--record")) {
      words.insert(words.end(), {"--record", into.string()});
      return {runner_->engine, std::move(words), {}, out, log, {}};
    }
    std::vector<std::string> all{"--out", into.string(), "--", runner_->engine.string()};
    all.insert(all.end(), words.begin(), words.end());
    return {runner_->recorder, std::move(all), {}, out, log, {}};
  }

  /// " (2 of 3)" where there are several.
  [[nodiscard]] std::string of_recordings(std::int32_t number) const {
    return plan_.recordings == 1 ? "" : fmt::format(" ({} of {})", number + 1, plan_.recordings);
  }

  void record(std::int32_t number) {
    console_->note("recording " + name_of(plan_.recorded) + of_recordings(number));
    const std::filesystem::path into = folder_->recording(number);
    const std::string stem = into.filename().string();
    const auto out = folder_->logs() / (stem + ".json");
    const auto log = folder_->logs() / (stem + ".log");
    if (const auto failure = run_engine(recorded_child(plan_.recorded, into, out, log))) {
      throw Error(kEngineFailed, name_of(plan_.recorded), "cannot be recorded: " + *failure, "see " + log.string());
    }
    folder_->finish_recording(number, content_of(out));
  }

  /// stem: of the files of its output, among the logs.
  campaign::MeasuredRun measure(const NextStep& step, const std::string& stem) {
    const auto out = folder_->logs() / (stem + ".json");
    const auto log = folder_->logs() / (stem + ".log");
    campaign::MeasuredRun run;
    run.failure = run_engine({runner_->engine, arguments(step.schedule, plan_.steps), {}, out, log, {}});
    if (!run.failure) {
      try {
        run = campaign::read_engine_run(content_of(out), out.string());
      } catch (const Error& error) {
        run.failure = error.place() + ": " + error.problem();
      }
    }
    if (run.failure) console_->note(step.schedule + " failed: " + *run.failure);
    run.schedule = step.schedule;
    run.repeat = step.repeat;
    run.position = step.position;
    return run;
  }

  void record_run(const std::string& schedule, std::int32_t repeat) {
    console_->note("recording " + schedule + " for its overlap" + of_recordings(repeat));
    const std::filesystem::path into = folder_->trace_of(schedule, repeat);
    const std::string stem = into.parent_path().filename().string() + "_" + campaign::file_stem(schedule);
    campaign::MeasuredTrace trace{.schedule = schedule, .step_ms = 0, .overlap = {}, .failure = {}};
    trace.failure = run_engine(
        recorded_child(schedule, into, folder_->logs() / (stem + ".json"), folder_->logs() / (stem + ".log")));
    if (!trace.failure) {
      try {
        trace = measure_trace(into, schedule, *console_);
      } catch (const Error& error) {
        trace.failure = error.what();
      }
    }
    trace.repeat = repeat;
    if (trace.failure) console_->note(schedule + " has no overlap: " + *trace.failure);
    folder_->write_trace(trace);
  }

  const campaign::Folder* folder_;
  const CampaignRunner* runner_;
  Console* console_;
  campaign::Plan plan_;
  Clock::time_point began_;
  Clock::duration longest_{0};
  std::int32_t steps_ = 0;
};

}  // namespace

bool carry_out(const campaign::Folder& folder, const CampaignRunner& runner, Console& console) {
  return Campaign(folder, runner, console).run();
}

std::map<std::string, std::string> settings_with(const std::map<std::string, std::string>& given) {
  // Where things are installed or written is no setting; nor which GPUs of a kind are taken.
  static const std::set<std::string_view> kPlaces = {"CUDA_VISIBLE_DEVICES",
                                                     "CUDA_HOME",
                                                     "CUDA_PATH",
                                                     "CUDA_ROOT",
                                                     "CUDA_BIN_PATH",
                                                     "CUDA_TOOLKIT_ROOT_DIR",
                                                     "CUDA_CACHE_PATH",
                                                     "CUDA_INJECTION64_PATH",
                                                     "CUDA_MPS_LOG_DIRECTORY",
                                                     "CUDA_MPS_PIPE_DIRECTORY",
                                                     "NCCL_ROOT",
                                                     "NCCL_ROOT_DIR",
                                                     "NCCL_HOME",
                                                     "NCCL_DIR",
                                                     "NCCL_INCLUDE_DIR",
                                                     "NCCL_LIB_DIR",
                                                     "NCCL_LIBRARY",
                                                     "NCCL_DEBUG_FILE",
                                                     "NCCL_GRAPH_DUMP_FILE",
                                                     "NCCL_TOPO_DUMP_FILE"};
  std::map<std::string, std::string> settings = given;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos || kPlaces.contains(line.substr(0, sign))) continue;
    for (const std::string_view prefix : {"NCCL_", "CUDA_", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
      if (line.starts_with(prefix)) settings.emplace(line.substr(0, sign), line.substr(sign + 1));
    }
  }
  return settings;
}

std::string digest_of_engine(const std::filesystem::path& engine) { return campaign::sha256(content_of(engine)); }

}  // namespace interlace::cli
