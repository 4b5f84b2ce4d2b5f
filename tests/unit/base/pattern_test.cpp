#include "simulator/base/pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace interlace {
namespace {

TEST(Pattern, IsFoundAnywhere) {
  const Pattern pattern("copy_batch$|^## (start|wait)_");
  EXPECT_TRUE(pattern.is_in("in-place copy_batch"));
  EXPECT_TRUE(pattern.is_in("## wait_sparse_data_dist ##"));
  EXPECT_FALSE(pattern.is_in("copy_batches"));
}

TEST(Pattern, TellsItsFirstGroup) {
  EXPECT_EQ(Pattern(R"(lookup\[(\w+)\])").capture_in("a lookup[sparse] of"), "sparse");
  EXPECT_EQ(Pattern("lookup(x)?").capture_in("a lookup"), "");
  EXPECT_EQ(Pattern("(x)").capture_in("a lookup"), std::nullopt);
  EXPECT_EQ(Pattern("lookup").capture_in("a lookup"), std::nullopt);
}

TEST(Pattern, DisregardsCaseWhereAsked) {
  EXPECT_FALSE(Pattern("NCCL").is_in("ncclDevKernel"));
  EXPECT_TRUE(Pattern("NCCL", Pattern::Case::kIgnored).is_in("ncclDevKernel"));
}

TEST(Pattern, RefusesWhatIsNone) {
  EXPECT_THROW(Pattern("(unclosed"), Pattern::Problem);
  EXPECT_THROW(Pattern("a(?=b)"), Pattern::Problem) << "its time would not be in proportion to the text";
}

TEST(Pattern, TakesTimeInProportionToTheTextAndNoStack) {
  // A search that tries all ways ends with neither in the time of a person, or of a stack.
  EXPECT_FALSE(Pattern("(.*)*x").is_in(std::string(64, 'a')));
  EXPECT_FALSE(Pattern("(a|b)*x$").is_in(std::string(4'000'000, 'a')));
}

}  // namespace
}  // namespace interlace
