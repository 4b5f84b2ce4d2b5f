// Collectives of NCCL, told of through its profiler interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/fake_cuda/fake_nccl.hpp"
#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::CollectiveFunction;

/// The collectives that have this function, by time.
std::vector<trace::CollectiveDetail> of_function(const trace::Trace& trace, CollectiveFunction function) {
  std::vector<std::pair<Nanoseconds, trace::CollectiveDetail>> found;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::CollectiveDetail* detail = trace.collective({i});
    if (detail != nullptr && detail->function == function) found.emplace_back(trace.start({i}), *detail);
  }
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<trace::CollectiveDetail> details;
  for (auto& [time, detail] : found) details.push_back(detail);
  return details;
}

class RecordCollectives : public ::testing::TestWithParam<int> {};

TEST_P(RecordCollectives, AreWhatNcclSaysTheyAre) {
  const int version = GetParam();
  const Recorded run = record("collectives " + std::to_string(version));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("plugin 1"), std::string::npos);
  EXPECT_EQ(run.err.find("NOT OK"), std::string::npos) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.diagnostics.count_of("record.undescribed_collective"), 0);
  const std::int32_t ranks = version < 4 ? 0 : 4;  // older versions do not tell
  const auto all_reduces = of_function(read.trace, CollectiveFunction::kAllReduce);
  ASSERT_EQ(all_reduces.size(), 6U);
  std::vector<std::int64_t> sequences;
  for (const trace::CollectiveDetail& detail : all_reduces) {
    EXPECT_EQ(read.trace.text(detail.name), "AllReduce");
    EXPECT_EQ(read.trace.text(detail.dtype), "Float");
    EXPECT_EQ(detail.element_bytes, 4);
    const bool is_world = read.trace.text(detail.group) == "world 0000000000000abc";
    EXPECT_TRUE(is_world || read.trace.text(detail.group) == "0000000000000def");
    EXPECT_EQ(detail.in_elements, is_world ? 1000 : 7);
    EXPECT_EQ(detail.out_elements, is_world ? 1000 : 7);
    const std::int32_t group_ranks = is_world ? 4 : 2;
    EXPECT_EQ(detail.group_size, ranks == 0 ? 0 : group_ranks);
    if (is_world) sequences.push_back(detail.sequence.value_or(-1));
    EXPECT_EQ(detail.channels, testing::FakeNccl::kChannelCount);
    EXPECT_EQ(detail.in_buffer, testing::FakeNccl::kSendAddress);
    EXPECT_EQ(detail.out_buffer, testing::FakeNccl::kReceiveAddress);
  }
  EXPECT_EQ(sequences, (std::vector<std::int64_t>{0, 2, 4})) << "all-gathers of the communicator count too";

  const auto gathers = of_function(read.trace, CollectiveFunction::kAllGather);
  ASSERT_EQ(gathers.size(), 3U);
  for (const trace::CollectiveDetail& detail : gathers) {
    EXPECT_EQ(read.trace.text(detail.dtype), version < 5 ? "Char" : "Float");
    EXPECT_EQ(detail.in_elements * detail.element_bytes, 2000);
    EXPECT_EQ(detail.out_elements, detail.in_elements * std::max(ranks, 1));
  }

  const bool knows_ranks = version >= 4;
  const auto exchanges =
      of_function(read.trace, knows_ranks ? CollectiveFunction::kAllToAll : CollectiveFunction::kSendRecv);
  ASSERT_EQ(exchanges.size(), 3U);
  for (const trace::CollectiveDetail& detail : exchanges) {
    EXPECT_EQ(detail.in_elements, 4 * 30);
    EXPECT_EQ(detail.out_elements, 4 * 60);
    EXPECT_EQ(detail.sequence, std::nullopt);
    EXPECT_EQ(detail.channels, version < 4 ? 0 : testing::FakeNccl::kChannelCount) << "not told before";
    EXPECT_EQ(detail.part_alignment, knows_ranks ? 8 : 0) << "of thirty floats one after the other";
    EXPECT_EQ(detail.own_part_alignment, knows_ranks ? 16 : 0);
    EXPECT_EQ(detail.in_buffer, testing::FakeNccl::kSendAddress);
    EXPECT_EQ(detail.out_buffer, testing::FakeNccl::kReceiveAddress);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, RecordCollectives, ::testing::Values(1, 2, 3, 4, 5, 6, 7));

