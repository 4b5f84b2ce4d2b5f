#include "simulator/what_if/apply.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "simulator/schedule/library.hpp"

namespace interlace::what_if {
namespace {

using replay::Site;
using replay::SiteTable;
using replay::WorkKind;
using schedule::Stage;

Site site(Stage stage, WorkKind kind, std::string name, double alone, Bytes bytes = 0) {
  Site s;
  s.segment.stage = stage;
  s.kind = kind;
  s.name = std::move(name);
  s.alone_ns = alone;
  s.bytes = bytes;
  s.shape.sm_count = 132;
  s.dispatch_gap_ns = 700;
  return s;
}

/// Two ranks, one iteration each: a synchronising call and a kernel of the optimizer.
SiteTable table() {
  SiteTable t;
  t.sites.push_back(site(Stage::kOptimizerStep, WorkKind::kKernel, "adam", 100));
  t.sites.push_back(site(Stage::kDenseForward, WorkKind::kKernel, "gemm", 1'000));
  t.sites.push_back(site(Stage::kInputDistStart, WorkKind::kCollective, "nccl small", 12'000, 1'000));
  t.sites.push_back(site(Stage::kBackward, WorkKind::kCollective, "nccl large", 200'000, 100'000));
  t.sites.back().transfer_ns = {200'000, 190'000};
  t.sites.back().ctas = 24;
  t.sites.push_back(site(Stage::kInputDistFinish, WorkKind::kHostCopy, "lengths", 3'000));
  t.sites.back().blocks_host = true;
  for (int rank = 0; rank < 2; ++rank) {
    replay::RecordedIteration iteration;
    iteration.calls.push_back({trace::OperationId{0}, {.stage = Stage::kInputDistFinish}, 501, 200, true, 0, 0});
    iteration.calls.push_back({trace::OperationId{1}, {.stage = Stage::kOptimizerStep}, 30, 10, false, 0, 1});
    iteration.works.push_back({trace::OperationId{2}, replay::SiteId{0}, false, 0});
    iteration.tail = 40;
    t.ranks.push_back({iteration});
  }
  return t;
}

SiteTable after(decltype(Edit::change) change, SiteTable before = table()) {
  const std::vector<Edit> edits{{std::move(change), "mine.json: edit 1"}};
  return apply_edits(std::move(before), edits);
}

std::vector<double> times(const SiteTable& t) {
  std::vector<double> all;
  for (const Site& s : t.sites) all.push_back(s.alone_ns);
  return all;
}

TEST(ApplyEdits, ScalesAStage) {
  EXPECT_EQ(times(after(ScaleStage{Stage::kOptimizerStep, 2.5})),
            (std::vector<double>{250, 1'000, 12'000, 200'000, 3'000}));
}

TEST(ApplyEdits, ScalesKernelsByName) {
  EXPECT_EQ(times(after(ScaleKernels{"^g.mm$", 2})), (std::vector<double>{100, 2'000, 12'000, 200'000, 3'000}));
  EXPECT_EQ(times(after(ScaleKernels{"small|lengths", 2})), (std::vector<double>{100, 1'000, 24'000, 200'000, 3'000}));
}

TEST(ApplyEdits, ScalesAKindOnEveryRank) {
  const SiteTable scaled = after(ScaleKind{WorkKind::kCollective, 0.5});
  EXPECT_EQ(times(scaled), (std::vector<double>{100, 1'000, 6'000, 100'000, 3'000}));
  EXPECT_EQ(scaled.sites[3].transfer_ns, (std::vector<double>{100'000, 95'000}));
}

// The large collective moves a byte in 2 ns, so of the small one's 12 us its 1000 bytes take 2 us: 10 us are latency.
// At a quarter of the bandwidth: 10 + 4 * 2 = 18 us, 10 + 4 * 190 = 770 us, and 10 + 4 * 180 = 730 us on rank 1.
TEST(ApplyEdits, ScalesBandwidthAndKeepsLatency) {
  const SiteTable scaled = after(ScaleLink{Link::kGpu, 0.25});
  EXPECT_EQ(times(scaled), (std::vector<double>{100, 1'000, 18'000, 770'000, 3'000}));
  EXPECT_EQ(scaled.sites[3].transfer_ns, (std::vector<double>{770'000, 730'000}));
}

// Equal to the bit: a sweep goes through what was recorded (0.1 + (x - 0.1) is not x for many x).
TEST(ApplyEdits, WhatOnlyKeepsAnOrderIsNotScaled) {
  SiteTable lone = table();
  lone.sites.push_back(site(Stage::kBackward, WorkKind::kDeviceCopy, "nccl:all_reduce", 0));
  EXPECT_THROW((void)after(ScaleKind{WorkKind::kDeviceCopy, 2}, lone), Error);
}

TEST(ApplyEdits, ALinkOfTheSameBandwidthChangesNothing) {
  SiteTable before = table();
  before.sites[2].alone_ns = 8'000.0 / 3;  // so that the latency is no whole number
  for (int i = 0; i < 50; ++i) {
    before.sites.push_back(site(Stage::kBackward, WorkKind::kCollective, "nccl", 1e5 / (i + 3), 2'000 + i));
  }
  EXPECT_EQ(times(after(ScaleLink{Link::kGpu, 1}, before)), times(before));
}

// What is of no known size tells no latency of the others.
TEST(ApplyEdits, ATransferOfUnknownSizeIsScaledWholly) {
  SiteTable before = table();
  before.sites[4] = site(Stage::kAllToAll, WorkKind::kCollective, "added", 500'000);
  EXPECT_EQ(times(after(ScaleLink{Link::kGpu, 0.25}, before)),
            (std::vector<double>{100, 1'000, 18'000, 770'000, 2'000'000}));
}

// The one host copy has no recorded size: all its time is bandwidth.
TEST(ApplyEdits, CollectivesShareTheHostLinkWhereThereIsNoOther) {
  EXPECT_EQ(times(after(ScaleLink{Link::kHost, 0.25})), (std::vector<double>{100, 1'000, 12'000, 200'000, 12'000}));
  SiteTable crossing = table();
  crossing.collectives_cross_host = true;
  EXPECT_EQ(times(after(ScaleLink{Link::kHost, 0.25}, crossing)),
            (std::vector<double>{100, 1'000, 18'000, 770'000, 12'000}));
  EXPECT_THROW(after(ScaleLink{Link::kGpu, 0.25}, crossing), Error);
}

TEST(ApplyEdits, ScalesTheHost) {
  for (const auto& rank : after(ScaleHost{1.5}).ranks) {
    EXPECT_EQ(rank[0].calls[0].gap, 752);  // 751.5, rounded
    EXPECT_EQ(rank[0].calls[0].duration, 300);
    EXPECT_EQ(rank[0].calls[1].gap, 45);
    EXPECT_EQ(rank[0].calls[1].duration, 15);
    EXPECT_EQ(rank[0].tail, 60);
  }
}

TEST(ApplyEdits, DropsCopiesAndCallsThatBlock) {
  const SiteTable dropped = after(DropSync{Stage::kInputDistFinish});
  EXPECT_FALSE(dropped.sites[4].blocks_host);
  for (const auto& rank : dropped.ranks) EXPECT_FALSE(rank[0].calls[0].synchronises);
  EXPECT_THROW(after(DropSync{Stage::kOptimizerStep}), Error);
}

/// One rank: forward with two kernels, a copy of the next batch between them, and the optimizer.
SiteTable eager() {
  SiteTable t;
  t.sites.push_back(site(Stage::kDenseForward, WorkKind::kKernel, "gemm", 1'000));
  t.sites.push_back(site(Stage::kDenseForward, WorkKind::kKernel, "relu", 100));
  t.sites.push_back(site(Stage::kCopyBatchToGpu, WorkKind::kHostCopy, "batch", 3'000));
  t.sites.push_back(site(Stage::kOptimizerStep, WorkKind::kKernel, "adam", 100));
  replay::RecordedIteration iteration;
  const auto call = [&](Stage stage, std::uint32_t site, Nanoseconds gap) {
    const auto first = static_cast<std::uint32_t>(iteration.works.size());
    iteration.calls.push_back({trace::OperationId{site}, {.stage = stage}, gap, 5'000, false, first, 1});
    iteration.works.push_back({trace::OperationId{site}, replay::SiteId{site}, false, 0});
  };
  call(Stage::kDenseForward, 0, 9'000);
  call(Stage::kCopyBatchToGpu, 2, 2'000);
  call(Stage::kDenseForward, 1, 8'000);
  call(Stage::kOptimizerStep, 3, 7'000);
  iteration.calls.push_back({trace::OperationId{9}, {.stage = Stage::kOptimizerStep}, 1'000, 500, false, 4, 0});
  t.ranks.push_back({iteration});
  t.host_scale = 0.5;
  return t;
}

TEST(ApplyEdits, CapturesAStageIntoOneLaunch) {
  const SiteTable t = after(CaptureStage{Stage::kDenseForward, 10'000}, eager());
  const replay::RecordedIteration& iteration = t.ranks[0][0];
  ASSERT_EQ(iteration.calls.size(), 5U);
  const auto sites_of = [&](std::size_t call) {
    std::vector<std::uint32_t> sites;
    for (std::uint32_t w = 0; w < iteration.calls[call].works; ++w) {
      sites.push_back(iteration.works[iteration.calls[call].first_work + w].site.value);
    }
    return sites;
  };
  EXPECT_EQ(sites_of(0), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(sites_of(1), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(sites_of(2), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(sites_of(3), (std::vector<std::uint32_t>{3}));
  // The launch as the recorder would have lengthened it; of the calls that are gone no time is left.
  EXPECT_EQ(iteration.calls[0].gap, 0);
  EXPECT_EQ(iteration.calls[0].duration, 20'000);
  EXPECT_EQ(iteration.calls[2].gap + iteration.calls[2].duration, 0);
  EXPECT_EQ(iteration.calls[3].gap, 7'000);
  EXPECT_EQ(iteration.calls[4].duration, 500);
  EXPECT_LT(t.sites[1].dispatch_gap_ns, 700);
  EXPECT_TRUE(t.sites[1].in_graph);
  EXPECT_FALSE(t.sites[3].in_graph);
  EXPECT_EQ(t.sites[3].dispatch_gap_ns, 700);
}

TEST(ApplyEdits, WhatBlocksTheHostCannotBeCaptured) {
  const auto code_of = [](std::vector<Edit> edits) {
    try {
      (void)apply_edits(table(), edits);
    } catch (const Error& error) {
      return std::string(error.code());
    }
    return std::string("none");
  };
  const Edit capture{CaptureStage{Stage::kInputDistFinish, 10'000}, "mine.json: edit 2"};
  EXPECT_EQ(code_of({capture}), "what_if.cannot_capture");
  // Nothing is left to capture: the copy has no instance in this table.
  EXPECT_EQ(code_of({{DropSync{Stage::kInputDistFinish}, "mine.json: edit 1"}, capture}), "what_if.no_match");
  EXPECT_EQ(code_of({{CaptureStage{Stage::kOptimizerStep, 10'000}, "mine.json: edit 1"}}), "none");
}

TEST(ApplyEdits, AddsWorkToEveryIterationOfEveryRank) {
  const SiteTable added = after(AddWork{Stage::kPrefetch, 500'000, 20'000, WorkKind::kHostCopy, {}});
  ASSERT_EQ(added.sites.size(), 6U);
  EXPECT_EQ(added.sites[5].name, "prefetch (edit)");
  EXPECT_EQ(added.sites[5].alone_ns, 500'000);
  EXPECT_EQ(added.sites[5].dispatch_gap_ns, 700);
  for (const auto& rank : added.ranks) {
    ASSERT_EQ(rank[0].calls.size(), 3U);
    const replay::RecordedCall& call = rank[0].calls[2];
    EXPECT_FALSE(call.call.has_value());
    EXPECT_EQ(call.segment.stage, Stage::kPrefetch);
    EXPECT_EQ(call.duration, 20'000);
    ASSERT_EQ(call.works, 1U);
    EXPECT_EQ(rank[0].works[call.first_work].site, replay::SiteId{5});
    EXPECT_FALSE(rank[0].works[call.first_work].work.has_value());
  }
}

TEST(ApplyEdits, ShapesAddedWork) {
  const auto shape = [](AddWork work) { return after(work).sites[5]; };
  // 50 us in blocks of 20: three rounds on 132 SMs.
  EXPECT_EQ(shape({Stage::kCompute, 50'000, 0, WorkKind::kKernel, {}}).shape.blocks, 3 * 132);
  EXPECT_EQ(shape({Stage::kCompute, 50'000, 0, WorkKind::kKernel, 66}).shape.blocks, 66);
  EXPECT_EQ(shape({Stage::kCompute, 50'000, 0, WorkKind::kKernel, 1'000}).shape.blocks, 132);
  EXPECT_EQ(shape({Stage::kAllToAll, 50'000, 0, WorkKind::kCollective, {}}).ctas, 24);
  EXPECT_EQ(shape({Stage::kAllToAll, 50'000, 0, WorkKind::kCollective, 8}).ctas, 8);
}

TEST(ApplyEdits, OneAfterTheOther) {
  const std::vector<Edit> edits{{AddWork{Stage::kOptimizerStep, 1'000, 0, WorkKind::kKernel, {}}, "1"},
                                {ScaleStage{Stage::kOptimizerStep, 2}, "2"},
                                {ScaleStage{Stage::kOptimizerStep, 2}, "3"}};
  EXPECT_EQ(times(apply_edits(table(), edits)), (std::vector<double>{400, 1'000, 12'000, 200'000, 3'000, 4'000}));
}

TEST(RefuseIdleEdits, NamesTheEditOfAStageThatNoScheduleRuns) {
  const schedule::Schedule base = schedule::find("torchrec/base");
  const schedule::Schedule prefetching = schedule::find("torchrec/prefetch_sparse_dist");
  const std::vector<Edit> edits{{ScaleKernels{"gemm", 2}, "mine.json: edit 1"},
                                {AddWork{.stage = Stage::kPrefetch, .takes = 5'000}, "mine.json: edit 2"}};
  const std::vector<const schedule::Schedule*> both{&base, &prefetching};
  EXPECT_NO_THROW(refuse_idle_edits(edits, both));
  try {
    refuse_idle_edits(edits, std::span(both).first(1));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "what_if.no_match");
    EXPECT_EQ(error.place(), "mine.json: edit 2");
    EXPECT_EQ(error.problem(), "no schedule that is replayed runs prefetch");
  }
}

TEST(ApplyEdits, NamesTheEditThatMatchesNothing) {
  const std::vector<Edit> edits{{ScaleStage{Stage::kOptimizerStep, 2}, "mine.json: edit 1"},
                                {ScaleStage{Stage::kPrefetch, 2}, "mine.json: edit 2"}};
  try {
    static_cast<void>(apply_edits(table(), edits));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "what_if.no_match");
    EXPECT_EQ(error.place(), "mine.json: edit 2");
  }
  EXPECT_THROW(after(ScaleKernels{"adam.", 2}), Error);
  EXPECT_THROW(after(ScaleKind{WorkKind::kMemset, 2}), Error);
}

// One after the other they multiply.
TEST(ApplyEdits, RefusesStepsOfDays) {
  const auto code_of = [](const Edit& edit, std::size_t times) {
    try {
      static_cast<void>(apply_edits(table(), std::vector<Edit>(times, edit)));
    } catch (const Error& error) {
      return std::string(error.code());
    }
    return std::string("none");
  };
  const Edit host{ScaleHost{1e6}, "mine.json: edit 1"};
  const Edit device{ScaleStage{Stage::kOptimizerStep, 1e6}, "mine.json: edit 1"};
  for (const Edit& edit : {host, device}) {
    EXPECT_EQ(code_of(edit, 1), "none");
    EXPECT_EQ(code_of(edit, 2), "none") << "half an hour";
    EXPECT_EQ(code_of(edit, 3), "what_if.bad_edit");
  }
}

}  // namespace
}  // namespace interlace::what_if
