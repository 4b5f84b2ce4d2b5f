#include "engine/report/progress_lines.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace interlace::engine {
namespace {

TEST(ProgressLines, ComeEverySoOftenAndNotInShortRuns) {
  std::ostringstream out;
  const ProgressLines::Clock::time_point began{};
  ProgressLines lines(out, 400, began);
  lines.begin(0, began);
  lines.begin(9, began + ProgressLines::kEvery - std::chrono::nanoseconds(1));
  EXPECT_EQ(out.str(), "");
  lines.begin(10, began + ProgressLines::kEvery);
  lines.begin(11, began + ProgressLines::kEvery + std::chrono::seconds(1));
  lines.begin(99, began + 3 * ProgressLines::kEvery);
  EXPECT_EQ(out.str(), "batch 11 of 400\nbatch 100 of 400\n");
}

}  // namespace
}  // namespace interlace::engine
