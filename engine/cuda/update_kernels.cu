#include <thrust/iterator/counting_iterator.h>

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "engine/cuda/dispatch.cuh"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/vectors.cuh"

namespace interlace::engine::cuda {

namespace {

// One id of a lookup.
struct Use {
  std::uint32_t bag;
  std::uint32_t id;
};

// What sort_rows() leaves: the uses by row, the row of each (counted through all shards), where each row's uses begin,
// and how many rows there are.
struct Order {
  Use* uses;
  std::uint32_t* rows;
  std::uint32_t* first_uses;
  std::uint32_t* row_count;
};

constexpr std::size_t kOrderBytesAnId = sizeof(Use) + 2 * sizeof(std::uint32_t);

Order order_in(const std::byte* memory, std::size_t ids) {
  auto* uses = reinterpret_cast<Use*>(const_cast<std::byte*>(memory));
  auto* rows = reinterpret_cast<std::uint32_t*>(uses + ids);
  return {.uses = uses, .rows = rows, .first_uses = rows + ids, .row_count = rows + 2 * ids};
}

// Rows with more uses than this get a block instead of a few threads.
constexpr std::uint32_t kManyUses = 128;

struct Bags {
  const LocalShard* shards;
  const std::int64_t* offsets;
  const std::int64_t* ids;
  std::uint32_t count;
  std::uint32_t batch;
  std::uint32_t shard_count;
};

// A warp's eighth a bag: its ids lie side by side.
constexpr int kLanesABag = 4;

__global__ void __launch_bounds__(kBlock) list_uses(Bags bags, std::uint32_t* rows, Use* uses) {
  const std::uint32_t bag = (blockIdx.x * kBlock + threadIdx.x) / kLanesABag;
  if (bag >= bags.count) return;
  const LocalShard& shard = bags.shards[bag / bags.batch % bags.shard_count];
  const std::int64_t end = bags.offsets[bag + 1];
  for (std::int64_t i = bags.offsets[bag] + threadIdx.x % kLanesABag; i < end; i += kLanesABag) {
    rows[i] = static_cast<std::uint32_t>(shard.first_row + bags.ids[i]);
    uses[i] = {.bag = bag, .id = static_cast<std::uint32_t>(i)};
  }
}

// Whether a use is the first of its row.
struct IsFirst {
  const std::uint32_t* rows;
  __device__ bool operator()(std::uint32_t use) const { return use == 0 || rows[use] != rows[use - 1]; }
};

struct Update {
  const LocalShard* shards;
  const float* weights;  // null: all are 1
  const float* gradients;
  std::int64_t width;
  std::uint32_t batch;
  std::uint32_t shard_count;
  std::uint32_t ids;
  Order order;
  std::uint32_t* many;  // how many rows have many uses, and then these rows, in any order
  float scale;
  TableOptimizerSpec optimizer;
};

struct Uses {
  std::uint32_t begin;
  std::uint32_t end;
};

__device__ Uses uses_of(const Update& update, std::uint32_t row, std::uint32_t row_count) {
  return {update.order.first_uses[row], row + 1 < row_count ? update.order.first_uses[row + 1] : update.ids};
}

__device__ const LocalShard& shard_of(const Update& update, Use use) {
  return update.shards[use.bag / update.batch % update.shard_count];
}

// The row of the gradients that a use takes, and what it counts.
struct Gradient {
  std::uint32_t row;
  float factor;
};

__device__ Gradient gradient_of(const Update& update, Use use) {
  const std::uint32_t source = use.bag / update.batch / update.shard_count;
  const float weight = update.weights == nullptr ? 1.0F : update.weights[use.id];
  return {source * update.batch + use.bag % update.batch, weight * update.scale};
}

// Adds the gradients of the uses, in columns first, first + lanes, ... of this lane. What each use means is found by
// one lane for all, or the divisions would take longer than the memory. A few uses are summed plainly, and these sums
// with compensation: a hot row has many.
template <class Vector, int lanes, int held>
__device__ void sum_uses(const Update& update, Uses uses, std::int32_t column, int first, int vectors,
                         Vector (&sum)[held]) {
  constexpr int kAhead = held >= 8 ? 1 : (held == 4 ? 2 : 4);
  const unsigned members = members_of_group<lanes>();
  const std::uint32_t lane = threadIdx.x % lanes;
  const float* gradients = update.gradients + column;
  Vector lost[held];
#pragma unroll
  for (int h = 0; h < held; ++h) set_zero(lost[h]);
  for (std::uint32_t u = uses.begin; u < uses.end; u += lanes) {
    const Gradient own = gradient_of(update, update.order.uses[min(u + lane, uses.end - 1)]);
    const int count = static_cast<int>(min(uses.end - u, static_cast<std::uint32_t>(lanes)));
    for (int k = 0; k < count; k += kAhead) {
      Vector loaded[kAhead][held];
      float factor[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const std::int64_t row = __shfl_sync(members, own.row, k + a, lanes);
        factor[a] = __shfl_sync(members, own.factor, k + a, lanes);
        const auto* values = reinterpret_cast<const Vector*>(gradients + row * update.width);
#pragma unroll
        for (int h = 0; h < held; ++h) {
          const int v = first + h * lanes;
          if (k + a < count && v < vectors) loaded[a][h] = values[v];
        }
      }
#pragma unroll
      for (int h = 0; h < held; ++h) {
        if (first + h * lanes >= vectors) continue;
        Vector few;
        set_zero(few);
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          if (k + a < count) add_scaled(few, factor[a], loaded[a][h]);
        }
        add_compensated(sum[h], lost[h], few);
      }
    }
  }
}

// This lane's columns of a row.
template <class Vector, int lanes, int held>
__device__ void load_row(const LocalShard& shard, std::int64_t row, int first, int vectors, Vector (&values)[held]) {
  const auto* from = reinterpret_cast<const Vector*>(shard.rows) + row * vectors;
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const int v = first + h * lanes;
    if (v < vectors) values[h] = from[v];
  }
}

