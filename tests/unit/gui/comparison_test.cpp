#include "gui/compare/comparison.hpp"

#include <gtest/gtest.h>

#include "gui/models/operation_facts.hpp"
#include "gui/session/tagging.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

/// Two iterations of a lookup and an optimizer kernel; the lookup of the second takes `lookup` ns, and begins `early`
/// ns before the step that trains its batch.
RunPtr run_of(std::string title, Nanoseconds lookup, Nanoseconds early = 0) {
  SmallTrace small;
  const auto thread = small.thread(1);
  const auto stream = small.stream(7, "main");
  Nanoseconds at = 0;
  std::vector<Interval> steps;
  Nanoseconds last_end = 0;
  for (std::int64_t batch = 0; batch < 2; ++batch) {
    const std::string number = std::to_string(batch);
    small.annotation(thread, "embedding_lookup " + number, at, at + 10);
    small.call(thread, "launch", at + 1, at + 2, 2 * batch);
    small.annotation(thread, "optimizer_step " + number, at + 10, at + 20);
    small.call(thread, "launch", at + 11, at + 12, 2 * batch + 1);
    const Nanoseconds long_one = batch == 1 ? lookup : 100;
    if (batch == 1 && early > 0) small.kernel(small.stream(8), "copy", at - early, at, 2 * batch);
    small.kernel(stream, "lookup", at + 30, at + 30 + long_one, 2 * batch);
    small.kernel(stream, "sgd", at + 30 + long_one, at + 60 + long_one, 2 * batch + 1);
    if (batch == 1) steps.push_back({last_end, at + 60 + long_one});
    last_end = at + 60 + long_one;
    at = last_end;
  }
  trace::Trace trace = small.build();
  Tags tags = tags_of_prediction(trace);
  Diagnostics counted;
  const graph::ProcessGroups groups(trace, counted);
  return std::make_shared<gui::Run>(std::move(title), std::move(trace), std::move(tags),
                                    std::vector<std::vector<Interval>>{steps}, groups, counted);
}

TEST(Comparison, FindsTheSameWorkOfTheSameBatch) {
  const RunPtr measured = run_of("measured", 100);
  const RunPtr predicted = run_of("predicted", 60);
  EXPECT_EQ(trained_batch(*measured, measured->first_steps().front()), std::optional(1));
  const Comparison comparison(*measured, *predicted, 0);
  ASSERT_TRUE(comparison.known());
  for (std::uint32_t i = 0; i < measured->trace().size(); ++i) {
    const auto other = comparison.matching().predicted_of({i});
    if (measured->trace().kind({i}) == trace::OperationKind::kRange) {
      EXPECT_FALSE(other);
      continue;
    }
    ASSERT_TRUE(other);
    EXPECT_EQ(*other, trace::OperationId{i});  // both were made in one order
    EXPECT_EQ(comparison.matching().measured_of(*other), std::optional(trace::OperationId{i}));
  }
}

TEST(Comparison, LeadGrowsWhereTimeIsWonAndStays) {
  const RunPtr measured = run_of("measured", 100);
  const RunPtr predicted = run_of("predicted", 60);
  const Comparison comparison(*measured, *predicted, 0);
  ASSERT_EQ(comparison.leads().size(), 2U);
  EXPECT_EQ(comparison.leads()[0].at, 130);  // the lookup begins 30 ns into the step
  EXPECT_EQ(comparison.leads()[0].ahead, 40);
  EXPECT_EQ(comparison.leads()[1].at, 160);
  EXPECT_EQ(comparison.leads()[1].ahead, 40);
  const Nanoseconds shorter = measured->first_steps().front().length() - predicted->first_steps().front().length();
  EXPECT_EQ(comparison.leads().back().ahead, shorter);
}

TEST(Comparison, TellsWhereTimeIsWon) {
  const RunPtr measured = run_of("measured", 100);
  const RunPtr predicted = run_of("predicted", 60);
  const Comparison comparison(*measured, *predicted, 0);
  ASSERT_EQ(comparison.won().size(), 1U) << "the optimizer neither wins nor loses";
  EXPECT_EQ(comparison.won().front(), std::pair(std::string("embedding_lookup"), Nanoseconds{40}));
  EXPECT_TRUE(won_by_stage(*measured, comparison.leads(), 41).empty()) << "too little to be told";
  EXPECT_EQ(lead_at(comparison.leads(), 129), nullptr);
  ASSERT_NE(lead_at(comparison.leads(), 131), nullptr);
  EXPECT_EQ(lead_at(comparison.leads(), 131)->at, 130);
  EXPECT_EQ(lead_at(comparison.leads(), 160)->at, 160);
  EXPECT_EQ(lead_at(comparison.leads(), 161), nullptr);
  EXPECT_EQ(lead_text(*measured, comparison.leads().front()), "40 ns ahead after lookup of embedding_lookup");
}

