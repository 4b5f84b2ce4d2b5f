#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "simulator/campaign/campaign.hpp"

namespace interlace::campaign {

/// What a campaign does next.
struct NextStep {
  enum class Kind : std::uint8_t {
    kRecord,     ///< run the recorded schedule under the recorder
    kReference,  ///< a run of it without the recorder, for the prediction
    kPredict,    ///< from the recording, and write it down
    kRun,        ///< a measured run of `schedule`
    kRecordRun,  ///< a recorded run of `schedule`, for its overlap
    kDone,
  };
  Kind kind = Kind::kDone;
  std::string schedule;
  std::int32_t repeat = 0;
  std::int32_t position = 0;

  bool operator==(const NextStep&) const = default;
};

/// What a campaign has done.
struct Progress {
  std::int32_t recordings = 0;
  std::span<const MeasuredRun> references;
  const PredictionFile* prediction = nullptr;
  std::span<const MeasuredRun> runs;
  std::span<const MeasuredTrace> traces;
};

/// From what is there already. Measured runs come in rounds, each of which begins with another schedule, so that what
/// drifts (clocks, temperatures) hits all alike; a run that failed is not tried again, and its schedule not run in
/// later rounds. Recorded runs come last, in rounds likewise: recording takes time.
[[nodiscard]] NextStep next_step(const Plan& plan, const Progress& done);

}  // namespace interlace::campaign