template <class Vector, int lanes, int held>
__device__ void descend(const LocalShard& shard, std::int64_t row, int first, int vectors, Vector (&values)[held],
                        const Vector (&sum)[held], float rate) {
  auto* to = reinterpret_cast<Vector*>(shard.rows) + row * vectors;
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const int v = first + h * lanes;
    if (v >= vectors) continue;
    add_scaled(values[h], -rate, sum[h]);
    to[v] = values[h];
  }
}

template <class Vector, int lanes, int held>
__device__ void descend(const LocalShard& shard, std::int64_t row, int first, int vectors, const Vector (&sum)[held],
                        float rate) {
  Vector values[held];
  load_row<Vector, lanes, held>(shard, row, first, vectors, values);
  descend<Vector, lanes, held>(shard, row, first, vectors, values, sum, rate);
}

// The rate at which a row descends; row-wise Adagrad's needs the squares of all its columns. All members of a group
// call it, of which one writes the momentum when all have read it.
__device__ float rate_of(const Update& update, const LocalShard& shard, std::int64_t row, float squares,
                         unsigned members, bool writes_momentum) {
  if (update.optimizer.kind == TableOptimizer::kAccumulate) return -1.0F;
  if (update.optimizer.kind == TableOptimizer::kSgd) return update.optimizer.rate;
  const float momentum = shard.momentum[row] + squares / static_cast<float>(shard.columns);
  __syncwarp(members);
  if (writes_momentum) shard.momentum[row] = momentum;
  return update.optimizer.rate / (sqrtf(momentum) + update.optimizer.epsilon);
}

