#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/subcommands.hpp"
#include "engine/job/subprocess.hpp"
#include "engine/launch/fit.hpp"
#include "engine/report/bench_report.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::engine::cli {

namespace {

inline constexpr ErrorCode kBenchFailed{"engine.bench_failed"};

struct BenchRequest {
  std::string workload;
  std::vector<std::string> schedules;
  std::string device = "cuda";
  std::string format = "table";
  std::optional<int> ranks;
  std::optional<std::int64_t> steps;
  int repeats = 5;
  std::int64_t warmup = 5;
};

// "all": the sound ones of the library that fit the workload; the others are told on standard error.
std::vector<std::string> chosen_schedules(const BenchRequest& request, const Workload& workload) {
  if (request.schedules != std::vector<std::string>{"all"}) {
    for (const std::string& name : request.schedules) check_fit(schedule::load(name), workload);
    return request.schedules;
  }
  std::vector<std::string> fitting;
  for (const schedule::Schedule& schedule : schedule::all_sound()) {
    try {
      check_fit(schedule, workload);
      fitting.push_back(schedule.name);
    } catch (const Error& error) {
      std::cerr << "left out: " << error.place() << ": " << error.problem() << '\n';
    }
  }
  if (fitting.empty()) throw Error(kWorkloadMismatch, workload.name, "no built-in schedule fits", "name a file");
  return fitting;
}

std::vector<std::string> arguments_of_run(const BenchRequest& request, const std::string& schedule) {
  std::vector<std::string> arguments = {"run",
                                        "--workload",
                                        request.workload,
                                        "--schedule",
                                        schedule,
                                        "--device",
                                        request.device,
                                        "--format",
                                        "json",
                                        "--warmup",
                                        std::to_string(request.warmup)};
  if (request.ranks) arguments.insert(arguments.end(), {"--ranks", std::to_string(*request.ranks)});
  if (request.steps) arguments.insert(arguments.end(), {"--steps", std::to_string(*request.steps)});
  return arguments;
}

// Each run has processes of its own, since memory that an earlier one has reserved would count for a later one. Each
// round begins with another schedule, so that what drifts, clocks and temperatures, hits all alike.
void bench(const BenchRequest& request) {
  const Workload workload = load_workload(request.workload);
  BenchReport report{.workload = workload.name,
                     .device = request.device,
                     .steps = request.steps.value_or(workload.steps),
                     .warmup = request.warmup,
                     .lines = {}};
  for (const std::string& name : chosen_schedules(request, workload)) report.lines.push_back({name, {}});
  const std::string engine = this_program();
  const auto repeats = static_cast<std::size_t>(request.repeats);
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t turn = 0; turn < report.lines.size(); ++turn) {
      BenchLine& line = report.lines[(repeat + turn) % report.lines.size()];
      std::cerr << "run " << repeat + 1 << " of " << repeats << ": " << line.schedule << std::endl;
      const Finished finished = run_program(engine, arguments_of_run(request, line.schedule));
      if (finished.status != 0) {
        throw Error(kBenchFailed, line.schedule, "ended with status " + std::to_string(finished.status),
                    "its own message stands above");
      }
      line.runs.push_back(read_run(finished.out));
    }
  }
  if (request.format == "json") {
    write_json(std::cout, report);
  } else {
    write_table(std::cout, report);
  }
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<BenchRequest>();
  CLI::App* command = app.add_subcommand("bench", "Compare schedules on a workload");
  command->add_option("--workload", request->workload, "A built-in workload (interlace-engine workloads) or a file")
      ->required()
      ->type_name("NAME|FILE");
  command->add_option("--schedules", request->schedules, "Built-in schedules or files, or all that fit")
      ->required()
      ->delimiter(',')
      ->type_name("all|NAME|FILE,...");
  command->add_option("--device", request->device, "Where to run")
      ->check(CLI::IsMember({"cuda", "cpu"}))
      ->capture_default_str();
  command->add_option("--ranks", request->ranks, "Ranks to start; the workload's number where absent")
      ->check(CLI::Range(1, 4096));
  command->add_option("--steps", request->steps, "Batches to train on; the workload's number where absent")
      ->check(CLI::PositiveNumber);
  command->add_option("--warmup", request->warmup, "Batches to train on before those that are timed, in each run")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--repeats", request->repeats, "Runs of each schedule")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--format", request->format, "How to write the result")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([request, &chosen] {
    chosen = [request] {
      bench(*request);
      return EXIT_SUCCESS;
    };
  });
}

}  // namespace interlace::engine::cli
