#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "simulator/analysis/step_window.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/contention/machine_profile.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/report/predict_report.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"

namespace interlace::cli {

/// A recording, read, cut and recognised, with the schedules that are asked for of it: what all that is predicted of it
/// has in common.
class RecordedJob {
 public:
  /// Throws Error as reading, cutting and naming schedules do, and cli.cannot_anchor where the request's step is of no
  /// use and must be.
  RecordedJob(const PredictRequest& request, Console& console);
  RecordedJob(const RecordedJob&) = delete;  // known_ points into it, and so do predictors
  RecordedJob& operator=(const RecordedJob&) = delete;

  [[nodiscard]] const std::vector<schedule::AskedSchedule>& asked() const { return asked_; }
  /// Asks for the recorded schedule, too, before all others; not where it is asked for already, or not known.
  void ask_for_recorded();
  [[nodiscard]] const ingest::Recording& recording() const { return recording_; }
  /// What the recording is flawed by before all else; its own flaws are those that cutting it finds, too.
  [[nodiscard]] const Diagnostics& read_with() const { return read_with_; }
  [[nodiscard]] const stages::Cut& cut() const { return cut_; }
  [[nodiscard]] const replay::SiteTable& sites() const { return sites_; }
  /// The recorded schedule; null where it is none of the library or of those asked for.
  [[nodiscard]] const schedule::Schedule* known() const { return known_; }
  [[nodiscard]] bool is_recorded(const schedule::Schedule& schedule) const;
  /// What the recording tells of itself.
  [[nodiscard]] const report::RecordedRun& recorded() const { return recorded_; }
  /// Of the recording, to lay it beside predictions.
  [[nodiscard]] const std::vector<analysis::StepWindow>& windows() const { return windows_; }
  /// Gives the trace away, for which nothing is predicted any more.
  [[nodiscard]] trace::Trace take_trace() { return std::move(recording_.trace); }

 private:
  bool has_own_called(std::string_view name) const;
  const schedule::Schedule* recognised(const PredictRequest& request);
  void describe(const PredictRequest& request);

  std::vector<schedule::AskedSchedule> asked_;
  ingest::Recording recording_;
  Diagnostics read_with_;
  stages::Cut cut_;
  std::optional<contention::MachineProfile> machine_;
  graph::ProcessGroups groups_;
  replay::SiteTable sites_;
  std::vector<schedule::Schedule> library_;
  std::vector<schedule::Schedule> own_;  ///< those asked for that are not in the library
  const schedule::Schedule* known_;
  report::RecordedRun recorded_;
  std::vector<analysis::StepWindow> windows_;
};

}  // namespace interlace::cli
