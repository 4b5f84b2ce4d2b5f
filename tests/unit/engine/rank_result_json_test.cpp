#include "engine/launch/rank_result_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace interlace::engine {
namespace {

TEST(RankResultJson, KeepsEveryBit) {
  const RankResult sent{.losses = {0.1F, std::nextafter(0.1F, 1.0F), std::numeric_limits<float>::quiet_NaN(), -0.0F},
                        .digest = 0xfedcba9876543210U,
                        .peaks = {.allocated = 3, .reserved = std::int64_t{1} << 40},
                        .validations = {{7, "event", true}, {8, "unsafe", false}},
                        .seconds = 0.1,
                        .step_seconds = {0.3, 0.1},
                        .profile = {{"stage", "backward", 3, 0.1, 0.7}}};
  const RankResult got = rank_result_of(to_json(sent));
  ASSERT_EQ(got.losses.size(), 4U);
  EXPECT_EQ(got.losses[0], sent.losses[0]);
  EXPECT_EQ(got.losses[1], sent.losses[1]);
  EXPECT_TRUE(std::isnan(got.losses[2]));
  EXPECT_TRUE(std::signbit(got.losses[3]));
  EXPECT_EQ(got.digest, sent.digest);
  EXPECT_EQ(got.peaks.allocated, sent.peaks.allocated);
  EXPECT_EQ(got.peaks.reserved, sent.peaks.reserved);
  EXPECT_EQ(got.validations, sent.validations);
  EXPECT_EQ(got.seconds, sent.seconds);
  EXPECT_EQ(got.step_seconds, sent.step_seconds);
  EXPECT_EQ(got.profile, sent.profile);
}

}  // namespace
}  // namespace interlace::engine
