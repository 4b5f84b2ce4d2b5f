#include "gui/compare/aligned.hpp"

#include <algorithm>

#include "gui/compare/alignment.hpp"
#include "gui/compare/match.hpp"

namespace interlace::gui {

std::string_view to_string(AlignBy by) {
  switch (by) {
    case AlignBy::kStep: return "step";
    case AlignBy::kBatch: return "batch";
    case AlignBy::kRange: return "range";
  }
  return "";
}

std::optional<Aligned> aligned_step(const Run& run, std::ptrdiff_t offset) {
  const auto step = step_at(run.first_steps(), offset);
  if (!step) return std::nullopt;
  return Aligned{*step, trained_batch(run, *step)};
}

std::optional<Aligned> aligned_batch(const Run& run, std::ptrdiff_t offset) {
  const auto step = aligned_step(run, offset);
  if (!step || !step->batch) return std::nullopt;
  const trace::Trace& trace = run.trace();
  std::optional<Interval> life;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    if (trace.rank_of(op).index() != 0 || !trace::is_device_work(trace.kind(op))) continue;
    if (run.scene().tags().batch_of(op) != step->batch) continue;
    life = life ? Interval{life->begin, std::max(life->end, trace.end(op))}  // operations come by start
                : Interval{trace.start(op), trace.end(op)};
  }
  if (!life) return std::nullopt;
  return Aligned{*life, step->batch};
}

Colouring colour_run(const Run& run, ColourBy by, std::ptrdiff_t offset) {
  const auto step = by == ColourBy::kBatch ? aligned_step(run, offset) : std::nullopt;
  const std::int32_t batch = step ? step->batch.value_or(0) : 0;
  return colour(run.trace(), run.scene().lanes(), run.scene().tags(), by, batch);
}

std::optional<std::ptrdiff_t> offset_of_batch(const Run& run, std::int32_t batch) {
  const auto middle = aligned_step(run, 0);
  if (!middle || !middle->batch) return std::nullopt;
  return nearest_offset(run.first_steps(), {}, std::ptrdiff_t{batch} - *middle->batch);
}

std::ptrdiff_t nearest_offset(std::span<const Interval> measured_steps, std::span<const Interval> predicted_steps,
                              std::ptrdiff_t offset) {
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = 0;
  for (const auto steps : {measured_steps, predicted_steps}) {
    const auto middle = static_cast<std::ptrdiff_t>(middle_step(steps).value_or(0));
    first = std::min(first, -middle);
    last = std::max(last, static_cast<std::ptrdiff_t>(steps.size()) - 1 - middle);
  }
  return std::clamp(offset, first, last);
}

std::ptrdiff_t last_common_offset(std::span<const Interval> measured_steps, std::span<const Interval> predicted_steps) {
  std::optional<std::ptrdiff_t> least;
  for (const auto steps : {measured_steps, predicted_steps}) {
    const auto middle = middle_step(steps);
    if (!middle) continue;
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(steps.size()) - 1 - static_cast<std::ptrdiff_t>(*middle);
    least = std::min(least.value_or(last), last);
  }
  return least.value_or(0);
}

std::optional<std::array<Aligned, kSides>> aligned(const Run& measured, const Run& predicted, std::ptrdiff_t offset,
                                                   AlignBy by, const std::array<Nanoseconds, kSides>& anchors) {
  const auto measured_step = aligned_step(measured, offset);
  const auto predicted_step = aligned_step(predicted, offset);
  if (!measured_step || !predicted_step) return std::nullopt;
  if (by == AlignBy::kBatch) {
    const auto measured_batch = aligned_batch(measured, offset);
    const auto predicted_batch = aligned_batch(predicted, offset);
    if (measured_batch && predicted_batch) return std::array{*measured_batch, *predicted_batch};
  }
  if (by == AlignBy::kRange) {
    const Nanoseconds length = std::max(measured_step->span.length(), predicted_step->span.length());
    const auto from = [length](Nanoseconds anchor) { return Aligned{{anchor, anchor + length}, std::nullopt}; };
    return std::array{from(anchors[0]), from(anchors[1])};
  }
  return std::array{*measured_step, *predicted_step};
}

}  // namespace interlace::gui
