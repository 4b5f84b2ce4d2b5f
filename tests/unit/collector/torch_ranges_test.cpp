// Ranges of PyTorch, recorded from the LibTorch that the hook was built for.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::OperationId;
using trace::RangeDetail;
using trace::RangeKind;

Recorded record_torch(const std::string& scenario, const std::string& options = {}) {
  return record_program(TORCH_RANGES_PROGRAM " " + scenario, options);
}

bool is_around(const trace::Trace& trace, OperationId outer, OperationId inner) {
  return trace.lane_of(outer) == trace.lane_of(inner) && trace.start(outer) <= trace.start(inner) &&
         trace.end(inner) <= trace.end(outer);
}

/// Numbered operators, by sequence number.
std::map<std::int64_t, std::vector<OperationId>> operators(const trace::Trace& trace) {
  std::map<std::int64_t, std::vector<OperationId>> found;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const RangeDetail* range = trace.range({i});
    if (range != nullptr && range->kind == RangeKind::kCpuOp) found[range->sequence_number.value_or(-1)].push_back({i});
  }
  return found;
}

TEST(RecordTorchRanges, HasTheRangesThatTheProgramNames) {
  const Recorded run = record_torch("train");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "it ran\n");
  EXPECT_EQ(run.err.find("not recorded"), std::string::npos) << run.err;
  const ReadBack read(run.file());
  const auto forwards = read.named("## forward ##");
  const auto backwards = read.named("## backward ##");
  const auto kernels = read.named("forward_kernel");
  ASSERT_EQ(forwards.size(), 2U);
  ASSERT_EQ(backwards.size(), 2U);
  ASSERT_EQ(kernels.size(), 2U);
  for (std::size_t step = 0; step < 2; ++step) {
    const auto whole = read.named("## step " + std::to_string(step) + " ##");
    ASSERT_EQ(whole.size(), 1U);
    EXPECT_EQ(read.trace.range(whole[0])->kind, RangeKind::kAnnotation);
    EXPECT_TRUE(is_around(read.trace, whole[0], forwards[step]));
    EXPECT_TRUE(is_around(read.trace, whole[0], backwards[step]));
    const auto launch = read.trace.launch_of(kernels[step]);
    ASSERT_TRUE(launch);
    EXPECT_TRUE(is_around(read.trace, forwards[step], *launch));
  }
  EXPECT_TRUE(read.named("before CUDA").empty()) << "nobody listened yet";
  EXPECT_EQ(read.diagnostics.count_of("record.unmatched_pop"), 0);
  EXPECT_EQ(read.diagnostics.count_of("record.open_range"), 0);
}

TEST(RecordTorchRanges, TellsOfEachNodeOfABackwardWhoseItIs) {
  const Recorded run = record_torch("train");
  const ReadBack read(run.file());
  const auto forwards = read.named("## forward ##");
  const auto backwards = read.named("## backward ##");
  const auto engine = read.named("autograd::engine::evaluate_function: MulBackward0");
  const auto nodes = read.named("MulBackward0");
  ASSERT_EQ(engine.size(), 2U);
  ASSERT_EQ(nodes.size(), 2U);
  const auto by_number = operators(read.trace);
  for (std::size_t step = 0; step < 2; ++step) {
    EXPECT_TRUE(is_around(read.trace, backwards[step], engine[step]));
    EXPECT_TRUE(is_around(read.trace, engine[step], nodes[step]));
    const RangeDetail* node = read.trace.range(nodes[step]);
    ASSERT_TRUE(node->sequence_number);
    EXPECT_EQ(node->kind, RangeKind::kCpuOp);
    EXPECT_TRUE(node->forward_thread);
    const auto& same = by_number.at(*node->sequence_number);
    const auto product = std::ranges::find_if(same, [&](OperationId op) { return read.trace.name(op) == "aten::mul"; });
    ASSERT_NE(product, same.end());
    EXPECT_TRUE(is_around(read.trace, forwards[step], *product));
  }
  for (const OperationId op : by_number.at(-1)) {
    EXPECT_TRUE(read.trace.name(op).starts_with("autograd::engine::evaluate_function: ")) << read.trace.name(op);
  }
  EXPECT_EQ(read.named("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad").size(), 2U);
  EXPECT_TRUE(read.named("aten::relu").empty()) << "autograd does not number it";
}

TEST(RecordTorchRanges, FollowsARangeThatAnotherThreadEnds) {
  const ReadBack read(record_torch("end_elsewhere").file());
  const auto across = read.named("across threads");
  const auto later = read.named("later");
  ASSERT_EQ(across.size(), 1U);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_LT(read.trace.start(across[0]), read.trace.start(later[0]));
  EXPECT_LT(read.trace.end(across[0]), read.trace.end(later[0]));
}

TEST(RecordTorchRanges, LeavesOperatorsOutOfALightRecording) {
  const Recorded run = record_torch("train", "--light");
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.named("## forward ##").size(), 2U);
  EXPECT_TRUE(operators(read.trace).empty());
}

TEST(RecordTorchRanges, CountsStepsByThem) {
  const ReadBack read(record_torch("train", "--steps 1 --skip 1 --step-name '## forward ##'").file());
  EXPECT_EQ(read.named("## forward ##").size(), 1U);
  EXPECT_EQ(read.named("forward_kernel").size(), 1U);
}

/// Beside the collector lies what was built for another torch.
TEST(RecordTorchRanges, LeavesAnotherTorchAlone) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path library = folder.path() / "libinterlace_collector.so";
  std::filesystem::copy_file(COLLECTOR_LIBRARY, library);
  const Recorded without = record_torch("train", "--library " + library.string());
  EXPECT_EQ(without.out, "it ran\n");
  EXPECT_NE(without.err.find("libinterlace_torch_ranges.so is not beside the collector library"), std::string::npos)
      << without.err;
  std::filesystem::copy_file(OTHER_RANGES_HOOK, folder.path() / "libinterlace_torch_ranges.so");
  const Recorded other = record_torch("train", "--library " + library.string());
  ASSERT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out, "it ran\n");
  EXPECT_NE(other.err.find("PyTorch's ranges are not recorded: built for PyTorch 0.0.0 (0000)"), std::string::npos)
      << other.err;
  EXPECT_TRUE(ReadBack(other.file()).named("## forward ##").empty());
}

}  // namespace
}  // namespace interlace::collector
