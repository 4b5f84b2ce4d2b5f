#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/subcommands.hpp"
#include "engine/gpu/run_on_gpus.hpp"
#include "engine/job/start_ranks.hpp"
#include "engine/job/subprocess.hpp"
#include "engine/launch/fit.hpp"
#include "engine/launch/run_on_cpu.hpp"
#include "engine/launch/world.hpp"
#include "engine/report/run_report.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::engine::cli {

namespace {

struct RunRequest {
  std::string workload;
  std::string schedule;
  std::string device = "cuda";
  std::string format = "table";
  std::optional<int> ranks;
  std::optional<std::int64_t> steps;
  std::optional<std::uint64_t> seed;
  TrainOptions training;
  bool foresee_sizes = false;
  int stall_limit = 25;
};

Workload workload_of(const RunRequest& request) {
  Workload workload = load_workload(request.workload);
  if (request.steps) workload.steps = *request.steps;
  workload.steps += request.training.warmup;
  const std::optional<WorldPlace> world = find_world(process_environment());
  if (world && request.ranks && *request.ranks != world->ranks) {
    throw Error(kWorldSize, "--ranks",
                std::to_string(*request.ranks) + " ranks wanted, " + std::to_string(world->ranks) + " started by " +
                    world->starter,
                "leave --ranks out");
  }
  if (world && request.device == "cpu") {
    throw Error(kWorldSize, world->starter, "on a CPU all ranks are threads of one process",
                "start one process, with --ranks");
  }
  if (request.ranks) workload.ranks = *request.ranks;
  if (world) workload.ranks = world->ranks;
  return workload;
}

// Its thread can neither be stopped nor joined.
[[noreturn]] void end_at_once(const std::optional<Error>& error) {
  if (error) std::cerr << error->what() << std::endl;
  _exit(EXIT_FAILURE);
}

std::vector<RankResult> train_on_cpu(const RunRequest& request, const schedule::Schedule& schedule,
                                     const Workload& workload) {
  cpu::CpuOptions options{.seed = request.seed,
                          .stall_limit = std::chrono::seconds(request.stall_limit),
                          .observer = nullptr,
                          .on_stall = [](const Error& error) { end_at_once(error); }};
  const cpu::HostReads foreseen = request.foresee_sizes ? host_reads_of(schedule, workload) : cpu::HostReads{};
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
                                        std::to_string(workload.steps - request.training.warmup),
                                        "--warmup",
                                        std::to_string(request.training.warmup),
                                        "--format",
                                        request.format,
                                        "--stall-limit",
                                        std::to_string(request.stall_limit)};
  if (request.training.profile) arguments.emplace_back("--profile");
  return arguments;
}

int run(const RunRequest& request) {
  const schedule::Schedule schedule = schedule::load(request.schedule);
  const Workload workload = workload_of(request);
  std::optional<std::vector<RankResult>> results;
  if (request.device == "cpu") {
    results = train_on_cpu(request, schedule, workload);
  } else {
    check_fit(schedule, workload);
    const std::optional<WorldPlace> world = find_world(process_environment());
    if (!world) require_gpus(workload.ranks);
    if (!world && workload.ranks > 1) {
      return start_ranks(this_program(), arguments_of_ranks(request, workload), workload.ranks);
    }
    results = run_on_gpus(schedule, workload,
                          {.world = world,
                           .training = request.training,
                           .stall_limit = std::chrono::seconds(request.stall_limit),
                           .ends = [](const std::optional<Error>& error) { end_at_once(error); }});
  }
  if (!results) return EXIT_SUCCESS;  // rank 0 tells all
  const RunReport report{.workload = workload.name,
                         .schedule = schedule.name,
                         .device = request.device,
                         .timed_steps = workload.steps - request.training.warmup,
                         .ranks = std::move(*results)};
  if (request.format == "json") {
    write_json(std::cout, report);
  } else {
    write_table(std::cout, report);
  }
  return EXIT_SUCCESS;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App* command = app.add_subcommand("run", "Train a workload with a schedule");
  command->add_option("--workload", request->workload, "A built-in workload (interlace-engine workloads) or a file")
      ->required()
      ->type_name("NAME|FILE");
  command->add_option("--schedule", request->schedule, "A built-in schedule (interlace schedules) or a file")
      ->required()
      ->type_name("NAME|FILE");
  command->add_option("--device", request->device, "Where to run")
      ->check(CLI::IsMember({"cuda", "cpu"}))
      ->capture_default_str();
  command->add_option("--ranks", request->ranks, "Ranks to start; the workload's number where absent")
      ->check(CLI::Range(1, 4096));
  command->add_option("--steps", request->steps, "Batches to train on; the workload's number where absent")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--warmup", request->training.warmup,
          "Batches to train on before those, without taking their time: the first ones load libraries, connect "
          "ranks and grow memory pools")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--profile", request->training.profile,
                    "Show the time of the host and of the device a timed step, by stage, collective and kernel");
  command->add_option("--seed", request->seed,
                      "With --device cpu: run work of different streams in a random order that this seed decides, to "
                      "find missing waits");
  command->add_flag(
      "--foresee-sizes", request->foresee_sizes,
      "With --device cpu: hosts know the sizes that they read inside stages, from a run before, and do not "
      "wait for them");
  command->add_option("--stall-limit", request->stall_limit, "Seconds without progress after which all ranks are ended")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command->add_option("--format", request->format, "How to write the result")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([request, &chosen] { chosen = [request] { return run(*request); }; });
}

void add_workloads(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("workloads", "List the built-in workloads");
  const auto shown = std::make_shared<std::string>();
  command->add_option("--show", *shown, "Print the file of one, to start one's own from")->type_name("NAME");
  command->callback([shown, &chosen] {
    chosen = [shown] {
      if (!shown->empty()) static_cast<void>(load_workload(*shown));  // refuses unknown names
      for (const WorkloadEntry& entry : workload_library()) {
        const std::string name(entry.name);
        if (*shown == name) std::cout << entry.text;
        if (shown->empty()) {
          std::cout << name << std::string(std::max<std::size_t>(16, name.size() + 2) - name.size(), ' ')
                    << load_workload(name).description << '\n';
        }
      }
      return EXIT_SUCCESS;
    };
  });
}

}  // namespace interlace::engine::cli
