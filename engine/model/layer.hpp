#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/workload/dense_spec.hpp"

namespace interlace::engine {

/// A linear layer and what follows it, with the place of its parameters: weights, biases, and for a layer norm its
/// scales and shifts, side by side.
struct Layer {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool activated = true;    ///< false: the last one, which gives the logits
  bool normalised = false;  ///< has a layer norm
  std::size_t begin = 0;    ///< of its parameters

  [[nodiscard]] std::size_t weights() const { return static_cast<std::size_t>(inputs * outputs); }
  [[nodiscard]] std::size_t parameters() const {
    return weights() + static_cast<std::size_t>(outputs) * (normalised ? 3 : 1);
  }
};

/// Layers that go through autograd together.
struct Segment {
  std::size_t first_layer = 0;
  std::size_t layers = 0;
};

/// The layers of both arches, in the order of forward.
[[nodiscard]] std::vector<Layer> layers_of(const DenseSpec& spec, std::int64_t pooled_width);

[[nodiscard]] std::size_t parameter_count(const DenseSpec& spec, std::int64_t pooled_width);

/// Weights and biases uniform in +-1/sqrt(inputs), layer norms as identity; for parameter_count() values.
void initialise_parameters(const DenseSpec& spec, std::int64_t pooled_width, std::uint64_t seed,
                           std::span<float> values);

/// Cuts them into segments, from the last layer on, in which backward comes by: each ends where its gradients fill
/// bucket_bytes, and where an arch ends.
[[nodiscard]] std::vector<Segment> segments_of(const std::vector<Layer>& layers, std::size_t bottom_layers,
                                               std::int64_t bucket_bytes);

}  // namespace interlace::engine
