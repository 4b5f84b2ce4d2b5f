#include "engine/launch/recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include "cupti_collector/collector.hpp"
#include "simulator/base/random_name.hpp"

namespace interlace::engine {

namespace {

namespace fs = std::filesystem;

constexpr auto kNanosecondsASecond = static_cast<double>(kSecond);

// Where the user has set it, it stays.
void set_variable(const char* name, const std::string& value) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): what other threads there are, of the store and the Watch, reads none
  static_cast<void>(setenv(name, value.c_str(), 0));
}

fs::path collector_library(const fs::path& program) {
  const fs::path beside = program.parent_path() / "../lib/libinterlace_collector.so";
  return fs::exists(beside) ? fs::canonical(beside) : fs::path();
}

}  // namespace

void check_recording_folder(const fs::path& folder) {
  std::error_code none;  // no folder, no recording
  const bool in_use = std::ranges::any_of(fs::directory_iterator(folder, none),
                                          [](const auto& entry) { return entry.path().extension() == ".ilt"; });
  if (in_use) {
    throw Error(kCannotRecord, folder.string(), "the folder holds a recording already",
                "name another with --record, or remove it");
  }
}

void make_recording_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw Error(kCannotRecord, folder.string(), problem.message(), "name another with --record");
  check_recording_folder(folder);
}

void set_recording_run(const std::string& run) { set_variable("INTERLACE_RECORD_RUN", run); }

void record_timed_steps(const fs::path& folder, const fs::path& program, TrainOptions& training) {
  const fs::path library = collector_library(program);
  // NVTX asks for it with the first range, NCCL with the first communicator.
  if (!library.empty()) {
    set_variable("NVTX_INJECTION64_PATH", library.string());
    set_variable("NCCL_PROFILER_PLUGIN", library.string());
  }
  // From the start, so that streams, communicators and what the allocator holds are known; but only the timed steps.
  collector::start(fs::absolute(folder), library);
  collector::stop();
  training.before_timed = [steps = training.reference](double seconds) {
    collector::start();
    const double all = seconds * static_cast<double>(steps) * kNanosecondsASecond;
    if (steps > 0) collector::tell({.steps = steps, .time = std::llround(all)});
  };
  training.after_timed = [] { collector::stop(); };
}

// Lines of kind, process, program and text, parted by tabs; those of the kind "note" are for people.
std::vector<std::string> take_notes(const fs::path& folder) {
  // Taken away before it is read: what a rank says meanwhile begins another.
  const fs::path file = folder / ("record.log." + random_name());
  std::error_code failure;
  fs::rename(folder / "record.log", file, failure);
  std::vector<std::string> notes;
  if (failure) return notes;
  std::ifstream log(file);
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with("note\t")) notes.push_back(line.substr(line.rfind('\t') + 1));
  }
  log.close();
  fs::remove(file, failure);
  return notes;
}

}  // namespace interlace::engine
