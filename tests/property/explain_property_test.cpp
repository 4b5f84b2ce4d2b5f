#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "simulator/explain/alignment.hpp"

namespace interlace::explain {
namespace {

PathElement element(std::uint32_t name, Nanoseconds time) {
  PathElement made;
  made.name = {name};
  made.in = time;
  return made;
}

/// The largest common time of all selections, by trying all.
Nanoseconds best(const StepPath& a, std::size_t i, const StepPath& b, std::size_t j) {
  if (i == a.size() || j == b.size()) return 0;
  Nanoseconds most = std::max(best(a, i + 1, b, j), best(a, i, b, j + 1));
  if (a[i].name == b[j].name) {
    most = std::max(most, best(a, i + 1, b, j + 1) + std::min(a[i].total(), b[j].total()) + 1);
  }
  return most;
}

RC_GTEST_PROP(Alignment, IsTheBestOfAll, ()) {
  const auto path = [] {
    StepPath made;
    const int size = *rc::gen::inRange(0, 6);
    for (int i = 0; i < size; ++i) made.push_back(element(*rc::gen::inRange(0U, 3U), *rc::gen::inRange(0, 9)));
    return made;
  };
  const StepPath a = path();
  const StepPath b = path();
  Nanoseconds common = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const auto& [x, y] : common_elements(a, b)) {
    RC_ASSERT(x >= i);
    RC_ASSERT(y >= j);
    RC_ASSERT(a[x].name == b[y].name);
    common += std::min(a[x].total(), b[y].total()) + 1;
    i = x + 1;
    j = y + 1;
  }
  RC_ASSERT(common == best(a, 0, b, 0));
}

}  // namespace
}  // namespace interlace::explain
