#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/timeline/pyramid.hpp"
#include "gui/timeline/viewport.hpp"

namespace interlace::gui {

/// A colour class of an operation (see Colouring).
using ColourClass = std::uint8_t;

/// What is drawn on a row: one operation, or a run of pixels in which several lie that are narrower than a pixel.
struct Box {
  double left = 0;  ///< pixels; of a folded box whole ones
  double right = 0;
  std::uint32_t position = 0;  ///< in the row, of the operation it shows; of a folded box the longest
  ColourClass colour = 0;      ///< of that
  Look look = Look::kWork;     ///< of that
  bool folded = false;
  float coverage = 1;  ///< part of a folded box in which something runs, in (0, 1]

  bool operator==(const Box&) const = default;
};

/// Appends what of a row is in view, from left to right. `view` is in the trace's own time; `colours` has a class for
/// each operation of the row. Visits O(pixels) nodes of the pyramid however many operations the row holds.
void append_boxes(const Row& row, const Pyramid& pyramid, const Viewport& view, std::span<const ColourClass> colours,
                  std::vector<Box>& boxes);

}  // namespace interlace::gui
