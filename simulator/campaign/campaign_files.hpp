#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/campaign/campaign.hpp"

namespace interlace::campaign {

inline constexpr ErrorCode kBadFile{"campaign.bad_file"};
inline constexpr ErrorCode kBadFolder{"campaign.bad_folder"};
inline constexpr ErrorCode kInUse{"campaign.in_use"};
inline constexpr ErrorCode kPredictionChanged{"campaign.prediction_changed"};

/// All that a campaign has so far. Every file is whole or absent: it is written under another name first.
///
/// - plan.json: what to do.
/// - inputs/: the files that the plan names, as they were when it was made.
/// - recording/, recording_2/ ...: of the recorded schedule, as `interlace record` leaves it; with each a .json of its
///   name.
/// - references/000.json ...: runs of the recorded schedule that the prediction knows of.
/// - prediction.json, .sha256: written before the first measurement.
/// - predicted/: the predicted traces and the report of interlace predict.
/// - runs/000.json ...: measured runs in the order in which they ran; with a failure in place of a result.
/// - traces/SCHEDULE.json: what the recorded run of a schedule shows; traces/SCHEDULE/ the recording itself; traces_2/
///   and so on for further rounds of such runs.
/// - report.json: made from the others, any time.
class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// number: from 0, below Plan::recordings.
  [[nodiscard]] std::filesystem::path recording(std::int32_t number) const;
  /// The recordings that ended well, in their order without a gap.
  [[nodiscard]] std::int32_t recordings_made() const;
  /// What the engine said of it: from then on it counts as made.
  void finish_recording(std::int32_t number, const std::string& said) const;
  [[nodiscard]] std::filesystem::path predicted() const { return path_ / "predicted"; }
  [[nodiscard]] std::filesystem::path logs() const { return path_ / "logs"; }
  [[nodiscard]] std::filesystem::path trace_of(const std::string& schedule, std::int32_t repeat) const;

  /// Makes the folder, with its inputs by their names ("inputs/schedules/mine.json"). Throws Error(campaign.bad_folder)
  /// where it cannot, or where it holds a campaign.
  void create(const Plan& plan, const std::map<std::string, std::string>& inputs) const;
  /// Where a thing lies that the plan names; the name itself where it is none of the inputs.
  [[nodiscard]] std::string input(const std::string& named) const;
  [[nodiscard]] Plan read_plan() const;
  [[nodiscard]] std::vector<MeasuredRun> read_references() const;
  void write_reference(const MeasuredRun& run) const;
  /// None before it was made. Throws Error(campaign.prediction_changed) where it is gone though something was measured,
  /// is not the one that was hashed, or where a file that it was made from has changed since. A recording may be gone.
  [[nodiscard]] std::optional<PredictionFile> read_prediction() const;
  /// The digest that was kept with it; empty before it was made.
  [[nodiscard]] std::string prediction_digest() const;
  /// Adds what it was made from.
  void write_prediction(PredictionFile prediction) const;
  /// In the order in which they ran.
  [[nodiscard]] std::vector<MeasuredRun> read_runs() const;
  /// That of the next run: behind all others, also where one of them was deleted.
  [[nodiscard]] int next_run() const;
  void write_run(const MeasuredRun& run) const;
  [[nodiscard]] std::vector<MeasuredTrace> read_traces() const;
  void write_trace(const MeasuredTrace& trace) const;
  /// Text under a name in the folder, whole or not at all. Throws Error(report.cannot_write).
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// Keeps other processes from working on the same campaign as long as it lives.
class Lock {
 public:
  /// Throws Error(campaign.in_use).
  explicit Lock(const Folder& folder);
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock();

 private:
  int file_;
};

/// All of a file; none where it cannot be read.
[[nodiscard]] std::optional<std::string> content_of(const std::filesystem::path& file);

/// A schedule's name as that of a file.
[[nodiscard]] std::string file_stem(std::string schedule);

}  // namespace interlace::campaign
