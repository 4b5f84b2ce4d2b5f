// interlace-record: what `interlace record` runs.
#include <dlfcn.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>

#include "cupti_collector/control_file.hpp"
#include "cupti_collector/options.hpp"
#include "cupti_collector/record/launch.hpp"
#include "cupti_collector/record/recorded_files.hpp"
#include "cupti_collector/record/summary.hpp"
#include "simulator/base/program.hpp"
#include "simulator/base/random_name.hpp"
#include "simulator/base/usage_error.hpp"

namespace {

namespace fs = std::filesystem;
using namespace interlace::collector;  // the program is a part of it
using interlace::Nanoseconds;

/// Where CUDA and NVTX look for a library of a tool.
constexpr std::array kInjections{"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

constexpr const char* kNcclPlugin = "NCCL_PROFILER_PLUGIN";

struct Request {
  std::string out = "interlace_recording";
  bool overwrite = false;
  bool quiet = false;
  std::int64_t flush_ms = 20;
  std::int64_t buffers_mib = 256;
  bool light = false;
  std::string graphs = "nodes";
  std::string window;
  std::int64_t steps = 0;
  std::int64_t skip = 0;
  std::string step_name = "step";
  std::string step_seconds;
  bool start_off = false;
  bool control = false;
  std::int64_t most_mb = 0;
  std::int64_t most_mb_a_second = 0;
  std::string last;
  std::string cupti;
  std::string library;
  std::vector<std::string> command;
};

/// The collector library, as the build and an installation lay it beside this program.
fs::path find_library(const std::string& asked) {
  if (!asked.empty()) return fs::absolute(asked);
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../lib/libinterlace_collector.so", "libinterlace_collector.so"}) {
    if (fs::exists(here / place)) return fs::canonical(here / place);
  }
  throw interlace::Error(kCannotRun, (here / "../lib/libinterlace_collector.so").lexically_normal().string(),
                         "the collector library is not there", "build it, or name it with --library");
}

/// unit: what the number counts, in seconds.
Nanoseconds to_nanoseconds(const std::string& number, const char* option, const char* example, double unit = 1) {
  std::size_t end = 0;
  double seconds = -1;
  try {
    seconds = unit * std::stod(number, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  constexpr double kLongest = 1e9;
  if (end == 0 || end != number.size() || !(seconds >= 0 && seconds <= kLongest)) {
    throw interlace::Error(kBadOption, option, "'" + number + "' is no time up to 10^9 seconds",
                           std::string("say ") + example);
  }
  return static_cast<Nanoseconds>(seconds * 1e9);
}

constexpr const char* kWindowExample = "--window 10:20";

/// "30", "30s", "2m" -> nanoseconds.
Nanoseconds last_part(std::string text) {
  constexpr const char* kExample = "--last 30s";
  constexpr double kMinute = 60;
  double unit = 1;
  if (text.ends_with('s') || text.ends_with('m')) {
    unit = text.back() == 'm' ? kMinute : 1;
    text.pop_back();
  }
  const Nanoseconds time = to_nanoseconds(text, "--last", kExample, unit);
  if (time <= 0)
    throw interlace::Error(kBadOption, "--last", "no time is nothing to keep", std::string("say ") + kExample);
  return time;
}

/// What part of the program to record.
Plan plan_of(const Request& request) {
  Plan plan;
  plan.starts_off = request.start_off;
  if (!request.step_seconds.empty()) {
    const Nanoseconds period = to_nanoseconds(request.step_seconds, "--step-seconds", "--step-seconds 0.5");
    constexpr Nanoseconds kLongest = 1'000'000'000 * interlace::kSecond;
    const bool is_in_range = period > 0 && period <= kLongest / std::max<std::int64_t>(1, request.skip + request.steps);
    if (!is_in_range) {
      throw interlace::Error(kBadOption, "--step-seconds", "'" + request.step_seconds + "' makes no steps",
                             "say --step-seconds 0.5");
    }
    plan.begin = request.skip * period;
    if (request.steps > 0) plan.end = plan.begin + request.steps * period;
  } else if (request.steps > 0 || request.skip > 0) {
    plan.step_name = request.step_name;
    plan.steps = request.steps;
    plan.skip = request.skip;
  }
  if (request.window.empty()) return plan;
  const std::size_t colon = request.window.find(':');
  plan.begin = to_nanoseconds(request.window.substr(0, colon), "--window", kWindowExample);
  if (colon != std::string::npos)
    plan.end = to_nanoseconds(request.window.substr(colon + 1), "--window", kWindowExample);
  if (plan.end && *plan.end <= plan.begin) {
    throw interlace::Error(kBadOption, "--window", "'" + request.window + "' ends before it begins",
                           "say --window 10:20");
  }
  return plan;
}

int record(const Request& request) {
  Options options;
  options.run_id = interlace::random_name();
  options.cupti = request.cupti.empty() ? std::string() : fs::absolute(request.cupti).string();
  options.flush_period = request.flush_ms * interlace::kMillisecond;
  options.buffers_limit = request.buffers_mib << 20;
  options.light = request.light;
  options.whole_graphs = request.graphs == "whole";
  options.plan = plan_of(request);
  options.most_bytes = request.most_mb * 1'000'000;
  options.most_bytes_a_second = request.most_mb_a_second * 1'000'000;
  if (!request.last.empty()) options.last = last_part(request.last);
  const std::string library = find_library(request.library).string();
  // Behind all that refuses a request: an old recording is gone then.
  options.folder = prepare_folder(request.out, request.overwrite);
  auto environment = to_environment(options);
  for (const char* injection : kInjections) {
    environment.emplace_back(injection, library);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
    if (const char* other = std::getenv(injection)) {
      write_log(options.folder, "note", std::string(other) + " is not injected: only one library can be");
    }
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  if (std::getenv(kNcclPlugin) == nullptr) {
    environment.emplace_back(kNcclPlugin, library);
  } else {
    write_log(options.folder, "note",
              std::string(kNcclPlugin) + " is set already: the bytes and ranks of NCCL's collectives are not recorded");
  }
  std::function<void()> on_toggle;
  if (request.control) {
    on_toggle = [&options, is_on = !options.plan.begins_off()]() mutable {
      if (options.last > 0) {
        static_cast<void>(ControlFile::write_dump(options.folder));
        return;
      }
      is_on = !ControlFile::read(ControlFile::file(options.folder)).value_or(is_on);
      static_cast<void>(ControlFile::write(options.folder, is_on));
    };
  }
  const ProgramEnd program = run_program(request.command, environment, on_toggle);
  const auto log = read_log(options.folder);
  const auto files = close_files(options.folder, log);
  std::error_code ignored;
  fs::remove(session_log_file(options.folder), ignored);
  ControlFile::remove(options.folder);
  const bool has_driver = !files.empty() || dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
  // The log is gone: what it says of a flaw stands nowhere else.
  const Telling telling = request.quiet ? Telling::kFlaws : Telling::kAll;
  std::cerr << summary(request.out, program, files, log, has_driver, telling) << std::flush;
  end_like(program);
}

int run(int argc, char** argv) {
  CLI::App app{
      "Records any CUDA program: interlace record [options] -- program arguments...\n"
      "The program keeps its output and exit status. Each of its processes that uses CUDA leaves one .ilt file,\n"
      "readable at any moment, in a folder that all other commands read as one recording.",
      "interlace record"};
  Request request;
  app.add_option("-o,--out", request.out, "Folder of the recording")->capture_default_str()->type_name("DIR");
  app.add_flag("--overwrite", request.overwrite, "Replace a recording that the folder holds");
  app.add_flag("-q,--quiet", request.quiet, "No summary but of what went wrong");
  app.add_flag("--light", request.light,
               "Of all calls, record only those that launch, copy or order work, and no memory");
  app.add_option("--graphs", request.graphs,
                 "Record a launch of a CUDA graph node by node, or, at less cost, as a whole")
      ->capture_default_str()
      ->check(CLI::IsMember({"nodes", "whole"}));
  app.add_option("--window", request.window, "Record from FROM to TO seconds after the program's first CUDA call")
      ->type_name("FROM[:TO]")
      ->excludes(app.add_option("--steps", request.steps, "Record so many steps of the program, then stop")
                     ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000})))
      ->excludes(app.add_option("--skip", request.skip, "Before that, let so many steps pass")
                     ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000})));
  app.add_option("--step-name", request.step_name, "The mark or range that begins a step")->capture_default_str();
  app.add_option("--step-seconds", request.step_seconds,
                 "A step is a period of so long instead, from the first CUDA call")
      ->type_name("SECONDS");
  app.add_flag("--start-off", request.start_off, "Begin to record when told to: see --control");
  app.add_flag(
      "--control", request.control,
      "SIGUSR2 to this program stops recording and lets it go on, in all processes; so do the words `off` and\n"
      "`on` in the file `control` of the recording's folder, with or without this flag");
  app.add_option("--max-mb", request.most_mb, "Stop recording a process when its file is so large")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_option("--max-mb-per-s", request.most_mb_a_second,
                 "Where a process's file grows faster, let recording rest until the next second")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  app.add_option("--last", request.last,
                 "Keep the last 30s, or 2m, in memory and write them at the end, and when the file `control` of the\n"
                 "recording's folder says `dump` (with --control: at each SIGUSR2)")
      ->type_name("TIME");
  app.add_option("--flush-ms", request.flush_ms, "Write this often; a killed program loses what is younger")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  app.add_option("--buffers", request.buffers_mib, "Memory for records on their way, MiB")
      ->capture_default_str()
      ->check(CLI::Range(8, 65'536));
  app.add_option("--cupti", request.cupti, "The libcupti to use instead of the one found")->check(CLI::ExistingFile);
  app.add_option("--library", request.library, "The collector library")->check(CLI::ExistingFile);
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return interlace::end_of_parsing(app, error);
  }
  request.command = app.remaining();
  if (!request.command.empty() && request.command.front() == "--") {
    request.command.erase(request.command.begin());
  } else if (!request.command.empty() && request.command.front().starts_with('-')) {
    return interlace::refuse(interlace::not_known(app, request.command.front()));
  }
  if (request.command.empty()) {
    return interlace::refuse(
        interlace::Error(interlace::kWrongUse, "", "no program is named", "put it behind the options: -- PROGRAM"));
  }
  return record(request);
}

}  // namespace

int main(int argc, char** argv) {
  return interlace::end_of([argc, argv] { return run(argc, argv); });
}
