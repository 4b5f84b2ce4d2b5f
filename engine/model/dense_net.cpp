#include "engine/model/dense_net.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>

#include <cassert>
#include <vector>

#include "engine/model/layer.hpp"

namespace interlace::engine {

namespace {

constexpr double kLayerNormEpsilon = 1e-5;

at::Tensor view_of(float* data, at::IntArrayRef sizes, DenseNet::Where where) {
  const auto device = where == DenseNet::Where::kCpu ? at::kCPU : at::kCUDA;
  return at::from_blob(data, sizes, at::TensorOptions().dtype(at::kFloat).device(device));
}

// A layer's parameters as leaves of autograd, which adds their gradients to the memory that it finds there.
struct LayerParameters {
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor scale;
  at::Tensor shift;
};

at::Tensor leaf(float*& parameter, float*& gradient, at::IntArrayRef sizes, DenseNet::Where where) {
  at::Tensor tensor = view_of(parameter, sizes, where);
  tensor.requires_grad_(true);
  tensor.mutable_grad() = view_of(gradient, sizes, where);
  parameter += tensor.numel();
  gradient += tensor.numel();
  return tensor;
}

at::Tensor apply(const Layer& layer, const LayerParameters& parameters, const at::Tensor& input) {
  at::Tensor output = at::linear(input, parameters.weight, parameters.bias);
  if (!layer.activated) return output;
  if (!layer.normalised) return at::relu(output);
  return output *
         at::sigmoid(at::layer_norm(output, {layer.outputs}, parameters.scale, parameters.shift, kLayerNormEpsilon));
}

// Where autograd begins and ends in one segment.
struct SegmentTape {
  at::Tensor input;   // a leaf
  at::Tensor output;  // of the last segment: the loss
};

struct TapeOfSegments : Tape {
  std::vector<SegmentTape> segments;
};

TapeOfSegments& segments_in(Tape& tape) { return static_cast<TapeOfSegments&>(tape); }

}  // namespace

struct DenseNet::Layers {
  std::vector<Layer> layers;
  std::vector<Segment> segments;
  std::vector<LayerParameters> parameters;
  std::size_t first_over_segment = 0;
  std::int64_t bottom_width = 0;
  std::int64_t interaction_width = 0;
  std::int64_t features = 0;
  Where where = Where::kCpu;
};

DenseNet::DenseNet(const DenseSpec& spec, std::int64_t pooled_width, std::int64_t bucket_bytes, Where where,
                   float* parameters, float* gradients)
    : layers_(std::make_unique<Layers>()) {
  layers_->layers = layers_of(spec, pooled_width);
  layers_->segments = segments_of(layers_->layers, spec.bottom.size(), bucket_bytes);
  layers_->bottom_width = bottom_width(spec);
  layers_->interaction_width = bottom_width(spec) + pooled_width;
  layers_->features = spec.features;
  layers_->where = where;
  while (layers_->segments[layers_->first_over_segment].first_layer < spec.bottom.size()) {
    ++layers_->first_over_segment;
  }
  for (const Layer& layer : layers_->layers) {
    LayerParameters& leaves = layers_->parameters.emplace_back();
    leaves.weight = leaf(parameters, gradients, {layer.outputs, layer.inputs}, where);
    leaves.bias = leaf(parameters, gradients, {layer.outputs}, where);
    if (!layer.normalised) continue;
    leaves.scale = leaf(parameters, gradients, {layer.outputs}, where);
    leaves.shift = leaf(parameters, gradients, {layer.outputs}, where);
  }
}

DenseNet::~DenseNet() = default;

std::size_t DenseNet::segments() const { return layers_->segments.size(); }

std::size_t DenseNet::first_over_segment() const { return layers_->first_over_segment; }

ParameterRange DenseNet::parameters_of(std::size_t segment) const {
  const Segment& layers = layers_->segments[segment];
  const Layer& first = layers_->layers[layers.first_layer];
  const Layer& last = layers_->layers[layers.first_layer + layers.layers - 1];
  return {.begin = first.begin, .count = last.begin + last.parameters() - first.begin};
}

std::shared_ptr<Tape> DenseNet::make_tape() const { return std::make_shared<TapeOfSegments>(); }

void DenseNet::forward(Tape& tape, const DenseBatch& batch) const {
  std::vector<SegmentTape>& segments = segments_in(tape).segments;
  segments.clear();
  at::Tensor flow = view_of(batch.features, {batch.samples, layers_->features}, layers_->where);
  for (std::size_t s = 0; s < layers_->segments.size(); ++s) {
    if (s == layers_->first_over_segment) {
      const at::Tensor interaction =
          view_of(batch.interaction, {batch.samples, layers_->interaction_width}, layers_->where);
      interaction.narrow(1, 0, layers_->bottom_width).copy_(flow);
      flow = interaction;
    }
    // The dense features need no gradient: nothing is behind them.
    const bool needs_gradient = s > 0 || layers_->first_over_segment == 0;
    SegmentTape& segment = segments.emplace_back();
    segment.input = flow.requires_grad_(needs_gradient);
    flow = segment.input;
    const Segment& layers = layers_->segments[s];
    for (std::size_t l = layers.first_layer; l < layers.first_layer + layers.layers; ++l) {
      flow = apply(layers_->layers[l], layers_->parameters[l], flow);
    }
    segment.output = flow;
    flow = flow.detach();
  }
  const at::Tensor labels = view_of(batch.labels, {batch.samples, 1}, layers_->where);
  segments.back().output = at::binary_cross_entropy_with_logits(segments.back().output, labels);
  view_of(batch.loss, {}, layers_->where).copy_(segments.back().output.detach());
}

void DenseNet::backward(Tape& tape, std::size_t segment) const {
  std::vector<SegmentTape>& segments = segments_in(tape).segments;
  if (segment + 1 == segments.size()) {
    segments[segment].output.backward();
  } else {
    at::Tensor gradient = segments[segment + 1].input.grad();
    if (segment + 1 == layers_->first_over_segment) gradient = gradient.narrow(1, 0, layers_->bottom_width);
    segments[segment].output.backward(gradient);
    segments[segment + 1].input.reset();
  }
  segments[segment].output.reset();
}

GradientView DenseNet::interaction_gradient(const Tape& tape) const {
  const auto& segments = static_cast<const TapeOfSegments&>(tape).segments;
  const at::Tensor gradient = segments[layers_->first_over_segment].input.grad();
  assert(gradient.is_contiguous());
  return {.data = gradient.mutable_data_ptr<float>(), .stride = layers_->interaction_width};
}

void use_one_thread() { at::set_num_threads(1); }

void multiply(DenseNet::Where where, std::int64_t size, float* a, float* b, float* product) {
  at::Tensor result = view_of(product, {size, size}, where);
  at::mm_out(result, view_of(a, {size, size}, where), view_of(b, {size, size}, where));
}

}  // namespace interlace::engine
