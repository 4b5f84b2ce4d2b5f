#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace interlace::ingest {

/// The number of a stream or an event, where it is one. Recorders write "none" as -1, or as that in 32 bits without a
/// sign.
[[nodiscard]] inline std::optional<std::int64_t> unless_none(std::optional<std::int64_t> number) {
  constexpr std::int64_t kUnsignedMinusOne = std::numeric_limits<std::uint32_t>::max();
  return number && *number >= 0 && *number != kUnsignedMinusOne ? number : std::nullopt;
}

}  // namespace interlace::ingest
