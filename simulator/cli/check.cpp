#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>
#include <span>

#include "simulator/check/collective_order.hpp"
#include "simulator/cli/check_output.hpp"
#include "simulator/cli/check_trace.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::cli {

namespace {

// As grep and diff have it: what was looked for, and trouble.
constexpr int kHazard = 1;
constexpr int kTrouble = 2;

struct CheckRequest {
  std::vector<std::string> inputs;
  CheckTraceRequest trace;  ///< less what `inputs` tells
  std::string format = "table";
  bool feature_processors = false;
  std::optional<std::int64_t> ranks;
  bool per_rank = false;
  std::vector<std::int64_t> batches;  ///< of each rank
  std::optional<std::string> repair;  ///< file for the repaired schedule
};

std::vector<schedule::Schedule> read_schedules(const std::vector<std::string>& inputs) {
  std::vector<schedule::Schedule> schedules;
  for (const std::string& input : inputs) {
    if (input == "all") {
      for (const schedule::LibraryEntry& entry : schedule::library()) schedules.push_back(schedule::find(entry.name));
    } else {
      schedules.push_back(schedule::load(input));
    }
  }
  return schedules;
}

/// Refuses options that would be read and then forgotten.
void check_options(const CheckRequest& request, bool schedules, bool traces) {
  const auto only = [](const char* option, bool given, bool applies, const char* to) {
    if (!given || applies) return;
    throw Error(kDoesNotApply, option, fmt::format("is about {}, and none is named", to), "see interlace check --help");
  };
  only("--ranks", request.ranks.has_value(), schedules, "schedules");
  only("--per-rank", request.per_rank, schedules, "schedules");
  only("--batches", !request.batches.empty(), schedules, "schedules");
  only("--repair", request.repair.has_value(), schedules, "schedules");
  only("--schedule", request.trace.schedule.has_value(), traces, "traces");
  only("--profile", request.trace.profile.has_value(), traces, "traces");
  only(kMemorySnapshotsOption, !request.trace.memory_snapshots.empty(), traces, "traces");
}

/// The ranks of one job: their schedules, or one for all, and how many batches each has.
std::vector<check::Hazard> check_ranks(const CheckRequest& request, const std::vector<schedule::Schedule>& schedules) {
  if (!request.per_rank && request.batches.empty()) return {};
  if (!request.per_rank && schedules.size() != 1) {
    throw Error(kUnclearRanks, "--batches", "several schedules are named", "name one, or add --per-rank");
  }
  const std::size_t ranks = request.per_rank ? schedules.size() : request.batches.size();
  if (ranks < 2 || (!request.batches.empty() && request.batches.size() != ranks)) {
    throw Error(kUnclearRanks, request.per_rank ? "--per-rank" : "--batches",
                "it takes two ranks to compare, each with its schedule and number of batches",
                "name a schedule a rank for --per-rank, and a number a rank for --batches");
  }
  std::vector<check::RankPlan> plans;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    check::RankPlan plan{&schedules[request.per_rank ? rank : 0], std::nullopt};
    if (!request.batches.empty()) plan.batches = request.batches[rank];
    plans.push_back(plan);
  }
  return check::compare_collectives(plans, {.feature_processors = request.feature_processors});
}

/// All fixes: first of what is wrong, then of what is wasteful in the rest.
void write_repaired(const CheckRequest& request, std::span<const schedule::Schedule> schedules,
                    const CheckAnswer& answer, const check::CheckOptions& options, Console& console) {
  if (schedules.size() != 1) {
    throw Error(kNotRepaired, *request.repair, "several schedules are named", "name the one to repair");
  }
  const check::ScheduleCheck& only = answer.schedules.front();
  if (!only.hazards.empty() && !only.repaired) {
    throw Error(kNotRepaired, *request.repair, "not every hazard has a fix", "mend by hand what has none");
  }
  std::optional<schedule::Schedule> repaired =
      check::without_waste(only.repaired ? *only.repaired : schedules.front(), options);
  if (!repaired) repaired = only.repaired;
  if (!repaired) {
    console.note("nothing to repair: " + *request.repair + " is not written");
    return;
  }
  repaired->hazardous = repaired->hazardous && !only.known_hazards.empty();
  report::write_file(*request.repair, [&](std::ostream& out) { out << schedule::print(*repaired); });
}

