#include "engine/model/layer.hpp"

#include <algorithm>
#include <cmath>

#include "engine/data/counter_hash.hpp"

namespace interlace::engine {

std::vector<Layer> layers_of(const DenseSpec& spec, std::int64_t pooled_width) {
  std::vector<Layer> layers;
  std::int64_t inputs = spec.features;
  std::size_t begin = 0;
  const auto add = [&](std::int64_t outputs, bool activated) {
    layers.push_back({.inputs = inputs,
                      .outputs = outputs,
                      .activated = activated,
                      .normalised = activated && spec.activation == Activation::kSwishLayerNorm,
                      .begin = begin});
    begin += layers.back().parameters();
    inputs = outputs;
  };
  for (const std::int64_t width : spec.bottom) add(width, true);
  inputs = bottom_width(spec) + pooled_width;
  for (const std::int64_t width : spec.over) add(width, true);
  add(1, false);
  return layers;
}

std::size_t parameter_count(const DenseSpec& spec, std::int64_t pooled_width) {
  const Layer last = layers_of(spec, pooled_width).back();
  return last.begin + last.parameters();
}

void initialise_parameters(const DenseSpec& spec, std::int64_t pooled_width, std::uint64_t seed,
                           std::span<float> values) {
  for (const Layer& layer : layers_of(spec, pooled_width)) {
    const float bound = 1.0F / std::sqrt(static_cast<float>(layer.inputs));
    const auto outputs = static_cast<std::size_t>(layer.outputs);
    for (std::size_t i = layer.begin; i < layer.begin + layer.parameters(); ++i) {
      const std::size_t within = i - layer.begin;
      if (within < layer.weights() + outputs) {
        values[i] = uniform(counter_hash(seed, i), bound);
      } else {
        values[i] = within < layer.weights() + 2 * outputs ? 1.0F : 0.0F;
      }
    }
  }
}

std::vector<Segment> segments_of(const std::vector<Layer>& layers, std::size_t bottom_layers,
                                 std::int64_t bucket_bytes) {
  std::vector<Segment> segments;
  Segment segment;
  std::int64_t bytes = 0;
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    segment = {.first_layer = layer, .layers = segment.layers + 1};
    bytes += static_cast<std::int64_t>(layers[layer].parameters() * sizeof(float));
    if (bytes < bucket_bytes && layer != bottom_layers && layer != 0) continue;
    segments.push_back(segment);
    segment = {};
    bytes = 0;
  }
  std::ranges::reverse(segments);
  return segments;
}

}  // namespace interlace::engine
