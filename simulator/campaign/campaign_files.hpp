#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/campaign/campaign.hpp"

namespace interlace::campaign {

inline constexpr ErrorCode kBadFile{"campaign.bad_file"};
inline constexpr ErrorCode kBadFolder{"campaign.bad_folder"};
inline constexpr ErrorCode kPredictionChanged{"campaign.prediction_changed"};

/// All that a campaign has so far. Every file is whole or absent: it is written under another name first.
///
///   plan.json                    what to do
///   recording/                   of the recorded schedule, as `interlace record` leaves it
///   references/000.json ...      runs of the recorded schedule that the prediction knows of
///   prediction.json, .sha256     written before the first measurement
///   predicted/                   the predicted traces and the report of interlace predict
///   runs/000.json ...            measured runs in the order in which they ran; with a failure in place of a result
///   traces/SCHEDULE.json         what the recorded run of a schedule shows; traces/SCHEDULE/ the recording itself
///   report.json                  made from the others, any time
class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path recording() const { return path_ / "recording"; }
  [[nodiscard]] std::filesystem::path predicted() const { return path_ / "predicted"; }
  [[nodiscard]] std::filesystem::path logs() const { return path_ / "logs"; }
  [[nodiscard]] std::filesystem::path trace_of(const std::string& schedule) const;

  /// Makes the folder. Throws Error(campaign.bad_folder) where it cannot, or where it holds a campaign.
  void create(const Plan& plan) const;
  [[nodiscard]] Plan read_plan() const;
  [[nodiscard]] std::vector<MeasuredRun> read_references() const;
  void write_reference(const MeasuredRun& run, std::size_t number) const;
  /// None before it was made. Throws Error(campaign.prediction_changed) where the file is not the one that was hashed.
  [[nodiscard]] std::optional<PredictionFile> read_prediction() const;
  /// The digest that was kept with it; empty before it was made.
  [[nodiscard]] std::string prediction_digest() const;
  void write_prediction(const PredictionFile& prediction) const;
  /// In the order in which they ran.
  [[nodiscard]] std::vector<MeasuredRun> read_runs() const;
  void write_run(const MeasuredRun& run, std::size_t number) const;
  [[nodiscard]] std::vector<MeasuredTrace> read_traces() const;
  void write_trace(const MeasuredTrace& trace) const;
  /// Text under a name in the folder, whole or not at all. Throws Error(report.cannot_write).
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// All of a file; none where it cannot be read.
[[nodiscard]] std::optional<std::string> content_of(const std::filesystem::path& file);

/// A schedule's name as that of a file.
[[nodiscard]] std::string file_stem(std::string schedule);

}  // namespace interlace::campaign
