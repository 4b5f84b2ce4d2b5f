#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/cli/job_options.hpp"
#include "engine/cli/subcommands.hpp"
#include "engine/gpu/run_on_gpus.hpp"
#include "engine/gpu/shared_recording.hpp"
#include "engine/job/standard_output.hpp"
#include "engine/job/start_ranks.hpp"
#include "engine/job/subprocess.hpp"
#include "engine/launch/fit.hpp"
#include "engine/launch/recording.hpp"
#include "engine/launch/run_on_cpu.hpp"
#include "engine/launch/world.hpp"
#include "engine/report/progress_lines.hpp"
#include "engine/report/run_report.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/base/random_name.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::engine::cli {

namespace {

inline constexpr ErrorCode kCpuOnly{"engine.cpu_only"};
inline constexpr ErrorCode kWrongData{"engine.wrong_data"};

struct RunRequest : JobRequest {
  std::string schedule;
  std::string embedding = "own";
  std::optional<std::int64_t> reference;
  std::optional<std::int64_t> cooldown;
  std::optional<std::uint64_t> seed;
  TrainOptions training;
  bool foresee_sizes = false;
  int stall_limit = 25;
};

/// With --record, where nobody says otherwise: enough for the noise of single steps.
constexpr std::int64_t kReferenceSteps = 20;

std::int64_t steps_before(const TrainOptions& training) { return training.warmup + training.reference; }

Workload workload_of(const RunRequest& request) {
  const std::optional<WorldPlace> world = find_world(process_environment());
  if (world && request.changes.ranks && *request.changes.ranks != world->ranks) {
    throw Error(kWorldSize, "--ranks",
                std::to_string(*request.changes.ranks) + " ranks wanted, " + std::to_string(world->ranks) +
                    " started by " + world->starter,
                "leave --ranks out");
  }
  if (world && request.device == "cpu") {
    throw Error(kWorldSize, world->starter, "on a CPU all ranks are threads of one process",
                "start one process, with --ranks");
  }
  WorkloadChanges changes = request.changes;
  if (world) changes.ranks = world->ranks;
  Workload workload = load_workload(request.workload);
  change(workload, changes);
  workload.steps += steps_before(request.training) + request.training.cooldown;
  return workload;
}

std::int64_t timed_steps(const RunRequest& request, const Workload& workload) {
  return workload.steps - steps_before(request.training) - request.training.cooldown;
}

/// A line at once: other ranks may write to the same terminal.
void tell(const Error& error) { std::cerr << std::string(error.what()) + '\n' << std::flush; }

std::vector<RankResult> train_on_cpu(const RunRequest& request, const schedule::Schedule& schedule,
                                     const Workload& workload) {
  keep_standard_output();
  cpu::CpuOptions options{.seed = request.seed,
                          .stall_limit = std::chrono::seconds(request.stall_limit),
                          .observer = nullptr,
                          .on_stall = [](const Error& error) {
                            tell(error);
                            _exit(EXIT_FAILURE);  // its thread can neither be stopped nor joined
                          }};
  const cpu::HostReads foreseen = request.foresee_sizes ? host_reads_of(schedule, workload, options) : cpu::HostReads{};
  if (request.foresee_sizes) options.foreseen = &foreseen;
  return run_on_cpu(schedule, workload, options, {}, request.training);
}

// The same run, for a process that is one of its ranks.
std::vector<std::string> arguments_of_ranks(const RunRequest& request, const Workload& workload) {
  std::vector<std::string> arguments = {"run",
                                        "--workload",
                                        request.workload,
                                        "--schedule",
                                        request.schedule,
                                        "--device",
                                        "cuda",
                                        "--steps",
                                        std::to_string(timed_steps(request, workload)),
                                        "--batch",
                                        std::to_string(workload.batch),
                                        "--warmup",
                                        std::to_string(request.training.warmup),
                                        "--reference",
                                        std::to_string(request.training.reference),
                                        "--cooldown",
                                        std::to_string(request.training.cooldown),
                                        "--format",
                                        request.format,
                                        "--stall-limit",
                                        std::to_string(request.stall_limit)};
  if (workload.feature_processors) arguments.emplace_back("--feature-processor");
  if (request.training.profile) arguments.emplace_back("--profile");
  arguments.insert(arguments.end(), {"--embedding", request.embedding});
  if (!request.training.digest) arguments.emplace_back("--no-digest");
  if (!request.record.empty()) arguments.insert(arguments.end(), {"--record", request.record});
  return arguments;
}

// What NCCL has been told from outside: it decides how long collectives take.
std::map<std::string, std::string> nccl_settings() {
  std::map<std::string, std::string> settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::size_t equals = text.find('=');
    if (!text.starts_with("NCCL_") || equals == std::string_view::npos) continue;
    settings.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

// What the collector noted: told by the process that made the ranks, or else by each rank, as it exits or fails.
class RecordingNotes {
 public:
  RecordingNotes() = default;
  RecordingNotes(const RecordingNotes&) = delete;
  RecordingNotes& operator=(const RecordingNotes&) = delete;
  RecordingNotes(RecordingNotes&&) = delete;
  RecordingNotes& operator=(RecordingNotes&&) = delete;
  ~RecordingNotes() = default;

  void expect_in(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    folder_ = folder;
  }
  /// May be called from any thread.
  void tell() {
    const std::lock_guard lock(mutex_);
    if (!folder_) return;
    for (const std::string& note : take_notes(*folder_)) std::cerr << "recording: " << note << '\n';
    folder_.reset();
  }

 private:
  std::mutex mutex_;
  std::optional<std::string> folder_;
};

// Tells them as this process exits, which is where the collector has its last word: to be called before it starts,
// since of what is to be done at the exit the last comes first. They live to the end.
RecordingNotes& notes_told_at_exit() {
  auto* notes = new RecordingNotes;
  on_exit([](int, void* told) { static_cast<RecordingNotes*>(told)->tell(); }, notes);
  return *notes;
}

// The results of all ranks on rank 0, none on the others.
std::optional<std::vector<RankResult>> train_as_rank(const RunRequest& request, const schedule::Schedule& schedule,
                                                     const Workload& workload, const std::optional<WorldPlace>& world,
                                                     RecordingNotes& notes) {
  keep_standard_output();
  const bool folder_is_made = !world || process_environment()(kStoreIsHeld);
  GpuOptions options{.world = world,
                     .training = request.training,
                     .start_recording = {},
                     .stall_limit = std::chrono::seconds(request.stall_limit),
                     .on_failure = {.tell = [](const Error& error) { tell(error); },
                                    .end =
                                        [&notes] {
                                          notes.tell();
                                          _exit(EXIT_FAILURE);
                                        }}};
  if (!request.record.empty()) {
    options.start_recording = [&](JobStore& store, Progress& progress, TrainOptions& training) {
      if (!folder_is_made) {
        share_recording_folder(store, *world, request.record, progress);
        notes.expect_in(request.record);
      }
      record_timed_steps(request.record, this_program(), training);
    };
  }
  return run_on_gpus(schedule, workload, options);
}

// This process is a rank, or starts all: gives the exit status then.
using Trained = std::variant<int, std::optional<std::vector<RankResult>>>;

Trained train_on_gpus(const RunRequest& request, const schedule::Schedule& schedule, const Workload& workload) {
  check_fit(schedule, workload);
  const std::optional<WorldPlace> world = find_world(process_environment());
  RecordingNotes& notes = notes_told_at_exit();
  if (!world) {
    require_gpus(workload.ranks);
    if (!request.record.empty()) {
      make_recording_folder(request.record);
      set_recording_run(random_name());
      notes.expect_in(request.record);
    }
    if (workload.ranks > 1) {
      return start_ranks(this_program(), arguments_of_ranks(request, workload), workload.ranks);
    }
  }
  return train_as_rank(request, schedule, workload, world, notes);
}

// What would have no effect.
void refuse_idle_options(const RunRequest& request) {
  check_recorded_device(request);
  if (request.device == "cpu") return;
  const char* option = request.seed ? "--seed" : (request.foresee_sizes ? "--foresee-sizes" : nullptr);
  if (option == nullptr) return;
  throw Error(kCpuOnly, option, "the order of work can be chosen on a CPU only", "leave it out, or take --device cpu");
}

// Specimens of races are there to show it.
void refuse_wrong_data(const schedule::Schedule& schedule, const RunReport& report) {
  const std::int64_t wrong = wrong_reads(report);
  if (wrong == 0 || schedule.hazardous) return;
  throw Error(kWrongData, schedule.name, std::to_string(wrong) + " reads of messages found other data than was sent",
              "check the waits of the schedule");
}

int run(RunRequest request) {
  refuse_idle_options(request);
  const schedule::Schedule schedule = schedule::load(request.schedule);
  if (request.embedding == "fbgemm") request.training.embedding = EmbeddingKind::kFbgemm;
  // A recording shows whole steps only.
  request.training.cooldown = request.cooldown.value_or(request.record.empty() ? 0 : schedule::depth(schedule));
  request.training.reference = request.reference.value_or(request.record.empty() ? 0 : kReferenceSteps);
  const Workload workload = workload_of(request);
  const auto progress = std::make_shared<ProgressLines>(std::cerr, workload.steps);
  request.training.on_batch = [progress](std::int64_t batch) { progress->begin(batch); };
  const std::map<std::string, std::string> settings = nccl_settings();
  std::optional<std::vector<RankResult>> results;
  if (request.device == "cpu") {
    results = train_on_cpu(request, schedule, workload);
  } else {
    Trained trained = train_on_gpus(request, schedule, workload);
    if (const int* status = std::get_if<int>(&trained)) return *status;
    results = std::get<std::optional<std::vector<RankResult>>>(std::move(trained));
  }
  if (!results) return EXIT_SUCCESS;  // rank 0 tells all
  const RunReport report{.workload = workload.name,
                         .schedule = schedule.name,
                         .device = request.device,
                         .warmup = steps_before(request.training),
                         .timed_steps = timed_steps(request, workload),
                         .batch = workload.batch,
                         .digest = request.training.digest,
                         .settings = settings,
                         .ranks = std::move(*results)};
  if (request.format == "json") {
    write_json(std::cout, report);
  } else {
    write_table(std::cout, report);
  }
  std::cout.flush();
  refuse_wrong_data(schedule, report);
  return EXIT_SUCCESS;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App* command = app.add_subcommand("run", "Train a workload with a schedule");
  command->add_option("--schedule", request->schedule, "A built-in schedule (interlace schedules) or a file")
      ->required()
      ->type_name("NAME|FILE");
  add_job_options(*command, *request,
                  "Record the timed steps into this folder, which other commands of interlace read");
  command
      ->add_option(
          "--warmup", request->training.warmup,
          "Batches to train on before those, without taking their time: the first ones load libraries, connect "
          "ranks and grow memory pools")
      ->check(CLI::Range(std::int64_t{0}, kMostSteps))
      ->capture_default_str();
  command
      ->add_option("--reference", request->reference,
                   "Batches to train on after the warm-up, whose time goes into the recording, so that predictions can "
                   "tell what recording costs; with --record 20, else none")
      ->check(CLI::Range(std::int64_t{0}, kMostSteps));
  command
      ->add_option("--cooldown", request->cooldown,
                   "Batches to train on after those, without taking their time, so that the pipeline does not drain in "
                   "the timed ones; with --record as many as the schedule works ahead, else none")
      ->check(CLI::Range(std::int64_t{0}, kMostSteps));
  command->add_flag("!--no-digest", request->training.digest,
                    "Leave out the digest of the tables at the end, which reads them all");
  command->add_flag("--profile", request->training.profile,
                    "Show the time of the host and of the device a timed step, by stage, collective and kernel");
  command->add_option("--seed", request->seed,
                      "With --device cpu: run work of different streams in a random order that this seed decides, to "
                      "find missing waits");
  command->add_flag(
      "--foresee-sizes", request->foresee_sizes,
      "With --device cpu: hosts know the sizes that they read inside stages, from a run before, and do not "
      "wait for them");
  command
      ->add_option(
          "--embedding", request->embedding,
          "Whose kernels look tables up and update them: the engine's own, or those of an installed fbgemm-gpu")
      ->check(CLI::IsMember({"own", "fbgemm"}))
      ->capture_default_str();
  command->add_option("--stall-limit", request->stall_limit, "Seconds without progress after which all ranks are ended")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command->callback([request, &chosen] { chosen = [request] { return run(*request); }; });
}

void add_workloads(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("workloads", "List the built-in workloads");
  const auto shown = std::make_shared<std::string>();
  command->add_option("--show", *shown, "Print the file of one, to start one's own from")->type_name("NAME");
  command->callback([shown, &chosen] {
    chosen = [shown] {
      if (!shown->empty()) {
        std::cout << built_in_workload(*shown).text;
        return EXIT_SUCCESS;
      }
      for (const WorkloadEntry& entry : workload_library()) {
        const std::string name(entry.name);
        std::cout << name << std::string(std::max<std::size_t>(16, name.size() + 2) - name.size(), ' ')
                  << load_workload(name).description << '\n';
      }
      return EXIT_SUCCESS;
    };
  });
}

}  // namespace interlace::engine::cli
