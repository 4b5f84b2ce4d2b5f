#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::contention {

/// Rows and columns of the result that one block of a matrix multiplication makes.
struct Tile {
  std::int64_t first = 1;
  std::int64_t second = 1;

  friend bool operator==(const Tile&, const Tile&) = default;
};

/// As names of CUTLASS' and cuBLAS' kernels tell it ("cutlass_80_simt_sgemm_256x128_8x4_nt_align1",
/// "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_..."): 256 and 128, 128 and 64. None for others.
[[nodiscard]] std::optional<Tile> tile_of(std::string_view kernel_name);

/// How many blocks of a multiplication have anything to do.
///
/// CUTLASS lays the tiles of a result out in strips of 8, 4 or 2 (GemmIdentityThreadblockSwizzle: 8 from six tiles on,
/// 4 from three, 2 from two), and the blocks that make up the last strip return at once. A result of 1 x 49 tiles in
/// eight parts has a grid of 8 x 7 x 8 = 448 blocks, 392 of which multiply: three rounds on 132 SMs, not four. How
/// many tiles there are a grid by itself mostly does not tell; other multiplications of the same matrices do, whose
/// grids are tile by tile (xmma). Of what the width of a first layer may be, whose matrix often has no such
/// multiplication, the middle is taken: t6's weight gradient of 16 x 8 x 2 blocks has 244 to do, 228 to 256 are
/// possible.
class MatrixExtents {
 public:
  /// Learns from a grid that is tile by tile; leaves others alone.
  void see(std::string_view kernel_name, const trace::KernelDetail& kernel);

  /// At least one and at most kernel.blocks(), which it is where CUTLASS would make no such grid. Where several results
  /// have this grid and nothing tells which it is, half of them have as many or fewer.
  [[nodiscard]] std::int64_t blocks_with_work(std::string_view kernel_name, const trace::KernelDetail& kernel) const;

 private:
  /// The extent of a matrix in elements: more than `above`, at most `most`.
  struct Extent {
    std::int64_t above = 0;
    std::int64_t most = 0;
  };

  [[nodiscard]] bool knows(std::int64_t tiles, std::int64_t tile) const;

  std::vector<Extent> extents_;
};

}  // namespace interlace::contention