int run_check(const CheckRequest& request, Console& console) {
  CheckTraceRequest of_trace = request.trace;
  of_trace.feature_processors = request.feature_processors;
  std::vector<std::string> of_schedules;
  for (const std::string& input : request.inputs) {
    (is_schedule(input) ? of_schedules : of_trace.recordings).push_back(input);
  }
  check_options(request, !of_schedules.empty(), !of_trace.recordings.empty());
  if (request.repair) refuse_overwriting(*request.repair, of_schedules);
  const std::vector<schedule::Schedule> schedules = read_schedules(of_schedules);
  CheckAnswer answer;
  const check::CheckOptions options{
      .feature_processors = request.feature_processors, .one_rank = request.ranks == 1, .hazards_only = false};
  for (const schedule::Schedule& schedule : schedules) {
    console.progress("checking " + schedule.name);
    answer.schedules.push_back(check::check(schedule, options));
  }
  if (!of_trace.recordings.empty()) answer.traces.push_back(check_recording(of_trace, console));
  answer.between_ranks = check_ranks(request, schedules);
  console.done();
  if (request.format == "json") {
    write_check_json(console.out(), answer);
  } else {
    write_check_table(console.out(), answer, console.style());
  }
  console.out().flush();
  for (const CheckedRecording& checked : answer.traces) console.quality(checked.diagnostics);
  if (request.repair) write_repaired(request, schedules, answer, options, console);
  if (has_hazards(answer)) return kHazard;
  return std::ranges::any_of(answer.traces, &CheckedRecording::lost_data) ? kTrouble : 0;
}

}  // namespace

void add_check(CLI::App& app, Action& chosen, int& status, int& failure) {
  const auto request = std::make_shared<CheckRequest>();
  CLI::App* check =
      app.add_subcommand("check", "Prove schedules free of races, or show where they race; the same of traces");
  check->footer(
      "Exit status: 0 without hazards, 1 with, 2 on errors, or where data of a recording were lost. What a recording "
      "does not tell (memory, without allocator events) is named, and is no trouble.");
  check
      ->add_option(
          "input", request->inputs,
          "Schedules: built-in names (interlace schedules), files, or \"all\" built-in ones; traces of one run")
      ->required()
      ->type_name("NAME|FILE|all");
  check
      ->add_option("--schedule", request->trace.schedule,
                   "The schedule that the traces were recorded under, where it is none of the built-in ones")
      ->type_name("NAME|FILE");
  check->add_option("--profile", request->trace.profile, kProfileHelp)->type_name("NAME|FILE");
  add_memory_snapshots(*check, request->trace.memory_snapshots);
  check->add_option("--format", request->format, "How to write the answer")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  check->add_flag("--feature-processors", request->feature_processors,
                  "The lookup weighs features by weights that the optimizer updates");
  check->add_option("--ranks", request->ranks, "Ranks of the job, 2 where absent; with 1, exchanges order nothing")
      ->check(CLI::Range(1, 1'000'000));
  check->add_flag("--per-rank", request->per_rank,
                  "The schedules are those of ranks 0, 1, ... of one job: compare their collectives");
  check->add_option("--batches", request->batches, "Batches of ranks 0, 1, ...: compare their collectives to the end")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1'000))
      ->type_name("N,N,...");
  check
      ->add_option("--repair", request->repair,
                   "File for the one schedule with all fixes, of what is wrong and of what is wasteful")
      ->type_name("FILE");
  check->callback([request, &chosen, &status, &failure] {
    failure = kTrouble;
    chosen = [request, &status](Console& console) {
      try {
        status = run_check(*request, console);
      } catch (const Error& error) {
        console.done();
        std::cerr << error.what() << '\n';
        status = kTrouble;
      }
    };
  });
}

}  // namespace interlace::cli
