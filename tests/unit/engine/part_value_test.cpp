#include "engine/pipeline/part_value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <set>

namespace interlace::engine {
namespace {

TEST(PartValue, TellsSenderReceiverAndBatch) {
  constexpr std::size_t kRanks = 300;
  std::set<float> values;
  for (const std::int64_t batch : {0, 1, 125, 1000}) {
    for (std::size_t from = 0; from < kRanks; ++from) {
      for (std::size_t to = 0; to < kRanks; ++to) values.insert(part_value(batch, from, to, kRanks));
    }
  }
  EXPECT_EQ(values.size(), 4 * kRanks * kRanks);
}

// 127 batches of 4096 x 4096 parts are more than there are normal floats: 127 * 2^24 = 2^31 - 2^24, of 2^31 - 2^24.
TEST(PartValue, IsANormalNumberAtTheMostRanks) {
  constexpr std::size_t kMost = 4096;
  std::set<float> last;
  for (std::int64_t batch = 0; batch < 127; ++batch) {
    const float value = part_value(batch, kMost - 1, kMost - 1, kMost);
    EXPECT_TRUE(std::isnormal(value) && value > 0.0F) << batch;
    last.insert(value);
  }
  EXPECT_EQ(last.size(), 127U);
  EXPECT_EQ(part_value(127, 0, 0, kMost), part_value(0, 0, 0, kMost));
}

}  // namespace
}  // namespace interlace::engine
