#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::campaign {

/// What a campaign is to do: record one schedule, predict others from recordings of it alone, then run them. Files are
/// named as the campaign keeps them (Folder::input); the recording is not kept and is named by its whole path.
struct Plan {
  std::string workload;
  std::string recorded;                ///< the schedule that is recorded
  std::vector<std::string> schedules;  ///< as asked for: names, files, or "all" that apply
  std::string device = "cuda";
  std::optional<std::int32_t> ranks;  ///< none: the workload's
  std::optional<std::int64_t> batch;  ///< none: the workload's
  std::int64_t steps = 20;            ///< timed ones of a run
  std::int64_t warmup = 20;           ///< until memory pools have stopped growing: that stalls a step by tens of ms
  /// Of a recorded run. Workloads mostly train on four batches in turn: these are two rounds, and the first step, which
  /// begins before there is a step to count from.
  std::int64_t recorded_steps = 9;
  /// Runs that record the schedule, each in processes of its own: predictions are means over what they tell. As many
  /// show the overlap of each schedule.
  std::int32_t recordings = 1;
  /// Runs of the recorded schedule without the recorder, before the prediction: what recording costs the host.
  std::int32_t references = 3;
  std::int32_t repeats = 5;
  bool record_all = true;                ///< recorded runs of each schedule, for its overlap, after all others
  std::optional<std::string> recording;  ///< a recording made elsewhere, instead of making one
  std::optional<std::string> machine;    ///< machine profile for predictions
  std::map<std::string, std::string> environment;  ///< given to the engine beside this process's own
  /// What the environment of the campaign says to CUDA and NCCL, with what is given.
  std::map<std::string, std::string> settings;
  std::vector<std::string> hardware;  ///< a line a GPU: name and driver; empty where that cannot be asked
  std::string engine;                 ///< SHA-256 of the engine that runs it; empty in older campaigns
  std::string interlace;              ///< version that made the plan
  std::string created;                ///< ISO 8601, UTC

  bool operator==(const Plan&) const = default;
};

/// What a step does of communication, measured or predicted; mean over ranks.
struct Overlap {
  std::optional<double> hidden_ratio;  ///< communication while compute runs, of all communication
  double exposed_ms = 0;               ///< a step

  bool operator==(const Overlap&) const = default;
};

struct PredictedSchedule {
  std::string schedule;
  double step_ms = 0;
  double low_ms = 0;                       ///< 10th percentile of single steps
  double high_ms = 0;                      ///< 90th
  std::optional<double> no_contention_ms;  ///< baseline: works beside each other do not slow each other
  std::optional<double> critical_path_ms;  ///< baseline: besides, the host and launches take no time
  Overlap overlap;
  std::vector<std::int32_t> ranks;    ///< those that peaks are of; empty: all, from 0 (older campaigns)
  std::vector<Bytes> allocated_peak;  ///< of these ranks; empty where no memory was recorded
  std::vector<Bytes> reserved_peak;

  bool operator==(const PredictedSchedule&) const = default;
};

struct LeftOut {
  std::string schedule;
  std::string why;

  bool operator==(const LeftOut&) const = default;
};

/// What is predicted from the recording, written before the first measurement.
struct PredictionFile {
  std::string recorded;  ///< as planned; the first of `schedules`
  std::vector<PredictedSchedule> schedules;
  std::vector<LeftOut> left_out;
  /// SHA-256 of the files of the campaign that the prediction hangs on: plan, inputs, references. None in older ones.
  std::map<std::string, std::string> made_from;
  /// The same of the recordings, which may be put away once there is a prediction. None in older ones.
  std::map<std::string, std::string> recordings;

  [[nodiscard]] const PredictedSchedule* find(const std::string& schedule) const;
  bool operator==(const PredictionFile&) const = default;
};

/// What one run of a schedule took.
struct MeasuredRun {
  std::string schedule;
  std::int32_t repeat = 0;    ///< round, from 0
  std::int32_t position = 0;  ///< in its round
  double step_ms = 0;         ///< time of all timed steps on the host's clock, of the slowest rank, by their number
  std::vector<double> single_steps_ms;  ///< of all ranks, on the main stream; may be empty
  std::vector<Bytes> allocated_peak;    ///< by rank
  std::vector<Bytes> reserved_peak;
  std::optional<std::string> failure;  ///< why there is no result; all else is then empty

  bool operator==(const MeasuredRun&) const = default;
};

/// What a recorded run of a schedule shows.
struct MeasuredTrace {
  std::string schedule;
  std::int32_t repeat = 0;  ///< round, from 0
  double step_ms = 0;       ///< under the recorder
  Overlap overlap;
  std::vector<double> single_steps_hidden;  ///< hidden ratio of each step; empty in older campaigns
  std::optional<std::string> failure;

  bool operator==(const MeasuredTrace&) const = default;
};

/// A run as `interlace-engine run --format json` tells it. Throws Error(campaign.bad_file), which names `source`.
[[nodiscard]] MeasuredRun read_engine_run(const std::string& text, const std::string& source);

}  // namespace interlace::campaign
