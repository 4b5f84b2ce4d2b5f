#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace interlace {

/// The index of a row in the table that Tag names. Ids of different tables do not mix, and an id that may be absent is
/// a std::optional<Id>: no value of an id means "none".
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  [[nodiscard]] constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace interlace

template <class Tag>
struct std::hash<interlace::Id<Tag>> {
  std::size_t operator()(const interlace::Id<Tag>& id) const noexcept { return id.value; }
};
