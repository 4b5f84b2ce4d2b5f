#include "simulator/contention/multiplication_tiles.hpp"

#include <gtest/gtest.h>

#include <string>

namespace interlace::contention {
namespace {

using Kernel = trace::KernelDetail;

std::string cutlass(const std::string& tile) {
  return "void cutlass::Kernel2<cutlass_80_simt_sgemm_" + tile + "_8x4_nt_align1>(cutlass_80_simt_sgemm_" + tile +
         "_8x4_nt_align1::Params)";
}

std::string xmma(const std::string& tile) {
  return "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize" + tile + "x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4";
}

TEST(MultiplicationTiles, ANameTellsTheTile) {
  EXPECT_EQ(tile_of(cutlass("256x128")), (Tile{256, 128}));
  EXPECT_EQ(tile_of("cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4"), (Tile{128, 64}));
  EXPECT_EQ(tile_of(xmma("64x32")), (Tile{64, 32}));
}

TEST(MultiplicationTiles, OtherNamesTellNone) {
  for (const char* name : {"", "cutlass_", "cutlass_80_simt_sgemm", "cutlass_x_12x_8x4_nt", "cutlass_256x128_nt",
                           "tilesize", "tilesize128", "tilesize128x", "tilesize0x8", "tilesize99999999999999999999x8",
                           "tilesize8x9223372036854775807x8", "ampere_sgemm_128x64_nn", "update_rows<float4, 16, 1>"}) {
    EXPECT_FALSE(tile_of(name)) << name;
  }
}

/// The grid that CUTLASS makes of a result of so many tiles.
Kernel grid_of(std::int32_t down, std::int32_t across, std::int32_t parts) {
  const std::int32_t strip = across >= 6 ? 8 : across >= 3 ? 4 : across >= 2 ? 2 : 1;
  return {.grid = {down * strip, (across + strip - 1) / strip, parts}};
}

TEST(MultiplicationTiles, AnotherMultiplicationOfTheMatrixTellsHowManyBlocksHaveWork) {
  // The engine's `exposed`: 128 x 12,3xx, in eight parts, and 16,384 x the same by tiles of 64.
  MatrixExtents extents;
  const Kernel weights{.grid = {8, 7, 8}};
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), weights), 424);
  extents.see(xmma("64x64"), {.grid = {256, 193, 1}});
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), weights), 424) << "the other side is not known yet";
  extents.see(xmma("128x128"), {.grid = {128, 1, 1}});
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), weights), 392);
}

TEST(MultiplicationTiles, AGridThatOneResultMakesTellsItself) {
  const MatrixExtents nothing;
  EXPECT_EQ(nothing.blocks_with_work(cutlass("128x128"), grid_of(5, 5, 10)), 250);  // n6: 640 x 640, 400 blocks
}

TEST(MultiplicationTiles, OfSeveralResultsThatMakeAGridTheMiddleOneIsTaken) {
  const MatrixExtents nothing;
  const Kernel t6{.grid = {16, 8, 2}};  // 7,808 x 512 by tiles of 128 x 256, in two parts
  EXPECT_EQ(grid_of(2, 57, 2).grid, t6.grid);
  EXPECT_EQ(grid_of(2, 64, 2).grid, t6.grid);
  EXPECT_EQ(nothing.blocks_with_work(cutlass("128x256"), t6), 2 * 61 * 2);
}

TEST(MultiplicationTiles, NoKnownWorkIsLeftOut) {
  for (std::int32_t down = 1; down <= 9; ++down) {
    for (std::int32_t across = 1; across <= 40; ++across) {
      const Kernel kernel = grid_of(down, across, 3);
      const std::int64_t work = std::int64_t{down} * across * 3;
      const MatrixExtents nothing;
      const std::int64_t last_strip = kernel.blocks() / kernel.grid[1];
      EXPECT_GT(nothing.blocks_with_work(cutlass("256x128"), kernel), kernel.blocks() - last_strip)
          << down << " x " << across;
      EXPECT_LE(nothing.blocks_with_work(cutlass("256x128"), kernel), kernel.blocks()) << down << " x " << across;
      MatrixExtents of_this_job;
      of_this_job.see(xmma("256x128"), {.grid = {across, down, 1}});
      EXPECT_GE(of_this_job.blocks_with_work(cutlass("256x128"), kernel), work) << down << " x " << across;
    }
  }
}

TEST(MultiplicationTiles, WhatIsNoGridOfCutlassStaysAsItIs) {
  MatrixExtents extents;
  extents.see(xmma("64x64"), {.grid = {1, 1, 1}});
  EXPECT_EQ(extents.blocks_with_work(xmma("64x64"), {.grid = {20, 2, 10}}), 400);
  EXPECT_EQ(extents.blocks_with_work("update_rows", {.grid = {20, 2, 10}}), 400);
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), {.grid = {7, 3, 1}}), 21) << "seven is no number of strips";
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), {.grid = {0, 0, 0}}), 1);
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), {.grid = {8, 2'000'000'000, 1}}), 16'000'000'000);
  EXPECT_EQ(extents.blocks_with_work(cutlass("256x128"), {.grid = {8, 1, 2'000'000'000}}), 16'000'000'000);
}

}  // namespace
}  // namespace interlace::contention
