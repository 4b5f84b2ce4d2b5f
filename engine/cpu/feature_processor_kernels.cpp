#include <algorithm>

#include "engine/cpu/bags.hpp"
#include "engine/cpu/embedding_kernels.hpp"

namespace interlace::engine::cpu {

namespace {

// Calls visit(id, place among the module's) for each id, shard by shard and sample by sample.
template <class Visit>
void each_place(const PlaceArguments& arguments, const Visit& visit) {
  const std::size_t bags = arguments.input.offsets.size() - 1;
  for (std::size_t n = 0; n < bags; ++n) {
    const PlaceWeights& shard = arguments.shards[n / at(arguments.batch) % arguments.shards.size()];
    const Bag bag = bag_of(arguments.input, n);
    for (std::size_t id = bag.begin; id < bag.end; ++id) {
      visit(id, at(shard.begin) + std::min(id - bag.begin, at(shard.count) - 1));
    }
  }
}

}  // namespace

void CpuEmbeddingKernels::weigh(NativeStream /*stream*/, const PlaceArguments& arguments,
                                std::span<const float> of_places, std::span<float> weights) const {
  each_place(arguments, [&](std::size_t id, std::size_t place) {
    weights[id] = weight_at(arguments.input, id) * of_places[place];
  });
}

void CpuEmbeddingKernels::weight_gradients(NativeStream /*stream*/, const LookupArguments& arguments,
                                           std::span<float> gradients) const {
  each_bag(arguments, [&](std::size_t index, std::size_t row, Bag bag) {
    const LocalShard& shard = arguments.shards[index];
    const std::size_t columns = at(shard.columns);
    const auto gradient = arguments.looked_up.subspan(row * at(arguments.width) + at(shard.column), columns);
    for (std::size_t id = bag.begin; id < bag.end; ++id) {
      const float* values = shard.rows + row_of(arguments, shard, id) * columns;
      double sum = 0.0;
      for (std::size_t c = 0; c < columns; ++c) sum += static_cast<double>(values[c]) * gradient[c];
      gradients[id] = static_cast<float>(sum);
    }
  });
}

void CpuEmbeddingKernels::add_place_gradients(NativeStream /*stream*/, const PlaceArguments& arguments,
                                              std::span<const float> of_ids, std::span<float> of_places) const {
  each_place(arguments, [&](std::size_t id, std::size_t place) {
    of_places[place] += weight_at(arguments.input, id) * of_ids[id];
  });
}

}  // namespace interlace::engine::cpu
