#include "simulator/allocator/size_class.hpp"

#include <gtest/gtest.h>

namespace interlace::allocator {
namespace {

Configuration with_divisions(Bytes divisions) {
  Configuration configuration;
  configuration.roundup_power2_divisions.fill(divisions);
  return configuration;
}

TEST(RoundSize, RoundsUpToMultiplesOf512) {
  const Configuration defaults;
  EXPECT_EQ(round_size(1, defaults), 512);
  EXPECT_EQ(round_size(511, defaults), 512);
  EXPECT_EQ(round_size(512, defaults), 512);
  EXPECT_EQ(round_size(513, defaults), 1024);
  EXPECT_EQ(round_size(kMiB + 1, defaults), kMiB + 512);
}

TEST(RoundSize, RoundsUpToADivisionOfTheNextPowerOfTwo) {
  // 514 MiB with 2 divisions: between 512 and 1024 there is one step, at 768.
  EXPECT_EQ(round_size(514 * kMiB, with_divisions(2)), 768 * kMiB);
  EXPECT_EQ(round_size(768 * kMiB, with_divisions(2)), 768 * kMiB);
  EXPECT_EQ(round_size(512 * kMiB, with_divisions(2)), 512 * kMiB);
  EXPECT_EQ(round_size(768 * kMiB + 1, with_divisions(2)), 1024 * kMiB);
  // 1200 KiB with 4 divisions: 1024, 1280, ...
  EXPECT_EQ(round_size(1200 * kKiB, with_divisions(4)), 1280 * kKiB);
}

TEST(RoundSize, OneDivisionAndSmallRequestsRoundAsUsual) {
  EXPECT_EQ(round_size(514 * kMiB + 1, with_divisions(1)), 514 * kMiB + 512);
  EXPECT_EQ(round_size(8 * 512, with_divisions(8)), 8 * 512);      // not more than 512 * 8: multiples of 512
  EXPECT_EQ(round_size(8 * 512 + 1, with_divisions(8)), 9 * 512);  // step 4096 / 8
  EXPECT_EQ(round_size(2000, with_divisions(8)), 2048);
}

TEST(RoundSize, EachIntervalHasDivisionsOfItsOwn) {
  Configuration configuration;
  configuration.roundup_power2_divisions[0] = 2;   // below 2 MiB
  configuration.roundup_power2_divisions[15] = 4;  // from 32 GiB on
  EXPECT_EQ(round_size(kMiB + 1, configuration), kMiB + kMiB / 2);
  EXPECT_EQ(round_size(5 * 1024 + 1, configuration), 6 * 1024);
  EXPECT_EQ(round_size(2 * kMiB + 1, configuration), 2 * kMiB + 512);
  EXPECT_EQ(round_size(33 * kGiB, configuration), 40 * kGiB);
  EXPECT_EQ(round_size(129 * kGiB, configuration), 160 * kGiB);
}

TEST(SegmentSize, DependsOnTheSizeClass) {
  const Configuration defaults;
  EXPECT_EQ(segment_size(512, defaults), 2 * kMiB);
  EXPECT_EQ(segment_size(kMiB, defaults), 2 * kMiB);
  EXPECT_EQ(segment_size(kMiB + 512, defaults), 20 * kMiB);
  EXPECT_EQ(segment_size(10 * kMiB - 512, defaults), 20 * kMiB);
  EXPECT_EQ(segment_size(10 * kMiB, defaults), 10 * kMiB);
  EXPECT_EQ(segment_size(11 * kMiB, defaults), 12 * kMiB);
  Configuration other;
  other.large_segment_size = 64 * kMiB;
  EXPECT_EQ(segment_size(kMiB + 512, other), 64 * kMiB);
}

TEST(RoundSize, MoreDivisionsThanBytesRoundAsUsual) {
  EXPECT_EQ(round_size(514 * kMiB + 1, with_divisions(Bytes{1} << 56)), 514 * kMiB + 512);
}

}  // namespace
}  // namespace interlace::allocator