// `lanes` threads a row, all of which go through the same steps, since they tell each other what the uses mean. Rows
// wider than the registers take the columns in turns, and for Adagrad the sums twice.
template <class Vector, int lanes, int held>
__global__ void __launch_bounds__(kBlock) update_rows(Update update) {
  const std::uint32_t row_count = *update.order.row_count;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::uint32_t groups = gridDim.x * (kBlock / lanes);
  const unsigned members = members_of_group<lanes>();
  // Where registers allow, the row is on its way while its gradients are summed.
  constexpr bool kLoadsAhead = held <= 2;
  for (std::uint32_t r = (blockIdx.x * kBlock + threadIdx.x) / lanes; r < row_count; r += groups) {
    const Uses uses = uses_of(update, r, row_count);
    if (uses.end - uses.begin > kManyUses) {
      if (lane == 0) update.many[1 + atomicAdd(update.many, 1U)] = r;
      continue;
    }
    const LocalShard& shard = shard_of(update, update.order.uses[uses.begin]);
    const std::int64_t row = update.order.rows[uses.begin] - shard.first_row;
    const int vectors = shard.columns / kWidth<Vector>;
    const bool one_pass = vectors <= lanes * held;
    const bool adagrad = update.optimizer.kind == TableOptimizer::kRowWiseAdagrad;
    Vector sum[held];
    Vector values[held];
    if (kLoadsAhead && one_pass) load_row<Vector, lanes, held>(shard, row, lane, vectors, values);
    float squares = 0.0F;
    if (adagrad || one_pass) {
      for (int first = lane; first - lane < vectors; first += lanes * held) {
#pragma unroll
        for (int h = 0; h < held; ++h) set_zero(sum[h]);
        sum_uses<Vector, lanes, held>(update, uses, shard.column, first, vectors, sum);
#pragma unroll
        for (int h = 0; h < held; ++h) squares += sum_of_squares(sum[h]);
      }
      for (int step = lanes / 2; step > 0; step /= 2) squares += __shfl_xor_sync(members, squares, step, lanes);
    }
    const float rate = rate_of(update, shard, row, squares, members, lane == 0);
    if (one_pass) {
      if (!kLoadsAhead) load_row<Vector, lanes, held>(shard, row, lane, vectors, values);
      descend<Vector, lanes, held>(shard, row, lane, vectors, values, sum, rate);
      continue;
    }
    for (int first = lane; first - lane < vectors; first += lanes * held) {
#pragma unroll
      for (int h = 0; h < held; ++h) set_zero(sum[h]);
      sum_uses<Vector, lanes, held>(update, uses, shard.column, first, vectors, sum);
      descend<Vector, lanes, held>(shard, row, first, vectors, sum, rate);
    }
  }
}

// A block a row: each group of lanes sums a run of the uses, the first group adds the runs in their order.
template <class Vector, int lanes, int held>
__device__ void sum_by_block(const Update& update, Uses uses, const LocalShard& shard, int first, int vectors,
                             Vector (&sum)[held], Vector* runs) {
  constexpr std::uint32_t kGroups = kBlock / lanes;
  const std::uint32_t group = threadIdx.x / lanes;
  const std::uint32_t length = (uses.end - uses.begin + kGroups - 1) / kGroups;
  const Uses run{min(uses.begin + group * length, uses.end), min(uses.begin + (group + 1) * length, uses.end)};
#pragma unroll
  for (int h = 0; h < held; ++h) set_zero(sum[h]);
  if (run.begin < run.end) sum_uses<Vector, lanes, held>(update, run, shard.column, first, vectors, sum);
#pragma unroll
  for (int h = 0; h < held; ++h) runs[h * kBlock + threadIdx.x] = sum[h];
  __syncthreads();
  if (group == 0) {
#pragma unroll
    for (int h = 0; h < held; ++h) {
      for (std::uint32_t g = 1; g < kGroups; ++g) add(sum[h], runs[h * kBlock + g * lanes + threadIdx.x]);
    }
  }
  __syncthreads();
}

template <class Vector, int lanes, int held>
__global__ void __launch_bounds__(kBlock) update_rows_of_many_uses(Update update) {
  __shared__ Vector runs[held * kBlock];
  const std::uint32_t row_count = *update.order.row_count;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const bool adds = threadIdx.x < lanes;
  constexpr unsigned kMembers = lanes == 32 ? 0xffffffffU : (1U << lanes % 32) - 1U;
  for (std::uint32_t m = blockIdx.x; m < *update.many; m += gridDim.x) {
    const Uses uses = uses_of(update, update.many[1 + m], row_count);
    const LocalShard& shard = shard_of(update, update.order.uses[uses.begin]);
    const std::int64_t row = update.order.rows[uses.begin] - shard.first_row;
    const int vectors = shard.columns / kWidth<Vector>;
    const int passes = (vectors + lanes * held - 1) / (lanes * held);
    Vector sum[held];
    float squares = 0.0F;
    for (int pass = 0; pass < passes; ++pass) {
      sum_by_block<Vector, lanes, held>(update, uses, shard, lane + pass * lanes * held, vectors, sum, runs);
      if (adds) {
#pragma unroll
        for (int h = 0; h < held; ++h) squares += sum_of_squares(sum[h]);
      }
    }
    float rate = 0.0F;
    if (adds) {
      for (int step = lanes / 2; step > 0; step /= 2) squares += __shfl_xor_sync(kMembers, squares, step, lanes);
      rate = rate_of(update, shard, row, squares, kMembers, lane == 0);
      if (passes == 1) descend<Vector, lanes, held>(shard, row, lane, vectors, sum, rate);
    }
    for (int pass = 0; pass < passes && passes > 1; ++pass) {
      const int first = lane + pass * lanes * held;
      sum_by_block<Vector, lanes, held>(update, uses, shard, first, vectors, sum, runs);
      if (adds) descend<Vector, lanes, held>(shard, row, first, vectors, sum, rate);
    }
  }
}

}  // namespace