TEST(RecordCollectivesWithoutNccl, SaysSoAndGoesByTheKernelsName) {
  const Recorded run = record("collectives 5", {}, "NCCL_PROFILER_PLUGIN=none");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("NCCL_PROFILER_PLUGIN is set already"), std::string::npos) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.diagnostics.count_of("record.undescribed_collective"), 12);
  EXPECT_EQ(of_function(read.trace, CollectiveFunction::kAllReduce).size(), 6U);
  EXPECT_EQ(of_function(read.trace, CollectiveFunction::kSendRecv).size(), 3U);
  for (const trace::CollectiveDetail& detail : of_function(read.trace, CollectiveFunction::kAllReduce)) {
    EXPECT_EQ(read.trace.text(detail.name), "AllReduce");
  }
}

TEST(RecordItself, BecomesNcclsPluginByItself) {
  const testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string command = "exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " RECORD_ITSELF_DIR=" + base +
                              " RECORD_ITSELF_LIBRARY=" COLLECTOR_LIBRARY " " FAKE_PROGRAM " record_itself >" + base +
                              "/out";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_NE(text_of(base + "/out").find("plugin 1"), std::string::npos);
  const ReadBack read(folder.path() / "rank0.ilt");
  const auto all_reduces = of_function(read.trace, CollectiveFunction::kAllReduce);
  ASSERT_EQ(all_reduces.size(), 5U) << "those before it went on are left out";
  for (const trace::CollectiveDetail& detail : all_reduces) EXPECT_EQ(detail.in_elements, 1000);
  EXPECT_EQ(all_reduces.front().sequence, 20);
  EXPECT_EQ(of_function(read.trace, CollectiveFunction::kAllToAll).size(), 5U);
  EXPECT_EQ(read.diagnostics.count_of("record.undescribed_collective"), 0);
}

TEST(RecordCollectives, AreDescribedHoweverSeldomRecordsAreFetched) {
  for (const char* options : {"", "--flush-ms 200", "--flush-ms 2000"}) {
    const Recorded run = record("steady_collectives 200", options);
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(ReadBack(run.file()).diagnostics.count_of("record.undescribed_collective"), 0) << options;
  }
}

TEST(RecordCollectives, OfALargeGroupHaveTheirOwnBytes) {
  constexpr std::int64_t kCalls = 5'000;
  constexpr std::int64_t kRemembered = 4'096;
  const Recorded run = record("large_group " + std::to_string(kCalls));
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.diagnostics.count_of("record.lost_collectives"), 0);
  EXPECT_EQ(read.diagnostics.count_of("record.untyped_collective"), kCalls - kRemembered);
  const auto gathers = of_function(read.trace, CollectiveFunction::kAllGather);
  ASSERT_EQ(static_cast<std::int64_t>(gathers.size()), kCalls);
  for (std::int64_t i = 0; i < kCalls; ++i) {
    const trace::CollectiveDetail& detail = gathers[static_cast<std::size_t>(i)];
    ASSERT_EQ(detail.in_elements * detail.element_bytes, 4 * (i + 1)) << i;
    ASSERT_EQ(read.trace.text(detail.dtype), i < kCalls - kRemembered ? "Char" : "Float") << i;
  }
}

TEST(RecordCollectives, TakeNoMemoryWhileRecordingIsOff) {
  const Recorded run = record("collectives_for_long 60", "--start-off");
  ASSERT_EQ(run.status, 0) << run.err;
  const std::size_t grew = run.out.find("grew by ");
  ASSERT_NE(grew, std::string::npos) << run.out;
  EXPECT_LT(std::stoi(run.out.substr(grew + 8)), 7) << "MB; 60,000 tasks that are kept take 9";
}

}  // namespace
}  // namespace interlace::collector
