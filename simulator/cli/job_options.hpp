#pragma once

#include <CLI/App.hpp>
#include <string>

#include "simulator/cli/predict_request.hpp"

namespace interlace::cli {

/// Adds the recordings, with and without --from, and --schedule. what: begins its help, "Schedules to predict".
void add_recordings_and_schedules(CLI::App& command, PredictRequest& request, const std::string& what);

/// To be called when the command line is read; throws CLI::RequiredError where no recording is named.
void require_recording(const PredictRequest& request);

/// A list of schedules goes on to the next option: takes recordings behind it as such. To be called when the command
/// line is read; throws CLI::RequiredError where one of the two is missing.
void tell_recordings_from_schedules(PredictRequest& request);

/// What a command that replays a recorded job takes to know the job, and how it is to be replayed: --edit, --profile,
/// --machine, --measured-step-ms, --memory-snapshot, --gpu-memory, --feature-processors, --seed, --under-recorder.
void add_job_options(CLI::App& command, PredictRequest& request);

}  // namespace interlace::cli
