#include "engine/cuda/dispatch.cuh"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/vectors.cuh"

namespace interlace::engine::cuda {

namespace {

struct Places {
  const PlaceWeights* shards;
  const std::int64_t* offsets;
  const float* input_weights;  // null: all are 1
  std::uint32_t bags;
  std::uint32_t batch;
  std::uint32_t shard_count;
};

Places places_of(const PlaceArguments& arguments) {
  return {.shards = arguments.shards.data(),
          .offsets = arguments.input.offsets.data(),
          .input_weights = arguments.input.weights.empty() ? nullptr : arguments.input.weights.data(),
          .bags = counted(arguments.input.offsets.size() - 1, "bags"),
          .batch = static_cast<std::uint32_t>(arguments.batch),
          .shard_count = static_cast<std::uint32_t>(arguments.shards.size())};
}

// A few threads a bag: its ids lie side by side.
constexpr int kLanesABag = 8;

__global__ void __launch_bounds__(kBlock) weigh_ids(Places places, const float* of_places, float* weights) {
  const std::uint32_t bag = (blockIdx.x * kBlock + threadIdx.x) / kLanesABag;
  if (bag >= places.bags) return;
  const PlaceWeights shard = places.shards[bag / places.batch % places.shard_count];
  const std::int64_t begin = places.offsets[bag];
  const auto length = static_cast<std::int32_t>(places.offsets[bag + 1] - begin);
  for (std::int32_t p = static_cast<std::int32_t>(threadIdx.x) % kLanesABag; p < length; p += kLanesABag) {
    const float own = places.input_weights == nullptr ? 1.0F : places.input_weights[begin + p];
    weights[begin + p] = own * of_places[shard.begin + min(p, shard.count - 1)];
  }
}

struct Rows {
  const LocalShard* shards;
  const std::int64_t* offsets;
  const std::int64_t* ids;
  const std::int64_t* places;  // null: none were located ahead
  const float* gradients;      // of the bags
  std::int64_t width;
  std::uint32_t bags;
  std::uint32_t batch;
  std::uint32_t shard_count;
};

// `lanes` threads a bag, which hold its gradient in registers where it fits; each id's product is summed by all of
// them.
template <class Vector, int lanes, int held>
__global__ void __launch_bounds__(kBlock) multiply_rows(Rows rows, float* products) {
  const std::uint32_t bag = (blockIdx.x * kBlock + threadIdx.x) / lanes;
  if (bag >= rows.bags) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned members = members_of_group<lanes>();
  const std::uint32_t of_source = bag / rows.batch;
  const LocalShard shard = rows.shards[of_source % rows.shard_count];
  const std::int64_t row = static_cast<std::int64_t>(of_source / rows.shard_count) * rows.batch + bag % rows.batch;
  const int vectors = shard.columns / kWidth<Vector>;
  const auto* gradient = reinterpret_cast<const Vector*>(rows.gradients + row * rows.width + shard.column);
  Vector kept[held];
#pragma unroll
  for (int h = 0; h < held; ++h) {
    set_zero(kept[h]);
    if (lane + h * lanes < vectors) kept[h] = gradient[lane + h * lanes];
  }
  const std::int64_t end = rows.offsets[bag + 1];
  for (std::int64_t i = rows.offsets[bag]; i < end; ++i) {
    const std::int64_t id = rows.places == nullptr ? rows.ids[i] : rows.places[i] - shard.first_row;
    const auto* values = reinterpret_cast<const Vector*>(shard.rows) + id * vectors;
    float sum = 0.0F;
#pragma unroll
    for (int h = 0; h < held; ++h) {
      if (lane + h * lanes < vectors) sum += product(kept[h], values[lane + h * lanes]);
    }
    for (int v = lane + held * lanes; v < vectors; v += lanes) sum += product(gradient[v], values[v]);
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(members, sum, step, lanes);
    if (lane == 0) products[i] = sum;
  }
}

// Bags whose gradients one block sums for a shard, in their order.
constexpr std::uint32_t kBagsAChunk = 256;

__device__ float sum_of_place(const Places& places, const float* of_ids, std::uint32_t first_bag, std::uint32_t bags,
                              std::int32_t place, bool is_last) {
  float sum = 0.0F;
  for (std::uint32_t bag = first_bag; bag < first_bag + bags; ++bag) {
    const std::int64_t begin = places.offsets[bag];
    const std::int64_t end = is_last ? places.offsets[bag + 1] : min(places.offsets[bag + 1], begin + place + 1);
    for (std::int64_t i = begin + place; i < end; ++i) {
      sum += (places.input_weights == nullptr ? 1.0F : places.input_weights[i]) * of_ids[i];
    }
  }
  return sum;
}

// sums[(chunk * shards + shard) * most + place]. A chunk is of one source. A block a chunk and shard, in that order:
// each of the two may be more than the second dimension of a grid holds.
__global__ void __launch_bounds__(kBlock)
    sum_chunks(Places places, const float* of_ids, float* sums, std::uint32_t chunks_a_source, std::int32_t most) {
  const std::uint32_t chunk = blockIdx.x / places.shard_count;
  const std::uint32_t s = blockIdx.x % places.shard_count;
  const PlaceWeights shard = places.shards[s];
  const std::uint32_t source = chunk / chunks_a_source;
  const std::uint32_t first_sample = chunk % chunks_a_source * kBagsAChunk;
  const std::uint32_t first_bag = (source * places.shard_count + s) * places.batch + first_sample;
  const std::uint32_t bags = min(kBagsAChunk, places.batch - first_sample);
  float* of_chunk = sums + static_cast<std::size_t>(blockIdx.x) * most;
  for (auto p = static_cast<std::int32_t>(threadIdx.x); p < shard.count; p += kBlock) {
    of_chunk[p] = sum_of_place(places, of_ids, first_bag, bags, p, p == shard.count - 1);
  }
}

// One thread a place of the module: adds the chunks of each shard that has it, in their order.
__global__ void __launch_bounds__(kBlock) add_chunks(Places places, const float* sums, std::uint32_t chunks,
                                                     std::int32_t most, float* of_places, std::int32_t place_count) {
  const auto place = static_cast<std::int32_t>(blockIdx.x * kBlock + threadIdx.x);
  if (place >= place_count) return;
  float sum = of_places[place];
  for (std::uint32_t s = 0; s < places.shard_count; ++s) {
    const PlaceWeights shard = places.shards[s];
    if (place < shard.begin || place >= shard.begin + shard.count) continue;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      sum += sums[(static_cast<std::size_t>(chunk) * places.shard_count + s) * most + place - shard.begin];
    }
  }
  of_places[place] = sum;
}

}  // namespace

