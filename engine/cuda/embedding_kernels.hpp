#pragma once

#include "engine/embedding/kernels.hpp"

namespace interlace::engine::cuda {

/// The kernels for GPUs. What they need for themselves comes from LibTorch's allocator, from the pool of the stream
/// that they run on.
///
/// lookup: a few threads a bag, each of which holds some columns in registers and loads four rows at a time, in vectors
/// of four floats. update: rows in the order of sort_rows(); a few threads a row sum the gradients of its uses, one
/// after the other; rows of very many uses get a block, whose parts are summed one after the other too. So every sum
/// has one order. Both are bound by the bandwidth of the memory.
class CudaEmbeddingKernels : public EmbeddingKernels {
 public:
  void sum_lengths(NativeStream stream, std::span<const std::int32_t> lengths,
                   std::span<std::int64_t> offsets) const override;
  void count(NativeStream stream, const InputCount& arguments) const override;
  void spread(NativeStream stream, const InputSpread& arguments) const override;
  void locate(NativeStream stream, const LookupArguments& arguments, std::span<std::int64_t> places) const override;
  void lookup(NativeStream stream, const LookupArguments& arguments) const override;
  void sort_rows(NativeStream stream, const LookupArguments& arguments, std::span<std::byte> order) const override;
  [[nodiscard]] std::size_t order_bytes(const LookupArguments& arguments) const override;
  void update(NativeStream stream, const UpdateArguments& arguments) const override;
  void weigh(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_places,
             std::span<float> weights) const override;
  void weight_gradients(NativeStream stream, const LookupArguments& arguments,
                        std::span<float> gradients) const override;
  void add_place_gradients(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_ids,
                           std::span<float> of_places) const override;
  void assemble(NativeStream stream, const PooledArguments& arguments) const override;
  void arrange(NativeStream stream, const PooledArguments& arguments) const override;
  void fill_uniform(NativeStream stream, std::span<float> values, const UniformFill& fill) const override;
  void fill(NativeStream stream, std::span<float> values, float value) const override;
  void descend(NativeStream stream, std::span<float> values, std::span<const float> gradients,
               float rate) const override;
};

}  // namespace interlace::engine::cuda
