#include "engine/cli/job_options.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "engine/launch/recording.hpp"

namespace interlace::engine::cli {

namespace {

void add_workload_changes(CLI::App& command, WorkloadChanges& changes) {
  command.add_option("--ranks", changes.ranks, "Ranks to start; the workload's number where absent")
      ->check(CLI::Range(1, 4096));
  command.add_option("--batch", changes.batch, "Samples a batch and rank; the workload's number where absent")
      ->check(CLI::Range(std::int64_t{0}, kMostSamples));
  command.add_option("--steps", changes.steps, "Batches to train on; the workload's number where absent")
      ->check(CLI::Range(std::int64_t{1}, kMostSteps));
  command.add_flag("--feature-processor", changes.feature_processors,
                   "Weigh each id by a learned weight of its place in its bag, in all sharded modules");
}

}  // namespace

void check_recorded_device(const JobRequest& request) {
  if (request.record.empty() || request.device != "cpu") return;
  throw Error(kCannotRecord, "--record", "on a CPU there is nothing to record", "leave it out, or take --device cuda");
}

void add_job_options(CLI::App& command, JobRequest& request, const std::string& record_help) {
  command.add_option("--workload", request.workload, "A built-in workload (interlace-engine workloads) or a file")
      ->required()
      ->type_name("NAME|FILE");
  command.add_option("--device", request.device, "Where to run")
      ->check(CLI::IsMember({"cuda", "cpu"}))
      ->capture_default_str();
  add_workload_changes(command, request.changes);
  command.add_option("--record", request.record, record_help)->type_name("DIR");
  command.add_option("--format", request.format, "How to write the result")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

}  // namespace interlace::engine::cli