std::size_t CudaEmbeddingKernels::order_bytes(const LookupArguments& arguments) const {
  return arguments.input.ids.size() * kOrderBytesAnId + sizeof(std::uint32_t);
}

void CudaEmbeddingKernels::sort_rows(NativeStream stream, const LookupArguments& arguments,
                                     std::span<std::byte> memory) const {
  const std::size_t ids = counted(arguments.input.ids.size(), "ids");
  const Order order = order_in(memory.data(), ids);
  check(cudaMemsetAsync(order.row_count, 0, sizeof(std::uint32_t), native(stream)));
  if (ids == 0) return;
  const Scratch unsorted(ids * (sizeof(Use) + sizeof(std::uint32_t)));
  auto* uses = static_cast<Use*>(unsorted.data());
  auto* rows = reinterpret_cast<std::uint32_t*>(uses + ids);
  const std::size_t bags = arguments.input.offsets.size() - 1;
  list_uses<<<blocks_for(bags * kLanesABag), kBlock, 0, native(stream)>>>(
      {.shards = arguments.shards.data(),
       .offsets = arguments.input.offsets.data(),
       .ids = arguments.input.ids.data(),
       .count = counted(bags, "bags"),
       .batch = static_cast<std::uint32_t>(arguments.batch),
       .shard_count = static_cast<std::uint32_t>(arguments.shards.size())},
      rows, uses);
  check(cudaGetLastError());
  const int bits = std::bit_width(static_cast<std::uint64_t>(arguments.shape.rows - 1));
  with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, rows, order.rows, uses, order.uses, ids, 0,
                                           std::max(bits, 1), native(stream));
  });
  with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), order.first_uses,
                                 order.row_count, ids, IsFirst{order.rows}, native(stream));
  });
}

void CudaEmbeddingKernels::update(NativeStream stream, const UpdateArguments& arguments) const {
  const LookupArguments& lookup = arguments.lookup;
  const std::size_t ids = lookup.input.ids.size();
  if (ids == 0) return;
  const Scratch many((1 + ids / kManyUses) * sizeof(std::uint32_t));
  check(cudaMemsetAsync(many.data(), 0, sizeof(std::uint32_t), native(stream)));
  const Update update{.shards = lookup.shards.data(),
                      .weights = lookup.input.weights.empty() ? nullptr : lookup.input.weights.data(),
                      .gradients = lookup.looked_up.data(),
                      .width = lookup.width,
                      .batch = static_cast<std::uint32_t>(lookup.batch),
                      .shard_count = static_cast<std::uint32_t>(lookup.shards.size()),
                      .ids = counted(ids, "ids"),
                      .order = order_in(arguments.order.data(), ids),
                      .many = static_cast<std::uint32_t*>(many.data()),
                      .scale = arguments.scale,
                      .optimizer = arguments.optimizer};
  const unsigned blocks = blocks_that_fill_the_device();
  with_row_group(lookup, [&](auto vector, auto lanes, auto held) {
    using Vector = std::remove_pointer_t<decltype(vector)>;
    update_rows<Vector, lanes(), held()><<<blocks, kBlock, 0, native(stream)>>>(update);
    update_rows_of_many_uses<Vector, lanes(), held()><<<blocks, kBlock, 0, native(stream)>>>(update);
  });
  check(cudaGetLastError());
}

}  // namespace interlace::engine::cuda
