#include "simulator/analysis/annotations.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analysis/job.hpp"

namespace interlace::analysis {
namespace {

TEST(StageLabel, TakesNameAndBatchApart) {
  EXPECT_EQ(stage_label("## backward 28 ##"), (StageLabel{"backward", 28}));
  EXPECT_EQ(stage_label("backward 28"), (StageLabel{"backward", 28}));
  EXPECT_EQ(stage_label("input_dist_start -1"), (StageLabel{"input_dist_start", -1}));
  EXPECT_EQ(stage_label("ProfilerStep#7"), (StageLabel{"ProfilerStep", 7}));
  EXPECT_EQ(stage_label("## zero_grad ##"), (StageLabel{"zero_grad", {}}));
  EXPECT_EQ(stage_label("## all2all_data:kjt splits ##"), (StageLabel{"all2all_data:kjt splits", {}}));
  EXPECT_EQ(stage_label("Optimizer.step#SGD.step"), (StageLabel{"Optimizer.step#SGD.step", {}}));
  EXPECT_EQ(stage_label("nccl:all_to_all"), (StageLabel{"nccl:all_to_all", {}}));
  EXPECT_EQ(stage_label("99999999999999999999 "), (StageLabel{"99999999999999999999 ", {}}));
  EXPECT_EQ(stage_label("x 99999999999999999999"), (StageLabel{"x 99999999999999999999", {}}));  // beyond int64
  EXPECT_EQ(stage_label(""), (StageLabel{"", {}}));
}

TEST(StageLabel, KnowsAStageWithAndWithoutQualifier) {
  EXPECT_TRUE(is_stage("backward", "backward"));
  EXPECT_TRUE(is_stage("backward.dense", "backward"));
  EXPECT_TRUE(is_stage("embedding_lookup[ebc]", "embedding_lookup"));
  EXPECT_FALSE(is_stage("backwards", "backward"));
  EXPECT_FALSE(is_stage("back", "backward"));
}

// main thread: forward 3 [0,100) { wait [10,50) }, backward 3 [100,200); autograd launches at 150, inside its own
// annotation "a2a bwd" [140,160), and at 170 outside any of its own.
class AnnotationsTest : public testing::Test {
 protected:
  AnnotationsTest() {
    job.annotate("## forward 3 ##", 0, 100);
    job.annotate("## wait ##", 10, 50);
    job.annotate("## backward 3 ##", 100, 200);
    job.annotate(job.autograd, "a2a bwd", 140, 160);
    job.kernel(job.main, 20, 60, 70, "in_wait");
    job.kernel(job.main, 50, 70, 80, "at_the_end_of_wait");
    job.kernel_from(job.autograd, job.main, 150, 155, 165, "in_a2a_bwd");
    job.kernel_from(job.autograd, job.main, 170, 175, 180, "in_backward");
    job.kernel(job.main, 230, 240, 250, "outside");
  }

  trace::OperationId named(const trace::Trace& trace, std::string_view name) {
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      if (trace.name({i}) == name) return {i};
    }
    ADD_FAILURE() << "no operation " << name;
    return {};
  }
  std::string innermost(const trace::Trace& trace, std::string_view name) {
    const auto found = Annotations(trace).innermost(named(trace, name));
    return found ? std::string(trace.name(*found)) : "none";
  }
  std::string stage(const trace::Trace& trace, std::string_view name) {
    const auto found = Annotations(trace).stage_of(named(trace, name));
    return found ? std::string(found->stage) + "/" + (found->batch ? std::to_string(*found->batch) : "") : "none";
  }

  Job job;
};

TEST_F(AnnotationsTest, InnermostFollowsTheLaunch) {
  const trace::Trace trace = job.build();
  EXPECT_EQ(innermost(trace, "in_wait"), "## wait ##");
  EXPECT_EQ(innermost(trace, "at_the_end_of_wait"), "## forward 3 ##");  // [10,50) is half open
  EXPECT_EQ(innermost(trace, "in_a2a_bwd"), "a2a bwd");
  EXPECT_EQ(innermost(trace, "in_backward"), "## backward 3 ##");  // through the main thread
  EXPECT_EQ(innermost(trace, "outside"), "none");
  EXPECT_EQ(innermost(trace, "## wait ##"), "## forward 3 ##");
}

TEST_F(AnnotationsTest, StageIsTheInnermostWithABatch) {
  const trace::Trace trace = job.build();
  EXPECT_EQ(stage(trace, "in_wait"), "forward/3");
  EXPECT_EQ(stage(trace, "in_a2a_bwd"), "backward/3");  // its own annotation has no batch
  EXPECT_EQ(stage(trace, "in_backward"), "backward/3");
  EXPECT_EQ(stage(trace, "outside"), "none");
}

TEST_F(AnnotationsTest, TheOutermostServesWhereNoneHasABatch) {
  job.annotate("## zero_grad ##", 300, 340);
  job.annotate("SGD.zero_grad", 310, 330);
  job.kernel(job.main, 320, 330, 335, "clear");
  const trace::Trace trace = job.build();
  EXPECT_EQ(stage(trace, "clear"), "zero_grad/");
  EXPECT_EQ(innermost(trace, "clear"), "SGD.zero_grad");
}

// The engine's stages hold a range for each module, whose name alone is that of many places.
TEST_F(AnnotationsTest, AModulesRangeIsNoPlace) {
  job.annotate("lookup 4", 300, 380);
  job.annotate("[weighted:permute]", 310, 330);
  job.kernel(job.main, 320, 330, 335, "of_module");
  job.annotate("[lookup]_[ebc]", 340, 360);
  job.kernel(job.main, 350, 355, 360, "of_lookup");
  const trace::Trace trace = job.build();
  const Annotations annotations(trace);
  EXPECT_EQ(annotations.place_of(named(trace, "of_module")), "lookup");
  EXPECT_EQ(annotations.place_of(named(trace, "of_lookup")), "[lookup]_[ebc]");
  EXPECT_EQ(annotations.place_of(named(trace, "in_a2a_bwd")), "a2a bwd");
  EXPECT_EQ(annotations.place_of(named(trace, "outside")), "");
}

TEST_F(AnnotationsTest, MainThreadIsTheOneMostInAnnotations) {
  const trace::Trace trace = job.build();
  const Annotations annotations(trace);
  ASSERT_TRUE(annotations.main_thread({0}).has_value());
  EXPECT_EQ(trace.lane(*annotations.main_thread({0})).number, 1);
  EXPECT_EQ(trace.name(*annotations.on_main_thread({0}, 120)), "## backward 3 ##");
  EXPECT_FALSE(annotations.on_main_thread({0}, 200).has_value());
}

TEST(Annotations, ATraceWithoutAnyHasNone) {
  Job job;
  job.kernel(job.main, 0, 5, 9);
  const trace::Trace trace = job.build();
  const Annotations annotations(trace);
  EXPECT_FALSE(annotations.main_thread({0}).has_value());
  EXPECT_FALSE(annotations.stage_of({1}).has_value());
  EXPECT_FALSE(annotations.innermost({0}).has_value());
}

}  // namespace
}  // namespace interlace::analysis
