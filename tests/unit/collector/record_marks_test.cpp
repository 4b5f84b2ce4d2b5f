// What programs say of themselves, through NVTX and through the collector's own functions.
#include <gtest/gtest.h>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::OperationId;
using trace::RangeKind;

TEST(RecordMarks, TakesRangesOfNvtx) {
  const Recorded run = record("nvtx 12");
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  for (const char* name : {"step", "phase"}) {
    const auto ranges = read.named(name);
    ASSERT_EQ(ranges.size(), 12U) << name;
    for (const OperationId range : ranges) EXPECT_EQ(read.trace.range(range)->kind, RangeKind::kAnnotation);
  }
  const auto of_library = read.named("ncclAllReduce");
  ASSERT_EQ(of_library.size(), 12U);
  EXPECT_EQ(read.trace.range(of_library[0])->kind, RangeKind::kOther) << "libraries do not divide the program";
  EXPECT_EQ(read.diagnostics.entries().size(), 0U);
}

TEST(RecordMarks, LaysRangesAroundTheLaunchesInThem) {
  const Recorded run = record("nvtx 12");
  const ReadBack read(run.file());
  const auto steps = read.named("step");
  const auto launches = read.named("cudaLaunchKernel");
  ASSERT_EQ(steps.size(), 12U);
  ASSERT_EQ(launches.size(), 12U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(read.trace.lane_of(steps[i]), read.trace.lane_of(launches[i]));
    EXPECT_LE(read.trace.start(steps[i]), read.trace.start(launches[i]));
    EXPECT_GE(read.trace.end(steps[i]), read.trace.end(launches[i]));
  }
  EXPECT_EQ(read.trace.lane(read.trace.lane_of(steps[0])).name, "trainer");
}

TEST(RecordMarks, TakesMarksAndRangesOfTwoThreads) {
  const Recorded run = record("nvtx 1");
  const ReadBack read(run.file());
  const auto handed = read.named("handed over");
  ASSERT_EQ(handed.size(), 1U);
  EXPECT_EQ(read.trace.lane_of(handed[0]), read.trace.lane_of(read.named("step")[0]));
  EXPECT_GT(read.trace.duration(handed[0]), 0);
  ASSERT_EQ(read.named("mark").size(), 1U);
  EXPECT_EQ(read.trace.duration(read.named("mark")[0]), 0);
  EXPECT_EQ(read.named("gr\xc3\xb6\xc3\x9f"
                       "e \xf0\x9f\x9a\x80")
                .size(),
            1U);
}

TEST(RecordMarks, KeepsWhatIsSaidBeforeTheFirstCudaCall) {
  const Recorded run = record("early");
  const ReadBack read(run.file());
  for (const char* name : {"load", "before CUDA", "first step"}) EXPECT_EQ(read.named(name).size(), 1U) << name;
  ASSERT_EQ(read.trace.ranks().size(), 1U);
  EXPECT_EQ(read.trace.ranks()[0].devices.size(), 1U) << "the file waits for the device";
  EXPECT_EQ(read.diagnostics.entries().size(), 0U);
}

TEST(RecordMarks, MakesNoFileWhereCudaIsNeverUsed) {
  const Recorded run = record("early_without_cuda");
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.files().empty());
  EXPECT_NE(run.err.find("nothing was recorded"), std::string::npos) << run.err;
}

/// What is noted of the one range of this name: its number and category, "" for none.
std::pair<std::string, std::string> noted(const ReadBack& read, std::string_view name) {
  const auto ranges = read.named(name);
  if (ranges.size() != 1) return {"not one", std::string(name)};
  const trace::Note* note = read.trace.note(ranges[0]);
  if (note == nullptr) return {};
  return {note->payload ? to_string(*note->payload) : std::string(),
          note->category ? std::string(read.trace.text(*note->category)) : std::string()};
}

TEST(RecordMarks, TakesNumbersAndCategories) {
  const Recorded run = record("notes");
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  using Noted = std::pair<std::string, std::string>;
  EXPECT_EQ(noted(read, "signed"), Noted("-42", "io"));
  EXPECT_EQ(noted(read, "short"), Noted("-7", ""));
  EXPECT_EQ(noted(read, "unsigned"), Noted("18446744073709551615", "category 4"));
  EXPECT_EQ(noted(read, "short unsigned"), Noted("5", ""));
  EXPECT_EQ(noted(read, "float"), Noted("0.5", ""));
  EXPECT_EQ(noted(read, "loss"), Noted("0.1", "category 3")) << "categories are of their domain";
  EXPECT_EQ(noted(read, "plain"), Noted());
}

TEST(RecordMarks, EndsRangesThatEndWithAPayload) {
  const ReadBack read(record("notes").file());
  const auto ranges = read.named("ncclCommInitRank");
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(read.trace.note(ranges[0]), nullptr);
  EXPECT_GT(read.trace.duration(ranges[0]), 0);
}

TEST(RecordMarks, GivesRangesThatNobodyEndsNoLength) {
  const ReadBack read(record("notes").file());
  for (const char* name : {"never ended", "never ended either"}) {
    const auto ranges = read.named(name);
    ASSERT_EQ(ranges.size(), 1U) << name;
    ASSERT_NE(read.trace.note(ranges[0]), nullptr) << name;
    EXPECT_TRUE(read.trace.note(ranges[0])->is_open);
    EXPECT_EQ(read.trace.duration(ranges[0]), 0);
    EXPECT_EQ(read.trace.range(ranges[0])->kind, RangeKind::kOther);
  }
  EXPECT_EQ(read.diagnostics.count_of("record.open_range"), 2);
}

TEST(RecordMarks, LeavesOutWhatLiesInAStop) {
  const Recorded run = record("nvtx_and_stop");
  const ReadBack read(run.file());
  EXPECT_EQ(read.named("recorded").size(), 2U);
  EXPECT_EQ(read.named("across").size(), 1U);
  EXPECT_EQ(read.named("into").size(), 1U);
  EXPECT_TRUE(read.named("unseen").empty());
  EXPECT_TRUE(read.named("unseen mark").empty());
  EXPECT_EQ(read.named("cudaLaunchKernel").size(), 2U);
  EXPECT_EQ(read.diagnostics.count_of("record.unmatched_pop"), 0);
}

TEST(RecordMarks, TakesThemWhereAnotherToolHoldsCupti) {
  const Recorded run = record("nvtx 3", {}, "FAKE_CUDA_HOLDER='Nsight Systems'");
  EXPECT_EQ(ReadBack(run.file()).named("step").size(), 3U);
}

}  // namespace
}  // namespace interlace::collector
