#include "simulator/explain/alignment.hpp"

#include <algorithm>
#include <cstdint>

namespace interlace::explain {

std::vector<std::pair<std::size_t, std::size_t>> common_elements(const StepPath& a, const StepPath& b) {
  enum Came : std::uint8_t { kFromAbove, kFromLeft, kFromBoth };
  const std::size_t columns = b.size() + 1;
  std::vector<std::uint8_t> came((a.size() + 1) * columns, kFromAbove);
  std::vector<Nanoseconds> above(columns, 0);
  std::vector<Nanoseconds> row(columns, 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = above[j];
      std::uint8_t from = kFromAbove;
      if (row[j - 1] > row[j]) {
        row[j] = row[j - 1];
        from = kFromLeft;
      }
      if (a[i - 1].name == b[j - 1].name) {
        // One more, so that works without a length pair up as well.
        const Nanoseconds both = above[j - 1] + std::min(a[i - 1].total(), b[j - 1].total()) + 1;
        if (both > row[j]) {
          row[j] = both;
          from = kFromBoth;
        }
      }
      came[i * columns + j] = from;
    }
    std::swap(above, row);
    row.front() = 0;
  }
  std::vector<std::pair<std::size_t, std::size_t>> common;
  for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    switch (came[i * columns + j]) {
      case kFromBoth: common.emplace_back(--i, --j); break;
      case kFromLeft: --j; break;
      default: --i;
    }
  }
  std::ranges::reverse(common);
  return common;
}

}  // namespace interlace::explain
