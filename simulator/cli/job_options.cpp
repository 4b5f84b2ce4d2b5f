#include "simulator/cli/job_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "simulator/cli/option_checks.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw CLI::RequiredError(why, CLI::ExitCodes::RequiredError); }

constexpr double kLeastGibibytes = 1e-3;
constexpr double kMostGibibytes = 1e9;  // its bytes fit in 64 bits
constexpr double kShortestStepMs = 1e-3;
constexpr double kLongestStepMs = 1e7;

}  // namespace

void add_recordings_and_schedules(CLI::App& command, PredictRequest& request, const std::string& what) {
  command.add_option("recording,--from", request.recordings, kRecordingsHelp)->type_name("FILE|DIR");
  command
      .add_option("--schedule", request.schedules,
                  what + ": built-in names (interlace schedules), files, or \"all\" that apply")
      ->required()
      ->type_name("NAME|FILE|all");
}

void require_recording(const PredictRequest& request) {
  if (request.recordings.empty()) refuse("no recording is named: it stands in front of the options, or behind --from");
}

void tell_recordings_from_schedules(PredictRequest& request) {
  const auto is_recording = [](const std::string& word) {
    // A folder may be called as the schedule that was recorded into it; a pipe was never asked for a recording.
    const bool is_name = word == "all" || schedule::full_name(word, schedule::library());
    return !is_name && !std::filesystem::is_fifo(word) && !is_schedule(word);
  };
  auto& words = request.schedules;
  const auto moved = std::stable_partition(words.begin(), words.end(), std::not_fn(is_recording));
  const std::vector<std::string> recordings(moved, words.end());
  words.erase(moved, words.end());
  request.recordings.insert(request.recordings.end(), recordings.begin(), recordings.end());
  require_recording(request);
  if (!words.empty()) return;
  if (recordings.empty()) refuse("--schedule is required");
  refuse(
      fmt::format("--schedule {}: that is no schedule, and was taken for a recording: name a built-in one "
                  "(interlace schedules) or a schedule file",
                  recordings.front()));
}

void add_job_options(CLI::App& command, PredictRequest& request) {
  command.add_option("--edit", request.edits, "What-if changes to the recorded job (docs/edits.md)")->type_name("FILE");
  command.add_option("--profile", request.profile, kProfileHelp)->type_name("NAME|FILE");
  command
      .add_option("--machine", request.machine,
                  "Profile of the machine (interlace calibrate), for what the recording does not tell")
      ->type_name("FILE");
  CLI::Option* const measured =
      command
          .add_option("--measured-step-ms", request.measured_step_ms,
                      "Step time of the recorded schedule without the profiler: tells the host's pace, and corrects "
                      "what is predicted (docs/validate.md)")
          ->check(number("step time in ms", kShortestStepMs, kLongestStepMs))
          ->type_name("MS");
  command.add_option(kMemorySnapshotsOption, request.memory_snapshots, kMemorySnapshotsHelp)->type_name("FILE");
  command
      .add_option("--gpu-memory", request.gpu_memory_gib,
                  "Say whether each schedule fits in so much GPU memory: what is left for PyTorch's allocator")
      ->check(number("number of GiB", kLeastGibibytes, kMostGibibytes))
      ->type_name("GIB");
  command.add_flag(
      "--feature-processors", request.feature_processors,
      "The model weighs features by learnt weights inside the lookup: hazards are told as `check` does then");
  command.add_option("--seed", request.seed, "Of the replayed jitter")
      ->check(whole_number(0, UINT64_MAX))
      ->capture_default_str();
  command
      .add_flag("--under-recorder", request.under_recorder,
                "Keep the host as slow as it was recorded: what a recording of each schedule would show")
      ->excludes(measured);
}

}  // namespace interlace::cli
