#include "simulator/contention/multiplication_tiles.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace interlace::contention {

namespace {

/// No tile is as long; from longer ones extents would not fit into 64 bits.
constexpr std::int64_t kLongest = 65'536;

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || number > kLongest) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// "256x128" at the beginning of a text; takes it away.
std::optional<Tile> take_tile(std::string_view& text) {
  const auto first = take_number(text);
  if (!first || !text.starts_with('x')) return std::nullopt;
  text.remove_prefix(1);
  const auto second = take_number(text);
  return second ? std::optional(Tile{*first, *second}) : std::nullopt;
}

/// "cutlass_..._256x128_8x4_": the tile, then its depth and the stages.
std::optional<Tile> cutlass_tile(std::string_view name) {
  const auto prefix = name.find("cutlass_");
  if (prefix == std::string_view::npos) return std::nullopt;
  for (std::size_t at = name.find('_', prefix); at != std::string_view::npos; at = name.find('_', at + 1)) {
    std::string_view rest = name.substr(at + 1);
    const auto tile = take_tile(rest);
    if (!tile || !rest.starts_with('_')) continue;
    rest.remove_prefix(1);
    if (take_tile(rest)) return tile;
  }
  return std::nullopt;
}

/// "xmma_..._tilesize128x64x8": the tile, then its depth.
std::optional<Tile> xmma_tile(std::string_view name) {
  constexpr std::string_view kWord = "tilesize";
  const auto at = name.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(at + kWord.size());
  return take_tile(rest);
}

/// Tiles side by side in a strip, where a result is so many tiles wide.
std::int64_t strip_of(std::int64_t tiles) {
  if (tiles >= 6) return 8;
  if (tiles >= 3) return 4;
  return tiles >= 2 ? 2 : 1;
}

}  // namespace

std::optional<Tile> tile_of(std::string_view kernel_name) {
  const auto tile = cutlass_tile(kernel_name);
  return tile ? tile : xmma_tile(kernel_name);
}

void MatrixExtents::see(std::string_view kernel_name, const trace::KernelDetail& kernel) {
  const auto tile = xmma_tile(kernel_name);
  if (!tile) return;
  extents_.push_back({(kernel.grid[0] - 1) * tile->first, kernel.grid[0] * tile->first});
  extents_.push_back({(kernel.grid[1] - 1) * tile->second, kernel.grid[1] * tile->second});
}

bool MatrixExtents::knows(std::int64_t tiles, std::int64_t tile) const {
  return std::ranges::any_of(extents_,
                             [&](const Extent& e) { return (tiles - 1) * tile < e.most && tiles * tile > e.above; });
}

std::int64_t MatrixExtents::blocks_with_work(std::string_view kernel_name, const trace::KernelDetail& kernel) const {
  constexpr std::int32_t kMost = 65'535;  // CUDA's limit of the second and third dimension
  const std::int64_t all = std::max<std::int64_t>(1, kernel.blocks());
  const auto tile = cutlass_tile(kernel_name);
  if (!tile || kernel.blocks() < 1 || kernel.grid[1] > kMost || kernel.grid[2] > kMost) return all;
  const std::int64_t columns = kernel.grid[0];
  const std::int64_t strips = kernel.grid[1];
  std::vector<std::int64_t> possible;
  std::int64_t known = 0;
  for (const std::int64_t strip : {1, 2, 4, 8}) {
    if (columns % strip != 0) continue;
    const std::int64_t down = columns / strip;
    for (std::int64_t across = (strips - 1) * strip + 1; across <= strips * strip; ++across) {
      if (strip_of(across) != strip) continue;
      possible.push_back(down * across);
      if (knows(across, tile->first) && knows(down, tile->second)) known = std::max(known, down * across);
    }
  }
  if (known > 0) return known * kernel.grid[2];
  if (possible.empty()) return all;
  const auto middle = possible.begin() + std::ssize(possible) / 2;
  std::ranges::nth_element(possible, middle);
  return *middle * kernel.grid[2];
}

}  // namespace interlace::contention
