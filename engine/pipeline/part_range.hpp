#pragma once

#include <string>
#include <string_view>

#include "engine/runtime/device.hpp"

namespace interlace::engine {

/// Names of parts of stages, as docs/annotation_profiles.md says what each holds. `order` and `update` of no module are
/// those of the data-parallel tables.
namespace part {
inline constexpr std::string_view kWhole{};
inline constexpr std::string_view kPermute{"permute"};
inline constexpr std::string_view kExchange{"exchange"};
inline constexpr std::string_view kSplits{"splits"};
inline constexpr std::string_view kTensors{"tensors"};
inline constexpr std::string_view kDense{"dense"};
inline constexpr std::string_view kGradDist{"grad_dist"};
inline constexpr std::string_view kOrder{"order"};
inline constexpr std::string_view kUpdate{"update"};
}  // namespace part

/// "[module]", "[module:part]", "[:part]": the name of a range inside a stage's that tells which part of it this is.
/// module: empty for all of them. The simulator's stages::part_label_of() takes it apart.
[[nodiscard]] inline std::string part_label(std::string_view module, std::string_view part) {
  std::string label("[");
  label.append(module);
  if (!part.empty()) label.append(":").append(part);
  label.append("]");
  return label;
}

/// The range of a part of a stage.
class PartRange : public Range {
 public:
  PartRange(Device& device, std::string_view module, std::string_view part) : Range(device, part_label(module, part)) {}
};

}  // namespace interlace::engine
