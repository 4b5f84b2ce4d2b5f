#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/workload/workload.hpp"

namespace interlace::engine::cli {

/// What `run` and `bench` both ask for.
struct JobRequest {
  std::string workload;
  std::string device = "cuda";
  std::string format = "table";
  std::string record;  ///< folder; empty: nothing is recorded
  WorkloadChanges changes;
};

/// Throws engine.cannot_record where a run on a CPU is to be recorded.
void check_recorded_device(const JobRequest& request);

/// record_help: what --record does.
void add_job_options(CLI::App& command, JobRequest& request, const std::string& record_help);

}  // namespace interlace::engine::cli
