#pragma once

#include <cstdint>
#include <vector>

namespace interlace::engine {

enum class Activation : std::uint8_t {
  kRelu,
  kSwishLayerNorm,  ///< x * sigmoid(layer_norm(x)), as TorchRec's TestOverArchLarge
};

/// The dense part: `bottom` maps the dense features; its result and all pooled embeddings, side by side, go through
/// `over`, and a last linear layer gives one logit a sample. Each number is the width of a linear layer, each followed
/// by the activation.
struct DenseSpec {
  std::int64_t features = 0;
  std::vector<std::int64_t> bottom;
  std::vector<std::int64_t> over;
  Activation activation = Activation::kRelu;

  bool operator==(const DenseSpec&) const = default;
};

/// Width of what `bottom` gives to `over`.
[[nodiscard]] inline std::int64_t bottom_width(const DenseSpec& spec) {
  return spec.bottom.empty() ? spec.features : spec.bottom.back();
}

}  // namespace interlace::engine
