#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "simulator/graph/critical_path.hpp"
#include "simulator/graph/graph.hpp"
#include "simulator/graph/rules/rules.hpp"
#include "simulator/graph/verify.hpp"
#include "simulator/graph/wait_diagnostics.hpp"
#include "simulator/ingest/read.hpp"

namespace interlace::graph {
namespace {

using trace::OperationId;
using trace::Trace;

const std::filesystem::path kTraces = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces";

Trace read_c6(const std::string& schedule) {
  const std::vector<std::filesystem::path> files{kTraces / "torchrec_c6" / (schedule + ".r0.json.gz"),
                                                 kTraces / "torchrec_c6" / (schedule + ".r1.json.gz")};
  return ingest::read(files).trace;
}

/// Real runs of two ranks on H200s under CUDA 13, where no wait names its record.
class TorchRecSamples : public testing::TestWithParam<std::string> {};

TEST_P(TorchRecSamples, MakeASoundGraph) {
  const Trace trace = read_c6(GetParam());
  Diagnostics diagnostics;
  const Graph graph(trace, diagnostics);
  const Verification found = verify(graph);
  EXPECT_TRUE(found.acyclic);
  EXPECT_EQ(found.without_launch, 0U);
  EXPECT_EQ(found.streams_out_of_order, 0U);
  EXPECT_EQ(found.edges_back_in_time, 0U);
  EXPECT_EQ(diagnostics.count_of(kEdgeAgainstTime.code), 0);
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 0);
  EXPECT_EQ(diagnostics.count_of(kInferredWaitViolated.code), 0);
  EXPECT_EQ(diagnostics.count_of(kWaitUnknown.code), 0);
}

// Two kinds of evidence that know nothing of each other: the event ids that NCCL's watchdog polls, and the order of
// collectives by call site. Where both speak of a wait they say the same.
TEST_P(TorchRecSamples, TheWatchdogAndTheCallSitesAgree) {
  const Trace trace = read_c6(GetParam());
  Diagnostics diagnostics;
  const auto all = infer_waits(trace, diagnostics);
  const auto without = infer_waits(trace, diagnostics, {.use_watchdog = false});
  ASSERT_EQ(all.size(), without.size());
  int compared = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].evidence != Evidence::kWatchdogOrder) continue;
    ++compared;
    EXPECT_EQ(without[i].producer, all[i].producer) << explain(trace, all[i]) << "\n" << explain(trace, without[i]);
  }
  EXPECT_GT(compared, 10);
}

// Every collective is waited for by some work of another stream, apart from those of the last step.
TEST_P(TorchRecSamples, CollectivesAreWaitedFor) {
  const Trace trace = read_c6(GetParam());
  Diagnostics diagnostics;
  std::vector<OperationId> waited_for;
  for (const ResolvedWait& wait : infer_waits(trace, diagnostics)) {
    if (wait.kind == Producer::kCollective) waited_for.push_back(*wait.producer);
  }
  std::ranges::sort(waited_for);
  std::size_t collectives = 0;
  std::size_t found = 0;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) != trace::OperationKind::kCollective || trace.start({i}) > trace.length() / 2) continue;
    ++collectives;
    found += std::ranges::binary_search(waited_for, OperationId{i}) ? 1 : 0;
  }
  EXPECT_GT(collectives, 20U);
  EXPECT_EQ(found, collectives);
}

TEST_P(TorchRecSamples, CriticalPathsFillTheirWindows) {
  const Trace trace = read_c6(GetParam());
  Diagnostics diagnostics;
  const Graph graph(trace, diagnostics);
  const Nanoseconds length = trace.length();
  const std::vector<Interval> windows{{length / 4, length / 2}, {length / 2, 3 * length / 4}, {0, length}};
  for (const CriticalPath& path : critical_paths(graph, windows)) {
    Nanoseconds sum = 0;
    for (const Nanoseconds part : breakdown(graph, path).spent) sum += part;
    EXPECT_EQ(sum, path.window.length());
    EXPECT_GT(path.steps.size(), 20U);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, TorchRecSamples, testing::Values("sparse", "base", "fused_snew"),
                         [](const auto& schedule) { return schedule.param; });

// CUDA 11 and 12 recorded which record a wait waits for.
TEST(HtaSamples, RecordedWaitsAreTaken) {
  const std::vector<std::filesystem::path> file{kTraces / "hta/cuda_event_sync_multi_stream/event_sync_trace.json.gz"};
  const Trace trace = ingest::read(file).trace;
  Diagnostics diagnostics;
  const Graph graph(trace, diagnostics);
  ASSERT_EQ(graph.waits().size(), 1U);
  const ResolvedWait& wait = graph.waits().front();
  EXPECT_EQ(wait.evidence, Evidence::kRecorded);
  EXPECT_EQ(trace.lane(*wait.stream).number, 24);
  EXPECT_EQ(trace.lane(*wait.producer_stream).number, 20);
  EXPECT_EQ(graph.edges_of(EdgeKind::kEventWait), 1U);
  EXPECT_TRUE(verify(graph).sound());
}

// Without what was recorded, the waits of cuDNN's streams are found by adjacency where work waits for work.
TEST(HtaSamples, InferenceFindsWhatIsRecorded) {
  const std::vector<std::filesystem::path> file{kTraces /
                                                "hta/alexnet/benchmark_result_2869224_1695835535_trace.json.gz"};
  const Trace trace = ingest::read(file).trace;
  Diagnostics diagnostics;
  const auto recorded = infer_waits(trace, diagnostics);
  const auto inferred = infer_waits(trace, diagnostics, {.use_recorded = false});
  int same = 0;
  int told = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (!recorded[i].producer || inferred[i].evidence == Evidence::kUnknown) continue;
    ++told;
    same += inferred[i].producer == recorded[i].producer ? 1 : 0;
  }
  EXPECT_EQ(same, told);
  EXPECT_GE(told, 4);
}

TEST(HtaSamples, EveryTraceMakesASoundGraph) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTraces / "hta")) {
    if (entry.path().extension() != ".gz") continue;
    const std::vector<std::filesystem::path> file{entry.path()};
    const Trace trace = ingest::read(file).trace;
    Diagnostics diagnostics;
    EXPECT_TRUE(verify(Graph(trace, diagnostics)).sound()) << entry.path();
  }
}

}  // namespace
}  // namespace interlace::graph
