#include "simulator/contention/kernel_shape.hpp"

#include <gtest/gtest.h>

namespace interlace::contention {
namespace {

TEST(KernelShape, OccupancyIsTheLeastOfAllLimits) {
  // 256 threads are 8 warps; 2048 / 256 = 8 blocks by threads, 65536 / (32 * 8 * 32) = 8 by registers.
  EXPECT_EQ(
      shape_of({.grid = {264, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 32}, "k", nullptr).blocks_per_sm, 8);
  // 122 registers: 122 * 32 = 3904 -> 4096 a warp, 32768 a block of 8 warps: 2 blocks.
  EXPECT_EQ(shape_of({.block = {256, 1, 1}, .registers_per_thread = 122}, "k", nullptr).blocks_per_sm, 2);
  // 100 KiB and 1 KiB of overhead: 233472 / 103424 = 2.
  EXPECT_EQ(
      shape_of({.block = {64, 1, 1}, .registers_per_thread = 16, .shared_memory = 102400}, "k", nullptr).blocks_per_sm,
      2);
  // One warp: limited by the 32 blocks of an SM.
  EXPECT_EQ(shape_of({.block = {32, 1, 1}, .registers_per_thread = 16}, "k", nullptr).blocks_per_sm, 32);
}

TEST(KernelShape, TheDeviceDecidesWhereItIsKnown) {
  const trace::Device device{.sm_count = 108, .max_threads_per_sm = 1024};
  const KernelShape shape =
      shape_of({.grid = {432, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 16}, "k", &device);
  EXPECT_EQ(shape.sm_count, 108);
  EXPECT_EQ(shape.blocks_per_sm, 4);
  EXPECT_DOUBLE_EQ(shape.waves(), 1.0);
}

// As measured, but for 112 KiB beside 68, which found room (docs/benchmarks/placement, 14).
TEST(KernelShape, SmsAreSharedByKernelsOfMuchTheSameSharedMemory) {
  const auto by_threads = [](std::int32_t threads, std::int64_t shared) {
    return shape_of({.block = {threads, 1, 1}, .registers_per_thread = 32, .shared_memory = shared}, "k", nullptr);
  };
  const KernelShape without = by_threads(256, 0);
  EXPECT_DOUBLE_EQ(without.shared_kib, 8.0);
  EXPECT_TRUE(share_an_sm(without, by_threads(128, 1 << 10)));   // 32
  EXPECT_FALSE(share_an_sm(without, by_threads(128, 2 << 10)));  // 48
  const KernelShape with_4 = by_threads(256, 4 << 10);
  EXPECT_DOUBLE_EQ(with_4.shared_kib, 40.0);
  EXPECT_FALSE(share_an_sm(with_4, by_threads(128, 6 << 10)));  // 112
  const KernelShape with_8 = by_threads(256, 8 << 10);
  EXPECT_FALSE(share_an_sm(with_8, by_threads(128, 8 << 10)));  // 144
  EXPECT_TRUE(share_an_sm(by_threads(256, 33 << 10), by_threads(128, 128 << 10)));
  EXPECT_LE(by_threads(128, 200 << 10).shared_kib, 228.0);
}

TEST(KernelShape, WavesCountTheLastRoundWhole) {
  const KernelShape shape{.blocks = 256, .blocks_per_sm = 2, .sm_count = 132};
  EXPECT_EQ(shape.waves_on(132), 1);  // 256 of 264
  EXPECT_EQ(shape.waves_on(100), 2);  // 256 of 200
}

TEST(KernelShape, WhatAKernelIsShortOfIsToldByItsName) {
  EXPECT_EQ(bound_of("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n"), Bound::kCompute);
  EXPECT_EQ(bound_of("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>"), Bound::kCompute);
  EXPECT_EQ(bound_of("void fbgemm_gpu::permute_2D_data_kernel_vec<false>"), Bound::kGather);
  EXPECT_EQ(bound_of("split_embedding_codegen_forward_weighted_kernel<float>"), Bound::kGather);
  EXPECT_EQ(bound_of("void fbgemm_gpu::permute_multi_embs_kernel<float, false>"), Bound::kStreaming);
  EXPECT_EQ(bound_of("void cublasLt::splitKreduce_kernel<32, 16>"), Bound::kStreaming);
  EXPECT_EQ(bound_of("void at::native::vectorized_elementwise_kernel<4>"), Bound::kStreaming);
}

}  // namespace
}  // namespace interlace::contention
