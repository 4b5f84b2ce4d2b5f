#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/timeline/lanes.hpp"
#include "simulator/base/interval.hpp"

namespace interlace::gui {

/// The operations of one name in a range, by their whole durations.
struct NameTotals {
  trace::StringId name;
  std::int64_t count = 0;
  Nanoseconds sum = 0;
  Nanoseconds shortest = 0;
  Nanoseconds longest = 0;

  /// To the nearest nanosecond.
  [[nodiscard]] Nanoseconds average() const { return count == 0 ? 0 : (sum + count / 2) / count; }
  bool operator==(const NameTotals&) const = default;
};

/// What lies in a range of time on some rows.
struct RangeTotals {
  Interval range;
  std::int64_t count = 0;  ///< operations that lie in the range, wholly or in part
  std::int64_t cut = 0;    ///< of these, in part
  Nanoseconds sum = 0;     ///< of their whole durations
  Nanoseconds shortest = 0;
  Nanoseconds longest = 0;
  Nanoseconds busy = 0;           ///< part of the range in which at least one of them runs
  std::vector<NameTotals> names;  ///< largest sum first

  [[nodiscard]] Nanoseconds average() const { return count == 0 ? 0 : (sum + count / 2) / count; }
};

/// An operation lies in the range where they share time; an instant where the range holds it. `busy` is a union: work
/// side by side counts once.
[[nodiscard]] RangeTotals measure(const trace::Trace& trace, const Lanes& lanes, std::span<const RowIndex> rows,
                                  Interval range);

}  // namespace interlace::gui
