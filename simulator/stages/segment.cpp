#include "simulator/stages/segment.hpp"

#include <algorithm>
#include <array>

namespace interlace::stages {

namespace {
constexpr std::array<std::string_view, 8> kPieces{"whole",   "permute", "exchange",  "splits",
                                                  "tensors", "dense",   "grad_dist", "update"};
}  // namespace

std::string_view to_string(Piece piece) { return kPieces[static_cast<std::size_t>(piece)]; }

std::optional<Piece> piece_named(std::string_view word) {
  const auto found = std::ranges::find(kPieces, word);
  if (found == kPieces.end()) return std::nullopt;
  return static_cast<Piece>(found - kPieces.begin());
}

}  // namespace interlace::stages
