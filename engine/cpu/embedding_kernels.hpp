#pragma once

#include "engine/embedding/kernels.hpp"

namespace interlace::engine::cpu {

/// Plain loops in a fixed order. They trust no input: lengths, offsets and ids that cannot be (the poison of memory
/// that is read too early or too late, above all) throw instead of reading elsewhere.
class CpuEmbeddingKernels : public EmbeddingKernels {
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

}  // namespace interlace::engine::cpu
