#include "simulator/explain/alignment.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace interlace::explain {

namespace {

enum Came : std::uint8_t { kFromAbove, kFromLeft, kFromBoth };

/// The weights of the best sequences that end with `work`, from those that end before it.
void fill_row(const StepPath::value_type& work, const StepPath& b, const std::vector<Nanoseconds>& above,
              std::vector<Nanoseconds>& row, std::span<std::uint8_t> came) {
  for (std::size_t j = 1; j <= b.size(); ++j) {
    row[j] = above[j];
    if (row[j - 1] > row[j]) {
      row[j] = row[j - 1];
      came[j] = kFromLeft;
    }
    if (work.name != b[j - 1].name) continue;
    // One more, so that works without a length pair up as well.
    const Nanoseconds both = above[j - 1] + std::min(work.total(), b[j - 1].total()) + 1;
    if (both > row[j]) {
      row[j] = both;
      came[j] = kFromBoth;
    }
  }
}

/// Where the best sequence up to each pair of elements came from; row by row, with a row and a column for none.
std::vector<std::uint8_t> best_steps(const StepPath& a, const StepPath& b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::uint8_t> came((a.size() + 1) * columns, kFromAbove);
  std::vector<Nanoseconds> above(columns, 0);
  std::vector<Nanoseconds> row(columns, 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    fill_row(a[i - 1], b, above, row, std::span(came).subspan(i * columns, columns));
    std::swap(above, row);
    row.front() = 0;
  }
  return came;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> common_elements(const StepPath& a, const StepPath& b) {
  const std::vector<std::uint8_t> came = best_steps(a, b);
  std::vector<std::pair<std::size_t, std::size_t>> common;
  for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    switch (came[i * (b.size() + 1) + j]) {
      case kFromBoth: common.emplace_back(--i, --j); break;
      case kFromLeft: --j; break;
      default: --i;
    }
  }
  std::ranges::reverse(common);
  return common;
}

}  // namespace interlace::explain
