#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::ingest::kineto {

/// A JSON number in microseconds, as exact nanoseconds: "4405607881792.935" -> 4405607881792935. Decimals beyond the
/// third round to the nearest nanosecond, halves away from zero. None for what is no number, and for more than 146
/// years (the sum of two such values and their difference still are int64).
[[nodiscard]] std::optional<Nanoseconds> parse_microseconds(std::string_view text);

/// A JSON integer, or one printed as a decimal without a fraction ("7.0"). None for anything else or beyond int64.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// The same for addresses, which may have their highest bit set.
[[nodiscard]] std::optional<std::uint64_t> parse_unsigned(std::string_view text);

/// Integers in brackets: "[4, -1]", "[]". None for anything else.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_integers(std::string_view text);

}  // namespace interlace::ingest::kineto