void CudaEmbeddingKernels::weigh(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_places,
                                 std::span<float> weights) const {
  const Places places = places_of(arguments);
  if (places.bags == 0 || weights.empty()) return;
  weigh_ids<<<blocks_for(std::size_t{places.bags} * kLanesABag), kBlock, 0, native(stream)>>>(places, of_places.data(),
                                                                                              weights.data());
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::weight_gradients(NativeStream stream, const LookupArguments& arguments,
                                            std::span<float> gradients) const {
  const Rows rows{.shards = arguments.shards.data(),
                  .offsets = arguments.input.offsets.data(),
                  .ids = arguments.input.ids.data(),
                  .places = arguments.places.empty() ? nullptr : arguments.places.data(),
                  .gradients = arguments.looked_up.data(),
                  .width = arguments.width,
                  .bags = counted(arguments.input.offsets.size() - 1, "bags"),
                  .batch = static_cast<std::uint32_t>(arguments.batch),
                  .shard_count = static_cast<std::uint32_t>(arguments.shards.size())};
  if (rows.bags == 0 || gradients.empty()) return;
  with_row_group(arguments, [&](auto vector, auto lanes, auto held) {
    using Vector = std::remove_pointer_t<decltype(vector)>;
    multiply_rows<Vector, lanes(), held()>
        <<<blocks_for(std::size_t{rows.bags} * lanes()), kBlock, 0, native(stream)>>>(rows, gradients.data());
  });
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::add_place_gradients(NativeStream stream, const PlaceArguments& arguments,
                                               std::span<const float> of_ids, std::span<float> of_places) const {
  const Places places = places_of(arguments);
  if (places.bags == 0 || of_ids.empty()) return;
  const std::uint32_t sources = places.bags / places.batch / places.shard_count;
  const std::uint32_t chunks_a_source = (places.batch + kBagsAChunk - 1) / kBagsAChunk;
  const std::uint32_t chunks = sources * chunks_a_source;
  const std::uint32_t blocks = counted(std::size_t{chunks} * places.shard_count, "chunks of bags");
  const Scratch sums(std::size_t{blocks} * static_cast<std::size_t>(arguments.most) * sizeof(float));
  sum_chunks<<<blocks, kBlock, 0, native(stream)>>>(places, of_ids.data(), static_cast<float*>(sums.data()),
                                                    chunks_a_source, arguments.most);
  check(cudaGetLastError());
  add_chunks<<<blocks_for(of_places.size()), kBlock, 0, native(stream)>>>(
      places, static_cast<const float*>(sums.data()), chunks, arguments.most, of_places.data(),
      static_cast<std::int32_t>(of_places.size()));
  check(cudaGetLastError());
}

}  // namespace interlace::engine::cuda
