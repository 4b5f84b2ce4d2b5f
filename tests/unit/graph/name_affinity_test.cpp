#include "simulator/graph/waits/name_affinity.hpp"

#include <gtest/gtest.h>

namespace interlace::graph {
namespace {

TEST(NameAffinityTest, FindsTheSiteThatSharesRareWords) {
  const std::vector<std::vector<std::string>> sites{
      {"## all#all_data:kjt splits ##"},             // 0
      {"## all#all_data:kjt lengths ##"},            // 1
      {"## SplitsAllToAllAwaitable wait() ##"},      // 2
      {"## KJTAllToAllTensorsAwaitable wait() ##"},  // 3
      {"## all#all_data:pooled ##"},                 // 4
  };
  const NameAffinity affinity(sites);
  EXPECT_GT(affinity(0, 2), affinity(1, 2));  // "splits"
  EXPECT_GT(affinity(1, 3), affinity(4, 3));  // "kjt", taken out of "KJTAllToAll"
  EXPECT_DOUBLE_EQ(affinity(1, 1), 1);
}

TEST(NameAffinityTest, LeavesPlumbingAndOuterRangesOut) {
  EXPECT_EQ(telling_names({"outer", "All#All_Pooled_Req", "## fwd ##", "c#d::alltoall_base_", "record_param_comms"}),
            (std::vector<std::string>{"All#All_Pooled_Req", "## fwd ##"}));
  EXPECT_TRUE(telling_names({"autograd::engine::evaluate_function: X", "nccl:all_reduce"}).empty());
}

TEST(NameAffinityTest, SitesWithoutNamesAreAlikeToNone) {
  const std::vector<std::vector<std::string>> sites{{}, {"a word"}, {"a word"}};
  const NameAffinity affinity(sites);
  EXPECT_EQ(affinity(0, 1), 0);
  EXPECT_DOUBLE_EQ(affinity(1, 2), 1);
}

}  // namespace
}  // namespace interlace::graph
