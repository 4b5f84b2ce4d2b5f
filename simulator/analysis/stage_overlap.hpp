#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// Device time of one stage, without copies between host and device, in nanoseconds a step, mean over ranks.
struct StageTime {
  std::string stage;
  Nanoseconds device_ns = 0;  ///< some work of the stage runs (union within a batch)
  Nanoseconds hidden_ns = 0;  ///< of that, while work of another stage or batch runs on the same device

  bool operator==(const StageTime&) const = default;
};

/// Two stages whose device work runs at the same time.
struct StagePair {
  std::string later;  ///< stage of the later batch; of one batch: first by the alphabet
  std::string earlier;
  std::optional<std::int64_t> batches_apart;  ///< batch(later) - batch(earlier) >= 0; none where either has no number
  Nanoseconds overlap_ns = 0;                 ///< a step, mean over ranks

  bool operator==(const StagePair&) const = default;
};

/// What tells one StagePair from another. Its names are those of whoever made it.
struct StagePairKey {
  std::string_view later;
  std::string_view earlier;
  std::optional<std::int64_t> batches_apart;

  auto operator<=>(const StagePairKey&) const = default;
};

struct StageOverlap {
  std::vector<StageTime> stages;  ///< largest device time first
  std::vector<StagePair> pairs;   ///< largest overlap first
};

/// Which stages run at the same time. A stage is what Annotations::stage_of says of the launch of device work; work
/// outside all annotations belongs to no stage. Copies between host and device are left out: they take none of what
/// kernels and collectives compete for, and what they hide under says little. One sweep over the starts and ends of a
/// rank's device work.
[[nodiscard]] StageOverlap stage_overlap(const trace::Trace& trace, const Annotations& annotations,
                                         std::span<const StepWindow> windows);

}  // namespace interlace::analysis
