#include <thrust/iterator/transform_iterator.h>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "engine/cuda/dispatch.cuh"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/launch.cuh"

namespace interlace::engine::cuda {

namespace {

// Threads a bag: ids of a bag lie side by side.
constexpr int kLanes = 8;

struct ToInt64 {
  __device__ std::int64_t operator()(std::int32_t length) const { return length; }
};

struct Ids {
  std::int64_t begin;
  std::int64_t end;
};

__device__ Ids ids_of(const std::int64_t* offsets, std::int64_t bag) { return {offsets[bag], offsets[bag + 1]}; }

__device__ bool is_in(const InputSlot& slot, std::int64_t id) { return id >= slot.row_begin && id < slot.row_end; }

// blockIdx.x: the slot, of which there may be more than y holds. blockIdx.y: a run of samples, kBlock / kLanes at a
// time.
__global__ void __launch_bounds__(kBlock)
    count_ids(const InputSlot* slots, std::int64_t batch, const std::int64_t* offsets, const std::int64_t* ids,
              std::int32_t* lengths, unsigned long long* report, int ranks) {
  const InputSlot slot = slots[blockIdx.x];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  unsigned long long in_slot = 0;
  const std::int64_t samples_a_step = static_cast<std::int64_t>(gridDim.y) * (kBlock / kLanes);
  for (std::int64_t sample = blockIdx.y * (kBlock / kLanes) + threadIdx.x / kLanes; sample < batch;
       sample += samples_a_step) {
    const Ids range = ids_of(offsets, slot.feature * batch + sample);
    int length = 0;
    for (std::int64_t i = range.begin + lane; i < range.end; i += kLanes) {
      const std::int64_t id = ids[i];
      length += is_in(slot, id) ? 1 : 0;
      if (id < 0 || id >= slot.table_rows) {
        // One of those that are wrong: whichever thread comes first.
        if (atomicCAS(report + ranks, 0ULL, static_cast<unsigned long long>(slot.feature) + 1) == 0ULL) {
          report[ranks + 1] = static_cast<unsigned long long>(id);
        }
      }
    }
    for (int step = kLanes / 2; step > 0; step /= 2) {
      length += __shfl_xor_sync(members_of_group<kLanes>(), length, step, kLanes);
    }
    if (lane == 0) {
      lengths[blockIdx.x * batch + sample] = length;
      in_slot += static_cast<unsigned long long>(length);
    }
  }
  using Reduce = cub::BlockReduce<unsigned long long, kBlock>;
  __shared__ typename Reduce::TempStorage storage;
  const unsigned long long of_block = Reduce(storage).Sum(in_slot);
  if (threadIdx.x == 0) atomicAdd(report + slot.rank, of_block);
}

__global__ void __launch_bounds__(kBlock) spread_ids(InputSpread spread, const InputSlot* slots) {
  const InputSlot slot = slots[blockIdx.x];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned members = members_of_group<kLanes>();
  const std::int64_t samples_a_step = static_cast<std::int64_t>(gridDim.y) * (kBlock / kLanes);
  for (std::int64_t sample = blockIdx.y * (kBlock / kLanes) + threadIdx.x / kLanes; sample < spread.batch;
       sample += samples_a_step) {
    const Ids range = ids_of(spread.input.offsets.data(), slot.feature * spread.batch + sample);
    std::int64_t to = spread.offsets.data()[blockIdx.x * spread.batch + sample] + spread.shifts.data()[slot.rank];
    for (std::int64_t first = range.begin; first < range.end; first += kLanes) {
      const std::int64_t i = first + lane;
      const std::int64_t id = i < range.end ? spread.input.ids.data()[i] : -1;
      const bool takes = i < range.end && is_in(slot, id);
      // Ids keep their order: each lane goes behind those of the lanes before it.
      const unsigned taking = __ballot_sync(members, takes) & members;
      const unsigned before = taking & ((1U << (threadIdx.x % 32U)) - 1U);
      if (takes) {
        const std::int64_t at = to + __popc(before);
        spread.ids.data()[at] = id - slot.row_begin;
        if (!spread.weights.empty()) spread.weights.data()[at] = spread.input.weights.data()[i];
      }
      to += __popc(taking);
    }
  }
}

dim3 grid_of(std::size_t slots, std::int64_t batch) {
  constexpr std::int64_t kMostBlocksASlot = 64;
  const std::int64_t blocks = (batch * kLanes + kBlock - 1) / kBlock;
  return {static_cast<unsigned>(slots), static_cast<unsigned>(std::min(blocks, kMostBlocksASlot))};
}

}  // namespace

void CudaEmbeddingKernels::sum_lengths(NativeStream stream, std::span<const std::int32_t> lengths,
                                       std::span<std::int64_t> offsets) const {
  check(cudaMemsetAsync(offsets.data(), 0, sizeof(std::int64_t), native(stream)));
  if (lengths.empty()) return;
  const auto wide = thrust::make_transform_iterator(lengths.data(), ToInt64{});
  with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, wide, offsets.data() + 1, lengths.size(), native(stream));
  });
}

void CudaEmbeddingKernels::count(NativeStream stream, const InputCount& arguments) const {
  check(cudaMemsetAsync(arguments.report.data(), 0, arguments.report.size_bytes(), native(stream)));
  if (arguments.slots.empty() || arguments.batch == 0) return;
  count_ids<<<grid_of(arguments.slots.size(), arguments.batch), kBlock, 0, native(stream)>>>(
      arguments.slots.data(), arguments.batch, arguments.input.offsets.data(), arguments.input.ids.data(),
      arguments.lengths.data(), reinterpret_cast<unsigned long long*>(arguments.report.data()),
      static_cast<int>(arguments.report.size() - kReportExtra));
  check(cudaGetLastError());
}

void CudaEmbeddingKernels::spread(NativeStream stream, const InputSpread& arguments) const {
  if (arguments.slots.empty() || arguments.batch == 0) return;
  spread_ids<<<grid_of(arguments.slots.size(), arguments.batch), kBlock, 0, native(stream)>>>(arguments,
                                                                                              arguments.slots.data());
  check(cudaGetLastError());
}

}  // namespace interlace::engine::cuda
