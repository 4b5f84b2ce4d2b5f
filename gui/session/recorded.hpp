#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/session/progress.hpp"
#include "gui/session/run.hpp"
#include "simulator/analysis/memory.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/report/predict_report.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/stages/profile.hpp"

namespace interlace::gui {

/// A recording as opened: its timeline, what is known of it, and what predictions are made from.
struct Recorded {
  std::vector<std::filesystem::path> files;
  RunPtr run;
  Diagnostics diagnostics;    ///< of all that is shown
  report::RecordedRun facts;  ///< as `interlace predict` tells them, with the diagnostics that concern predictions
  std::vector<analysis::MemoryUse> memory;  ///< of ranks whose allocator was recorded

  /// The stages. None where the recording cannot be cut into them, or has nothing to replay.
  std::optional<stages::Cut> cut;
  std::optional<schedule::Schedule> schedule;  ///< the recorded one, where it is a built-in one
  std::optional<replay::Predictor> predictor;  ///< of `run` and `cut`
  std::string no_predictions;                  ///< why there is no predictor
};

using RecordedPtr = std::shared_ptr<const Recorded>;

/// Reads recordings of one run and prepares them to be shown. profile: of their annotations; none: the built-in one
/// that fits. Blocks; for a thread of its own. Throws as ingest::read does, and Cancelled.
[[nodiscard]] RecordedPtr open_recording(std::vector<std::filesystem::path> files, const Progress& progress,
                                         const std::optional<stages::Profile>& profile = std::nullopt);

}  // namespace interlace::gui
