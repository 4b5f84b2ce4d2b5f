#include "simulator/cli/answer_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "simulator/cli/errors.hpp"

namespace interlace::cli {

void tell_recorded(const report::RecordedRun& recorded, Console& console) {
  const auto joined = [](const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); };
  if (recorded.machine_profile) {
    console.note("machine: from " + *recorded.machine_profile + ": " + joined(recorded.machine_values));
  }
  if (!recorded.machine_fitted.empty()) {
    console.note("machine: from the recording: " + joined(recorded.machine_fitted) +
                 (recorded.machine_profile ? "" : "; all else as usual (no --machine)"));
  }
  console.flaws(recorded.diagnostics);
}

void tell_left_out(std::span<const report::SkippedSchedule> skipped, Console& console) {
  for (const report::SkippedGroup& group : report::skipped_by_reason(skipped)) {
    console.note("left out, " + group.why + ": " + group.schedules);
  }
}

std::vector<std::string> files_of(const PredictRequest& request) {
  std::vector<std::string> all;
  for (const auto* named :
       {&request.recordings, &request.again, &request.schedules, &request.edits, &request.memory_snapshots}) {
    all.insert(all.end(), named->begin(), named->end());
  }
  if (request.profile) all.push_back(*request.profile);
  if (request.machine) all.push_back(*request.machine);
  return all;
}

void refuse_no_prediction(const PredictRequest& request, std::size_t left_out) {
  throw Error(kNothingPredicted, request.recordings.front(),
              fmt::format("none of the {} schedules applies to the recording", left_out),
              "the reasons stand above; where stages are missing, give the --profile that names them");
}

}  // namespace interlace::cli
