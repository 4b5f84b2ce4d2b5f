#include "simulator/what_if/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "simulator/cli/job_options.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recorded_job.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/what_if/apply.hpp"
#include "simulator/what_if/parse.hpp"

namespace interlace::cli {

namespace {

struct SearchRequest {
  PredictRequest job;  ///< its schedules are those to start from besides the recorded one
  std::size_t tries = 2000;
  std::int64_t stale = 0;
};

/// What was recorded first, where it is known, and then those asked for.
std::vector<schedule::Schedule> starts_of(const RecordedJob& job) {
  std::vector<schedule::Schedule> starts;
  if (job.known() != nullptr) starts.push_back(*job.known());
  for (const schedule::AskedSchedule& asked : job.asked()) {
    const auto is_same = [&](const schedule::Schedule& start) { return same_pipeline(start, asked.schedule); };
    if (std::ranges::none_of(starts, is_same)) starts.push_back(asked.schedule);
  }
  return starts;
}

struct Answer {
  what_if::SearchResult result;
  std::optional<std::string> recorded;  ///< the name of the recorded schedule
};

Answer search(const SearchRequest& request, Console& console) {
  const RecordedJob job(request.job, console);
  what_if::SearchOptions options;
  options.predict.simulation.seed = request.job.seed;
  options.predict.simulation.as_recorded = request.job.under_recorder;
  options.most_tries = request.tries;
  options.most_stale = request.stale;
  options.one_rank = job.sites().lone_rank;
  options.feature_processors = request.job.feature_processors;
  const replay::Predictor predictor(job.recording().trace, job.cut(),
                                    what_if::apply_edits(job.sites(), what_if::read_edits(request.job.edits)));
  const auto tell = [&](std::size_t simulated, Nanoseconds best) {
    console.progress(fmt::format("{} schedules simulated, the fastest {:.2f} ms", simulated,
                                 static_cast<double>(best) / static_cast<double>(kMillisecond)));
  };
  return {what_if::search(starts_of(job), predictor, options, tell), job.recorded().schedule};
}

/// "found/semi_sync_2": the second fastest, made of torchrec/semi_sync. A long name is cut to what a schedule may have.
std::string name_of(const what_if::Found& found, std::size_t place) {
  constexpr std::string_view kFolder = "found/";
  const std::string number = fmt::format("_{}", place);
  const std::string_view start = found.start;
  const std::string_view last = start.substr(start.rfind('/') + 1);
  return fmt::format("{}{}{}", kFolder, last.substr(0, schedule::kLongestName - kFolder.size() - number.size()),
                     number);
}

/// From the first start to what was found, what keeps that start free of races first.
std::vector<std::string> what_leads_to(const what_if::Found& found) {
  std::vector<std::string> changes;
  for (const std::string& mend : found.mends) changes.push_back("to be free of races: " + mend);
  changes.insert(changes.end(), found.changes.begin(), found.changes.end());
  return changes;
}

/// Writes what was found, and returns what predict is to be asked for: files, and names of what is built in.
std::vector<std::string> keep(std::vector<what_if::Found>& found, const std::filesystem::path& folder) {
  std::vector<std::string> asked;
  report::make_folder(folder);
  for (std::size_t i = 0; i < found.size(); ++i) {
    what_if::Found& one = found[i];
    if (schedule::is_built_in(one.start) && schedule::same_pipeline(one.schedule, schedule::find(one.start))) {
      asked.push_back(one.start);
      continue;
    }
    one.schedule.name = name_of(one, i + 1);
    one.schedule.description = fmt::format("Found by interlace search: {}.", fmt::join(what_leads_to(one), "; "));
    const std::filesystem::path file = folder / (one.schedule.name.substr(one.schedule.name.find('/') + 1) + ".json");
    report::write_file(file, [&](std::ostream& out) { out << schedule::print(one.schedule); });
    asked.push_back(file.string());
  }
  return asked;
}

void tell_counts(const what_if::SearchCounts& counts, Console& console) {
  std::string text = fmt::format("searched: {} schedules, of which {} were simulated", counts.seen, counts.simulated);
  const auto tell = [&](std::size_t count, std::string_view why) {
    if (count > 0) text += fmt::format(", {} {}", count, why);
  };
  tell(counts.repeated, "the same in other words");
  tell(counts.racy, "racy");
  tell(counts.other_numbers, "with other numbers");
  tell(counts.not_recorded, "of what was not recorded");
  tell(counts.not_tried, "left when the tries were used up (--tries)");
  console.note(text);
}

void run_search(const SearchRequest& request, Console& console) {
  refuse_unfit_out(request.job);
  Answer searched = search(request, console);
  std::vector<what_if::Found>& found = searched.result.found;
  PredictRequest asked = request.job;
  asked.schedules = keep(found, *asked.out);
  const std::string first = searched.result.first ? searched.result.first->start : searched.recorded.value_or("");
  console.done();
  if (found.empty()) {
    console.out() << "no schedule was found that is faster\n";
  } else {
    console.out() << "the fastest, and what leads to it from " << (first.empty() ? "those known" : first) << ":\n";
    for (const std::string& change : what_leads_to(found.front())) console.out() << "  - " << change << '\n';
    console.out() << '\n';
  }
  if (!first.empty()) asked.schedules.push_back(first);
  console.out().flush();
  tell_counts(searched.result.counts, console);
  if (!asked.schedules.empty()) show_prediction(asked, console);
}

}  // namespace

void add_search(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<SearchRequest>();
  request->job.must_anchor = true;
  request->job.schedules = {"all"};
  CLI::App* search = app.add_subcommand("search", "Look for schedules that a recorded job would be faster under");
  search->add_option("recording,--from", request->job.recordings, kRecordingsHelp)->type_name("FILE|DIR");
  search
      ->add_option("--start", request->job.schedules,
                   "Schedules to start from besides the recorded one; all built-in ones that apply where absent")
      ->type_name("NAME|FILE");
  search
      ->add_option("--stale", request->stale,
                   "Updates that a lookup may miss, as semi_sync's misses one: then the numbers are not those of a "
                   "synchronous loop")
      ->check(CLI::Range(0, 4))
      ->capture_default_str();
  search->add_option("--tries", request->tries, "Schedules to simulate at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_job_options(*search, request->job);
  search
      ->add_option("--out", request->job.out,
                   "Folder for the schedules that are found, predicted traces and a report to look at")
      ->required()
      ->type_name("DIR");
  search->callback([request, &chosen] {
    require_recording(request->job);
    chosen = [request](Console& console) { run_search(*request, console); };
  });
}

}  // namespace interlace::cli
