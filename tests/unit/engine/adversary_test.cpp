#include "engine/cpu/adversary.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

namespace interlace::engine::cpu {
namespace {

constexpr std::array<std::size_t, 3> kReady = {1, 4, 7};

std::vector<std::size_t> picks(std::optional<std::uint64_t> seed, int count) {
  Adversary adversary(seed);
  std::vector<std::size_t> chosen;
  for (int i = 0; i < count; ++i) chosen.push_back(adversary.pick(kReady));
  return chosen;
}

TEST(Adversary, WithoutASeedTakesTheFirst) { EXPECT_EQ(picks(std::nullopt, 50), std::vector<std::size_t>(50, 1)); }

TEST(Adversary, RepeatsItselfUnderOneSeedAndNotUnderAnother) {
  EXPECT_EQ(picks(3, 200), picks(3, 200));
  EXPECT_NE(picks(3, 200), picks(4, 200));
}

TEST(Adversary, LetsEveryActorGoFirstAndHoldsOthersBack) {
  std::map<std::size_t, int> counts;
  int longest = 0;
  int run = 0;
  std::size_t last = 0;
  for (const std::size_t actor : picks(1, 2000)) {
    ++counts[actor];
    run = actor == last ? run + 1 : 1;
    last = actor;
    longest = std::max(longest, run);
  }
  // Fair: a third each, 667, with runs as long as weights last: up to 64 choices.
  for (const std::size_t actor : kReady) EXPECT_GT(counts[actor], 300) << actor;
  EXPECT_GT(longest, 24);
}

}  // namespace
}  // namespace interlace::engine::cpu
