#include "engine/cuda/dispatch.cuh"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/vectors.cuh"

namespace interlace::engine::cuda {

namespace {

struct Lookup {
  const LocalShard* shards;
  const std::int64_t* offsets;
  const std::int64_t* ids;
  const std::int64_t* places;  // null: none were located ahead
  const float* weights;        // null: all are 1
  float* looked_up;
  std::int64_t width;
  std::uint32_t bags;
  std::uint32_t batch;
  std::uint32_t shard_count;
};

// `lanes` threads a bag. The loads of four ids do not depend on each other: enough of them are under way to hide the
// latency of the memory.
template <class Vector, int lanes, int held>
__global__ void __launch_bounds__(kBlock) sum_bags(Lookup lookup) {
  constexpr int kAhead = held == 8 ? 2 : 4;
  const std::uint32_t bag = (blockIdx.x * kBlock + threadIdx.x) / lanes;
  if (bag >= lookup.bags) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::uint32_t of_source = bag / lookup.batch;  // source * shards + shard
  const std::uint32_t sample = bag % lookup.batch;
  const LocalShard shard = lookup.shards[of_source % lookup.shard_count];
  const std::uint32_t source = of_source / lookup.shard_count;
  const std::int64_t row = static_cast<std::int64_t>(source) * lookup.batch + sample;
  const std::int64_t begin = lookup.offsets[bag];
  const std::int64_t end = lookup.offsets[bag + 1];
  const int vectors = shard.columns / kWidth<Vector>;
  const auto* rows = reinterpret_cast<const Vector*>(shard.rows);
  const std::int64_t* numbers = lookup.places == nullptr ? lookup.ids : lookup.places;
  const std::int64_t first_row = lookup.places == nullptr ? 0 : shard.first_row;
  auto* result = reinterpret_cast<Vector*>(lookup.looked_up + row * lookup.width + shard.column);

  for (int first = lane; first < vectors; first += lanes * held) {
    Vector sum[held];
#pragma unroll
    for (int h = 0; h < held; ++h) set_zero(sum[h]);
    for (std::int64_t i = begin; i < end; i += kAhead) {
      Vector loaded[kAhead][held];
      float weight[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        // Past the end the last row is loaded again, which costs nothing, and counts nothing.
        const std::int64_t at = i + a < end ? i + a : end - 1;
        weight[a] = i + a >= end ? 0.0F : (lookup.weights == nullptr ? 1.0F : lookup.weights[at]);
        const Vector* values = rows + (numbers[at] - first_row) * vectors;
#pragma unroll
        for (int h = 0; h < held; ++h) {
          const int v = first + h * lanes;
          loaded[a][h] = values[v < vectors ? v : lane];
        }
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
#pragma unroll
        for (int h = 0; h < held; ++h) {
          if (i + a < end) add_scaled(sum[h], weight[a], loaded[a][h]);
        }
      }
    }
#pragma unroll
    for (int h = 0; h < held; ++h) {
      const int v = first + h * lanes;
      if (v < vectors) result[v] = sum[h];
    }
  }
}

// A few threads a bag: its ids lie side by side.
constexpr int kLanesToLocate = 4;

__global__ void __launch_bounds__(kBlock) locate_ids(Lookup lookup, std::int64_t* places) {
  const std::uint32_t bag = (blockIdx.x * kBlock + threadIdx.x) / kLanesToLocate;
  if (bag >= lookup.bags) return;
  const std::int64_t first_row = lookup.shards[bag / lookup.batch % lookup.shard_count].first_row;
  const std::int64_t end = lookup.offsets[bag + 1];
  for (std::int64_t i = lookup.offsets[bag] + threadIdx.x % kLanesToLocate; i < end; i += kLanesToLocate) {
    places[i] = first_row + lookup.ids[i];
  }
}

Lookup lookup_of(const LookupArguments& arguments) {
  return {.shards = arguments.shards.data(),
          .offsets = arguments.input.offsets.data(),
          .ids = arguments.input.ids.data(),
          .places = arguments.places.empty() ? nullptr : arguments.places.data(),
          .weights = arguments.input.weights.empty() ? nullptr : arguments.input.weights.data(),
          .looked_up = arguments.looked_up.data(),
          .width = arguments.width,
          .bags = counted(arguments.input.offsets.size() - 1, "bags"),
          .batch = static_cast<std::uint32_t>(arguments.batch),
          .shard_count = static_cast<std::uint32_t>(arguments.shards.size())};
}

}  // namespace

void CudaEmbeddingKernels::locate(NativeStream stream, const LookupArguments& arguments,
                                  std::span<std::int64_t> places) const {
  const Lookup lookup = lookup_of(arguments);
  if (lookup.bags == 0) return;
  const std::size_t threads = std::size_t{lookup.bags} * kLanesToLocate;
  locate_ids<<<blocks_for(threads), kBlock, 0, native(stream)>>>(lookup, places.data());
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::lookup(NativeStream stream, const LookupArguments& arguments) const {
  const Lookup lookup = lookup_of(arguments);
  if (lookup.bags == 0) return;
  with_row_group(arguments, [&](auto vector, auto lanes, auto held) {
    using Vector = std::remove_pointer_t<decltype(vector)>;
    sum_bags<Vector, lanes(), held()>
        <<<blocks_for(std::size_t{lookup.bags} * lanes()), kBlock, 0, native(stream)>>>(lookup);
  });
  check(cudaGetLastError());
}

}  // namespace interlace::engine::cuda
