#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "gui/compare/views.hpp"
#include "gui/session/run.hpp"
#include "gui/timeline/colouring.hpp"

namespace interlace::gui {

/// What stands at time 0 of both timelines.
enum class AlignBy : std::uint8_t {
  kStep,   ///< the begin of a training step
  kBatch,  ///< the begin of the first device work for a batch: its way through the pipeline starts together
  kRange,  ///< what the user chose in either of them
};
[[nodiscard]] std::string_view to_string(AlignBy by);

/// A stretch of one run that is laid beside one of the other. Its begin is time 0.
struct Aligned {
  Interval span;
  std::optional<std::int32_t> batch;  ///< work of this batch is compared; none: all work

  bool operator==(const Aligned&) const = default;
};

/// The step that is `offset` behind the middle one (see step_at), with the batch that it trains. None without steps.
[[nodiscard]] std::optional<Aligned> aligned_step(const Run& run, std::ptrdiff_t offset);

/// The batch which that step trains: on the first rank, from the start of the first device work for it to the end of
/// the last, as far as the trace holds it. None where the trace does not tell.
[[nodiscard]] std::optional<Aligned> aligned_batch(const Run& run, std::ptrdiff_t offset);

/// A run in colours that are the same in both panes: batches are counted from the one that this step trains.
[[nodiscard]] Colouring colour_run(const Run& run, ColourBy by, std::ptrdiff_t offset);

/// The offset of the step that trains a batch, or the nearest that there is. None where the trace does not tell.
[[nodiscard]] std::optional<std::ptrdiff_t> offset_of_batch(const Run& run, std::int32_t batch);

/// `offset`, or the nearest one at which the longer of the two has a step.
[[nodiscard]] std::ptrdiff_t nearest_offset(std::span<const Interval> measured_steps,
                                            std::span<const Interval> predicted_steps, std::ptrdiff_t offset);

/// The last offset at which both have steps; that of the one that has, where the other has none. A prediction shows a
/// few steps only: the batch that its last one trains is the one of whose way it shows most.
[[nodiscard]] std::ptrdiff_t last_common_offset(std::span<const Interval> measured_steps,
                                                std::span<const Interval> predicted_steps);

/// Both sides' stretches. Where one cannot be told as wanted, both are steps; none without steps.
/// anchors: of kRange, time 0 of either side; as much is compared as the longer step takes.
[[nodiscard]] std::optional<std::array<Aligned, kSides>> aligned(const Run& measured, const Run& predicted,
                                                                 std::ptrdiff_t offset, AlignBy by,
                                                                 const std::array<Nanoseconds, kSides>& anchors);

}  // namespace interlace::gui
