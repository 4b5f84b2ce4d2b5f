#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "simulator/base/text_file.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/validate_request.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::cli {

namespace {

class Inputs {
 public:
  /// A file of the user's as the campaign keeps it.
  std::string keep(const std::string& part, const std::string& file) {
    std::string text = read_text_file(file, kNotPlanned, "check its name and permissions");
    std::string name = "inputs/" + part + "/" + std::filesystem::path(file).filename().string();
    files_.emplace(name, std::move(text));
    return name;
  }

  /// A schedule by what the plan is to call it: built-in ones by their names, others as files.
  std::string keep_schedule(const std::string& asked) {
    schedule::Schedule schedule = schedule::load_beside(asked, schedules_);
    if (schedule::is_built_in(schedule.name)) return schedule.name;  // also a file that says the same
    const std::string stem = campaign::file_stem(schedule.name);
    for (const schedule::Schedule& other : schedules_) {
      if (campaign::file_stem(other.name) == stem && !schedule::same_pipeline(other, schedule))
        clash(asked, other.name);
    }
    for (const schedule::LibraryEntry& entry : schedule::library()) {
      if (campaign::file_stem(std::string(entry.name)) == stem) clash(asked, std::string(entry.name));
    }
    std::string name = "inputs/schedules/" + stem + ".json";
    files_.emplace(name, schedule::print(schedule));
    schedules_.push_back(std::move(schedule));
    return name;
  }

  std::map<std::string, std::string> take() { return std::move(files_); }

 private:
  [[noreturn]] static void clash(const std::string& asked, const std::string& other) {
    throw Error(kNotPlanned, asked, fmt::format("its name cannot be told from that of {}", other),
                "give it another \"name\"");
  }

  std::vector<schedule::Schedule> schedules_;  ///< those that are kept
  std::map<std::string, std::string> files_;
};

}  // namespace

PlannedCampaign planned(campaign::Plan asked) {
  Inputs inputs;
  asked.recorded = inputs.keep_schedule(asked.recorded);
  for (std::string& schedule : asked.schedules) {
    if (schedule != "all") schedule = inputs.keep_schedule(schedule);
  }
  // The engine takes by their endings what are files.
  if (asked.workload.ends_with(".json")) asked.workload = inputs.keep("workload", asked.workload);
  if (asked.machine) asked.machine = inputs.keep("machine", *asked.machine);
  if (asked.recording) asked.recording = std::filesystem::absolute(*asked.recording).string();
  return {std::move(asked), inputs.take()};
}

}  // namespace interlace::cli
