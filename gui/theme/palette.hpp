#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace interlace::gui {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Rgb&) const = default;
};

/// The colour of a stage of the schedule language; none for "compute" and other words. Chosen so that no two of the
/// usual stages look alike to people without red or green cones (tested in OKLab under Machado's simulation); related
/// stages are of related hue.
[[nodiscard]] std::optional<Rgb> stage_colour(std::string_view stage);

/// Colours for things without a meaning of their own, the most different first (Okabe and Ito's, without black and the
/// grey that stands for "none of these").
[[nodiscard]] std::span<const Rgb> categorical_colours();

/// Relative luminance by WCAG 2, in [0, 1].
[[nodiscard]] double luminance(Rgb colour);

}  // namespace interlace::gui
