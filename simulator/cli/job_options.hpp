#pragma once

#include <CLI/App.hpp>

#include "simulator/cli/predict_request.hpp"

namespace interlace::cli {

/// What a command that replays a recorded job takes to know the job, and how it is to be replayed: --edit, --profile,
/// --machine, --measured-step-ms, --memory-snapshot, --gpu-memory, --seed, --under-recorder.
void add_job_options(CLI::App& command, PredictRequest& request);

}  // namespace interlace::cli