TEST(Comparison, ByBatchTimeBeginsWithTheFirstWorkForIt) {
  const RunPtr measured = run_of("measured", 100);
  const RunPtr predicted = run_of("predicted", 60, 15);  // its batch comes into the pipeline 15 ns before the step
  const auto batch = aligned_batch(*predicted, 0);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->batch, std::optional(1));
  EXPECT_EQ(batch->span.begin, predicted->first_steps().front().begin - 15);
  EXPECT_EQ(batch->span.end, predicted->first_steps().front().end);
  EXPECT_EQ(aligned_batch(*measured, 0)->span.begin, measured->first_steps().front().begin + 30);
  const Comparison comparison(*measured, *predicted, 0, AlignBy::kBatch);
  ASSERT_EQ(comparison.leads().size(), 2U);
  EXPECT_EQ(comparison.leads()[0].at, 100);           // the lookup is the first work of the recorded batch
  EXPECT_EQ(comparison.leads()[0].ahead, 100 - 105);  // 15 of copying, 30 of waiting, 60 of lookup
  EXPECT_TRUE(comparison.won().empty()) << "a batch that is longer on its way loses no time";
}

TEST(Comparison, ByRangeTimeBeginsWhereItIsTold) {
  const RunPtr measured = run_of("measured", 100);
  const RunPtr predicted = run_of("predicted", 60);
  const Nanoseconds lookup = measured->first_steps().front().begin + 30;
  const Comparison comparison(*measured, *predicted, 0, AlignBy::kRange,
                              {lookup, predicted->first_steps().front().begin + 20});
  ASSERT_EQ(comparison.leads().size(), 2U);
  EXPECT_EQ(comparison.leads()[0].at, 100);
  EXPECT_EQ(comparison.leads()[0].ahead, 100 - 70);
  EXPECT_TRUE(comparison.won().empty()) << "it depends on what was chosen";
}

TEST(Aligned, FindsTheStepOfABatchAndStaysWhereThereAreSteps) {
  const RunPtr run = run_of("measured", 100);
  EXPECT_EQ(offset_of_batch(*run, 1), std::optional<std::ptrdiff_t>(0));
  EXPECT_EQ(offset_of_batch(*run, 9), std::optional<std::ptrdiff_t>(0)) << "there is but one step";
  const std::vector<Interval> three = {{0, 1}, {1, 2}, {2, 3}};
  EXPECT_EQ(nearest_offset(three, {}, 5), 1);
  EXPECT_EQ(nearest_offset({}, three, -5), -1);
  EXPECT_EQ(nearest_offset(three, {}, 1), 1);
  const std::vector<Interval> two = {{0, 1}, {1, 2}};
  EXPECT_EQ(last_common_offset(std::vector<Interval>{{0, 1}}, three), 0);
  EXPECT_EQ(last_common_offset(two, three), 1);
  EXPECT_EQ(last_common_offset(three, {}), 1);
  EXPECT_EQ(last_common_offset({}, {}), 0);
}

TEST(OperationFacts, NameAThreadOnce) {
  SmallTrace small;
  const auto thread = small.thread(2128);
  small.builder().name_lane(thread, "thread 2128 (pt_autograd_0)");
  small.call(thread, "launch", 0, 1);
  small.call(small.thread(7), "launch", 1, 2);
  trace::Trace trace = small.build();
  Tags tags = tags_of_prediction(trace);
  Diagnostics counted;
  const graph::ProcessGroups groups(trace, counted);
  const gui::Run run("measured", std::move(trace), std::move(tags), {}, groups, counted);
  const auto lane_of = [&](trace::OperationId op) {
    for (const auto& [what, text] : facts_of_operation(run, op, 0, {})) {
      if (what == "lane") return text;
    }
    return std::string();
  };
  EXPECT_EQ(lane_of({0}), "thread 2128 (pt_autograd_0)");
  EXPECT_EQ(lane_of({1}), "thread 7");
}

TEST(Comparison, TellsHowWorkDiffers) {
  const RunPtr measured = run_of("measured", 100);
  const RunPtr predicted = run_of("predicted", 60);
  const trace::OperationId last{static_cast<std::uint32_t>(measured->trace().size() - 1)};
  ASSERT_EQ(measured->trace().name(last), "sgd");
  EXPECT_EQ(change_text(measured->trace(), last, 0, predicted->trace(), last, 0),
            "starts 40 ns earlier, lasts as long");
}

}  // namespace
}  // namespace interlace::gui
