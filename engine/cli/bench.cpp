#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/job_options.hpp"
#include "engine/cli/subcommands.hpp"
#include "engine/job/subprocess.hpp"
#include "engine/launch/fit.hpp"
#include "engine/launch/recording.hpp"
#include "engine/report/bench_report.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::engine::cli {

namespace {

inline constexpr ErrorCode kBenchFailed{"engine.bench_failed"};

struct BenchRequest : JobRequest {
  std::vector<std::string> schedules;
  int repeats = 5;
  std::int64_t warmup = 5;
};

// "all": the sound ones of the library that fit the workload; the others are told on standard error.
std::vector<std::string> chosen_schedules(const BenchRequest& request, const Workload& workload) {
  if (request.schedules != std::vector<std::string>{"all"}) {
    std::vector<std::string> chosen;
    for (const std::string& name : request.schedules) {
      const schedule::Schedule schedule = schedule::load(name);
      check_fit(schedule, workload);
      const bool of_library = schedule.source == schedule::built_in_source(schedule.name);
      chosen.push_back(of_library ? schedule.name : name);
    }
    return chosen;
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
                                        std::to_string(request.warmup),
                                        "--cooldown",
                                        std::to_string(schedule::depth(schedule::load(schedule)))};
  const auto add = [&](const char* option, const auto& value) {
    if (value) arguments.insert(arguments.end(), {option, std::to_string(*value)});
  };
  add("--ranks", request.changes.ranks);
  add("--batch", request.changes.batch);
  add("--steps", request.changes.steps);
  if (request.changes.feature_processors) arguments.emplace_back("--feature-processor");
  return arguments;
}

// What the run wrote; none where it fails, which the line then says.
std::optional<std::string> output_of(BenchLine& line, const std::vector<std::string>& arguments) {
  Finished finished = run_program(this_program(), arguments);
  if (finished.status == 0) return std::move(finished.out);
  line.failure = "ended with status " + std::to_string(finished.status);
  return std::nullopt;
}

std::filesystem::path recording_of(const BenchRequest& request, const std::string& schedule) {
  std::string folder = schedule;
  std::ranges::replace(folder, '/', '.');
  return std::filesystem::path(request.record) / folder;
}

// Before all runs are made that would then be recorded.
void check_recording(const BenchRequest& request, const BenchReport& report) {
  if (request.record.empty()) return;
  check_recorded_device(request);
  for (const BenchLine& line : report.lines) check_recording_folder(recording_of(request, line.schedule));
}

// Recorded runs are none of those that are timed: recording takes time.
void record_each(const BenchRequest& request, BenchReport& report) {
  for (BenchLine& line : report.lines) {
    if (!line.failure.empty()) continue;
    std::cerr << "recording " << line.schedule << std::endl;
    std::vector<std::string> arguments = arguments_of_run(request, line.schedule);
    arguments.insert(arguments.end(), {"--record", recording_of(request, line.schedule).string()});
    static_cast<void>(output_of(line, arguments));
  }
}

void write(const BenchRequest& request, const BenchReport& report) {
  const auto has_runs = [](const BenchLine& line) { return !line.runs.empty(); };
  if (std::ranges::none_of(report.lines, has_runs)) return;
  if (request.format == "json") {
    write_json(std::cout, report);
  } else {
    write_table(std::cout, report);
  }
  std::cout.flush();
}

void refuse_failures(const BenchReport& report) {
  std::string failed;
  for (const BenchLine& line : report.lines) {
    if (!line.failure.empty()) failed += (failed.empty() ? "" : ", ") + line.schedule + ": " + line.failure;
  }
  if (!failed.empty()) throw Error(kBenchFailed, "", failed, "its own message stands above");
}

// A schedule that has failed is not run again. Each run has processes of its own, since memory that an earlier one has
// reserved would count for a later one. Each round begins with another schedule, so that what drifts, clocks and
// temperatures, hits all alike.
void bench(const BenchRequest& request) {
  hear_of_ended_children();
  Workload workload = load_workload(request.workload);
  change(workload, request.changes);
  BenchReport report{.workload = workload.name,
                     .device = request.device,
                     .steps = workload.steps,
                     .warmup = request.warmup,
                     .lines = {}};
  for (const std::string& name : chosen_schedules(request, workload)) report.lines.push_back({name, {}, {}});
  check_recording(request, report);
  const auto repeats = static_cast<std::size_t>(request.repeats);
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t turn = 0; turn < report.lines.size(); ++turn) {
      BenchLine& line = report.lines[(repeat + turn) % report.lines.size()];
      if (!line.failure.empty()) continue;
      std::cerr << "run " << repeat + 1 << " of " << repeats << ": " << line.schedule << std::endl;
      if (const auto written = output_of(line, arguments_of_run(request, line.schedule))) take_run(line, *written);
    }
  }
  // What was measured is there, whatever becomes of the recordings.
  write(request, report);
  if (!request.record.empty()) record_each(request, report);
  refuse_failures(report);
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<BenchRequest>();
  CLI::App* command = app.add_subcommand("bench", "Compare schedules on a workload");
  command->add_option("--schedules", request->schedules, "Built-in schedules or files, or all that fit")
      ->required()
      ->delimiter(',')
      ->type_name("all|NAME|FILE,...");
  add_job_options(*command, *request, "Record a further run of each schedule, into a folder of its own in this one");
  command->add_option("--warmup", request->warmup, "Batches to train on before those that are timed, in each run")
      ->check(CLI::Range(std::int64_t{0}, kMostSteps))
      ->capture_default_str();
  command->add_option("--repeats", request->repeats, "Runs of each schedule")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->callback([request, &chosen] {
    chosen = [request] {
      bench(*request);
      return EXIT_SUCCESS;
    };
  });
}

}  // namespace interlace::engine::cli
