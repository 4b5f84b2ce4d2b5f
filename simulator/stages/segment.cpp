#include "simulator/stages/segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace interlace::stages {

namespace {
constexpr std::array<std::string_view, 9> kPieces{"whole", "permute",   "exchange", "splits", "tensors",
                                                  "dense", "grad_dist", "update",   "order"};
}  // namespace

std::string_view to_string(Piece piece) { return kPieces[static_cast<std::size_t>(piece)]; }

std::optional<Piece> piece_named(std::string_view word) {
  const auto found = std::ranges::find(kPieces, word);
  if (found == kPieces.end()) return std::nullopt;
  return static_cast<Piece>(found - kPieces.begin());
}

bool mostly_without_work(schedule::Stage stage) {
  using enum schedule::Stage;
  return stage == kNextBatch || stage == kZeroGrad || stage == kOutputDistWait;
}

std::string part_label(std::string_view module, Piece piece) {
  if (module.empty() && piece == Piece::kWhole) return {};
  if (piece == Piece::kWhole) return fmt::format("[{}]", module);
  return fmt::format("[{}:{}]", module, to_string(piece));
}

std::optional<PartLabel> part_label_of(std::string_view name) {
  if (name.size() < 2 || !name.starts_with('[') || !name.ends_with(']')) return std::nullopt;
  name = name.substr(1, name.size() - 2);
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) {
    if (const auto piece = piece_named(name.substr(colon + 1))) return PartLabel{name.substr(0, colon), *piece};
  }
  return PartLabel{name, Piece::kWhole};
}

}  // namespace interlace::stages
