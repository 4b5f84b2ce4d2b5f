#include "engine/cuda/dispatch.cuh"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/vectors.cuh"
#include "engine/data/counter_hash.hpp"

namespace interlace::engine::cuda {

namespace {

struct Columns {
  const ColumnMove* moves;
  int count;
  std::int64_t batch;
  float* blocks;
  float* pooled;
  std::int64_t stride;
};

__device__ float* block_row(const Columns& columns, const ColumnMove& move, std::int64_t sample) {
  return columns.blocks + move.columns_before * columns.batch + sample * move.block_width + move.from;
}

// Whether all of a move's addresses are multiples of a vector, for every sample.
__device__ bool in_vectors(const Columns& columns, const ColumnMove& move) {
  const std::int64_t odd =
      move.columns_before * columns.batch | move.block_width | move.from | move.to | move.columns | columns.stride;
  return odd % 4 == 0;
}

template <class Vector>
__device__ void assemble_columns(const Columns& columns, int m, std::int64_t sample, int lane, int lanes) {
  const ColumnMove& move = columns.moves[m];
  auto* to = reinterpret_cast<Vector*>(columns.pooled + sample * columns.stride + move.to);
  for (int v = lane; v < move.columns / kWidth<Vector>; v += lanes) {
    Vector sum = reinterpret_cast<const Vector*>(block_row(columns, move, sample))[v];
    for (int other = m + 1; other < columns.count && columns.moves[other].add; ++other) {
      add(sum, reinterpret_cast<const Vector*>(block_row(columns, columns.moves[other], sample))[v]);
    }
    to[v] = sum;
  }
}

// A warp a move and sample; one that adds is done by the one that it adds to. blockIdx.x: the move, of
// which there may be more than y holds.
__global__ void __launch_bounds__(kBlock) assemble_moves(Columns columns) {
  const int m = static_cast<int>(blockIdx.x);
  if (columns.moves[m].add) return;
  bool whole = in_vectors(columns, columns.moves[m]);
  for (int other = m + 1; other < columns.count && columns.moves[other].add; ++other) {
    whole = whole && in_vectors(columns, columns.moves[other]);
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.y) * (kBlock / 32);
  for (std::int64_t sample = blockIdx.y * (kBlock / 32) + threadIdx.x / 32; sample < columns.batch; sample += warps) {
    if (whole) {
      assemble_columns<float4>(columns, m, sample, lane, 32);
    } else {
      assemble_columns<float>(columns, m, sample, lane, 32);
    }
  }
}

template <class Vector>
__device__ void arrange_columns(const Columns& columns, const ColumnMove& move, std::int64_t sample, int lane) {
  const auto* from = reinterpret_cast<const Vector*>(columns.pooled + sample * columns.stride + move.to);
  auto* to = reinterpret_cast<Vector*>(block_row(columns, move, sample));
  for (int v = lane; v < move.columns / kWidth<Vector>; v += 32) to[v] = from[v];
}

__global__ void __launch_bounds__(kBlock) arrange_moves(Columns columns) {
  const ColumnMove move = columns.moves[blockIdx.x];
  const bool whole = in_vectors(columns, move);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.y) * (kBlock / 32);
  for (std::int64_t sample = blockIdx.y * (kBlock / 32) + threadIdx.x / 32; sample < columns.batch; sample += warps) {
    if (whole) {
      arrange_columns<float4>(columns, move, sample, lane);
    } else {
      arrange_columns<float>(columns, move, sample, lane);
    }
  }
}

Columns columns_of(const PooledArguments& arguments) {
  return {.moves = arguments.moves.data(),
          .count = static_cast<int>(arguments.moves.size()),
          .batch = arguments.batch,
          .blocks = arguments.blocks,
          .pooled = arguments.pooled,
          .stride = arguments.stride};
}

dim3 grid_of(const PooledArguments& arguments) {
  constexpr std::int64_t kMostBlocksAMove = 256;
  const std::int64_t blocks = (arguments.batch * 32 + kBlock - 1) / kBlock;
  return {static_cast<unsigned>(arguments.moves.size()), static_cast<unsigned>(std::min(blocks, kMostBlocksAMove))};
}

__global__ void __launch_bounds__(kBlock) fill_with(float* values, std::size_t count, float value) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kBlock;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(kBlock) + threadIdx.x; i < count; i += step) {
    values[i] = value;
  }
}

__global__ void __launch_bounds__(kBlock) fill_with_uniform(float* values, std::size_t count, UniformFill fill) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kBlock;
  const auto columns = static_cast<std::size_t>(fill.columns);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(kBlock) + threadIdx.x; i < count; i += step) {
    const std::uint64_t counter = fill.first + i / columns * static_cast<std::uint64_t>(fill.stride) + i % columns;
    values[i] = uniform(counter_hash(fill.seed, counter), fill.bound);
  }
}

__global__ void __launch_bounds__(kBlock)
    descend_along(float* values, const float* gradients, std::size_t count, float rate) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kBlock;
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(kBlock) + threadIdx.x;
  const std::size_t vectors = count / 4;
  for (std::size_t i = first; i < vectors; i += step) {
    float4 value = reinterpret_cast<float4*>(values)[i];
    add_scaled(value, -rate, reinterpret_cast<const float4*>(gradients)[i]);
    reinterpret_cast<float4*>(values)[i] = value;
  }
  for (std::size_t i = vectors * 4 + first; i < count; i += step) add_scaled(values[i], -rate, gradients[i]);
}

}  // namespace

void CudaEmbeddingKernels::assemble(NativeStream stream, const PooledArguments& arguments) const {
  if (arguments.batch == 0 || arguments.moves.empty()) return;
  assemble_moves<<<grid_of(arguments), kBlock, 0, native(stream)>>>(columns_of(arguments));
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::arrange(NativeStream stream, const PooledArguments& arguments) const {
  if (arguments.batch == 0 || arguments.moves.empty()) return;
  arrange_moves<<<grid_of(arguments), kBlock, 0, native(stream)>>>(columns_of(arguments));
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::fill_uniform(NativeStream stream, std::span<float> values, const UniformFill& fill) const {
  if (values.empty()) return;
  fill_with_uniform<<<blocks_that_fill_the_device(), kBlock, 0, native(stream)>>>(values.data(), values.size(), fill);
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::fill(NativeStream stream, std::span<float> values, float value) const {
  if (values.empty()) return;
  fill_with<<<blocks_that_fill_the_device(), kBlock, 0, native(stream)>>>(values.data(), values.size(), value);
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::descend(NativeStream stream, std::span<float> values, std::span<const float> gradients,
                                   float rate) const {
  if (values.empty()) return;
  descend_along<<<blocks_that_fill_the_device(), kBlock, 0, native(stream)>>>(values.data(), gradients.data(),
                                                                              values.size(), rate);
  check(cudaGetLastError());
}

}  // namespace interlace::engine::cuda
