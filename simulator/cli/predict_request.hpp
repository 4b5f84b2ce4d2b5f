#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "simulator/analysis/step_window.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/cli/console.hpp"
#include "simulator/report/predict_report.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::cli {

/// What the user asked `interlace predict` for.
struct PredictRequest {
  std::vector<std::string> recordings;  ///< of one run
  std::vector<std::string> again;       ///< each a recording of a further run of the same job
  std::vector<std::string> schedules;   ///< names, files, or "all"
  std::vector<std::string> edits;       ///< files
  std::optional<std::string> profile;   ///< of annotations, by name or file; none: found out
  std::optional<std::string> machine;   ///< file of interlace calibrate
  std::string format = "table";
  std::optional<std::filesystem::path> out;  ///< folder for traces and reports
  /// A step of the recorded schedule in processes that did not record; none: what the recording itself tells of that.
  std::optional<double> measured_step_ms;
  bool must_anchor = false;               ///< refuses such a step where it is of no use; else that goes without a word
  std::optional<std::int32_t> run_steps;  ///< so many follow on each other until the host waits; none: many
  std::vector<std::string> memory_snapshots;
  std::optional<double> gpu_memory_gib;  ///< does each schedule fit in so much?
  std::uint64_t seed = 1;
  std::optional<std::int32_t> steps;  ///< to simulate in a run; none: as many as replay finds good
  bool contention = true;             ///< false: works running side by side do not slow each other
  bool under_recorder = false;        ///< the host as slow as when it was recorded
  bool feature_processors = false;    ///< the model weighs features by learnt weights inside the lookup
  bool device_only = false;           ///< the host and launches take no time: the path of device work alone
};

/// A trace and the steady steps in it, a window a rank.
struct SteadyTrace {
  std::string title;  ///< "measured", or the name of the schedule
  trace::Trace trace;
  std::vector<analysis::StepWindow> windows;
};

/// What the prediction came to.
struct PredictAnswer {
  report::PredictReport report;
  SteadyTrace measured;                ///< of several recordings the first, and so are predicted traces
  Diagnostics read_with;               ///< flaws of `measured` as it was read; cutting and replaying it find more
  std::vector<SteadyTrace> predicted;  ///< one a prediction of the report, in its order
};

/// Carries a request out: reads, cuts, replays, compares. Of several recordings each, and takes the mean
/// (report/mean_report.hpp). Throws Error.
[[nodiscard]] PredictAnswer predict(const PredictRequest& request, Console& console);

/// The same, shown as the request says, and written where it says. Throws Error(cli.nothing_predicted), too.
void show_prediction(const PredictRequest& request, Console& console);

/// Throws where write_answer() could not write what is asked for, before any work is done for it. Leaves nothing
/// behind.
void refuse_unfit_out(const PredictRequest& request);

/// Throws, with nothing written, where write_answer() would, as far as that can be known beforehand.
void refuse_unfit_folder(const std::filesystem::path& folder, const std::vector<std::string>& inputs);

/// Writes into a folder, made if need be: report.html, report.json, report.csv, the measured trace as measured.ilt, and
/// for each schedule its predicted trace as .ilt and a file for Perfetto with the measured trace beside it. Says which
/// predicted traces of an earlier answer stand there still. Throws report.cannot_write, ilt.cannot_write, and, with
/// nothing written, cli.output_is_input where one of these files is one of `inputs`, or stands in one that is a folder.
void write_answer(const PredictAnswer& answer, const std::filesystem::path& folder,
                  const std::vector<std::string>& inputs, Console& console);

}  // namespace interlace::cli
