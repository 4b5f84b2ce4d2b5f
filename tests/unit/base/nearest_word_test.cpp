#include "simulator/base/nearest_word.hpp"

#include <gtest/gtest.h>

namespace interlace {
namespace {

using Words = std::vector<std::string_view>;

TEST(Nearest, FindsSlipsOfTheFinger) {
  const Words known = {"embedding_lookup", "data_parallel_lookup", "output_dist_wait", "input_dist_wait"};
  EXPECT_EQ(nearest("embedding_lokup", known), Words{"embedding_lookup"});                          // a letter missing
  EXPECT_EQ(nearest("embeddnig_lookup", known), Words{"embedding_lookup"});                         // two swapped
  EXPECT_EQ(nearest("ouput_dist_wait", known, 2), (Words{"output_dist_wait", "input_dist_wait"}));  // best first
  EXPECT_EQ(nearest("zzz", known), Words{});
  EXPECT_EQ(nearest("", known), Words{});
  EXPECT_EQ(nearest(std::string(100'000, 'x'), known), Words{});
}

TEST(Nearest, ASwapCountsAsOneChange) {
  // "abc" -> "acb": one swap, a third of the letters; as two changes it would be too far.
  EXPECT_EQ(nearest("abc", Words{"acb"}), Words{"acb"});
  EXPECT_EQ(nearest("abc", Words{"axy"}), Words{});
}

TEST(Nearest, NeedsNoFolder) {
  const Words known = {"torchrec/sparse_dist", "torchrec/staged", "recsys/dp_only"};
  EXPECT_EQ(nearest("sparse_dist", known, 3), Words{"torchrec/sparse_dist"});
  EXPECT_EQ(nearest("torchrec/sparsedist", known, 3), Words{"torchrec/sparse_dist"});
  EXPECT_EQ(nearest("torchrec/zzzzzz", known, 3), Words{});  // the folder alone is no likeness
}

TEST(DidYouMean, ListsWords) {
  EXPECT_EQ(did_you_mean(Words{}), "");
  EXPECT_EQ(did_you_mean(Words{"a"}), "; did you mean \"a\"?");
  EXPECT_EQ(did_you_mean(Words{"a", "b", "c"}), "; did you mean \"a\", \"b\" or \"c\"?");
}

}  // namespace
}  // namespace interlace
