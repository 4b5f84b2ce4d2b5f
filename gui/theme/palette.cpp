#include "gui/theme/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace interlace::gui {

namespace {

constexpr std::array<std::pair<std::string_view, Rgb>, 17> kStageColours = {{
    {"next_batch", {0x9e, 0x9c, 0x9d}},
    {"copy_batch_to_gpu", {0x47, 0xa8, 0xf1}},
    {"input_dist_start", {0x09, 0x44, 0x9e}},
    {"input_dist_wait", {0x52, 0x89, 0x8f}},
    {"input_dist_finish", {0x50, 0x69, 0xc4}},
    {"embedding_lookup", {0x5b, 0xac, 0x5b}},
    {"output_dist_start", {0x94, 0xbf, 0xab}},
    {"output_dist_wait", {0xa9, 0xf1, 0xa4}},
    {"data_parallel_lookup", {0x52, 0x91, 0x5c}},
    {"dense_forward", {0xde, 0xc7, 0x00}},
    {"backward", {0xae, 0x59, 0x00}},
    {"optimizer_step", {0xa3, 0x1b, 0x51}},
    {"zero_grad", {0xf5, 0xca, 0xfb}},
    {"validate_output", {0x7d, 0x5b, 0x8c}},
    {"prefetch", {0x69, 0x36, 0x02}},
    {"feature_processor", {0xd9, 0xc1, 0x7d}},
    {"all_to_all", {0x66, 0xcc, 0xee}},
}};

constexpr std::array<Rgb, 7> kCategorical = {{
    {0x00, 0x72, 0xb2},
    {0xe6, 0x9f, 0x00},
    {0x00, 0x9e, 0x73},
    {0xcc, 0x79, 0xa7},
    {0x56, 0xb4, 0xe9},
    {0xd5, 0x5e, 0x00},
    {0xf0, 0xe4, 0x42},
}};

double linear(std::uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

}  // namespace

std::optional<Rgb> stage_colour(std::string_view stage) {
  const auto found = std::ranges::find(kStageColours, stage, [](const auto& entry) { return entry.first; });
  if (found == kStageColours.end()) return std::nullopt;
  return found->second;
}

std::span<const Rgb> categorical_colours() { return kCategorical; }

double luminance(Rgb colour) {
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

}  // namespace interlace::gui
