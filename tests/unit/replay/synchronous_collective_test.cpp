#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/memory/stream_uses.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::replay {
namespace {

constexpr std::int64_t kComputeStream = 7;
constexpr std::int64_t kNcclStream = 30;
constexpr Nanoseconds kStepUs = 10'000;

/// Two ranks that train four steps of 10 ms. Behind the forward of 3 ms, and of the second rank 4 ms, a loss is reduced
/// within 20 us on `stream`, and the backward follows.
trace::Trace recorded(std::int64_t stream) {
  graph::RecordedJob job;
  for (int r = 0; r < 2; ++r) {
    const trace::RankId rank = job.add_rank();
    const trace::LaneId thread = job.thread(rank);
    const trace::LaneId compute = job.stream(rank, kComputeStream);
    const trace::LaneId reduces = job.stream(rank, stream);
    const Nanoseconds forward = 3'000 + 1'000 * r;
    for (Nanoseconds step = 0; step < 4; ++step) {
      const Nanoseconds t = 1'000 + step * kStepUs;
      job.range(thread, "## forward ##", t, t + 300);
      job.launch(thread, t + 50, compute, "forward", t + 60, t + 60 + forward);
      job.collective(thread, t + 80, reduces, "ncclDevKernel_AllReduce_Sum", t + 65 + forward, t + 4'085);
      job.range(thread, "## backward ##", t + 400, t + 700);
      job.launch(thread, t + 450, compute, "backward", t + 4'090, t + 10'000);
      job.range(thread, "## optimizer ##", t + 800, t + 900);
      job.launch(thread, t + 820, compute, "optimizer", t + 10'002, t + 10'050);
    }
  }
  return job.build();
}

schedule::Schedule plain() {
  return schedule::parse(R"({"interlace_schedule": 1, "name": "test/plain", "streams": {"main": {}}, "iteration": [
    {"stage": "dense_forward", "batch": 0, "stream": "main"}, {"stage": "backward", "batch": 0, "stream": "main"},
    {"stage": "optimizer_step", "batch": 0, "stream": "main"}]})",
                         "test");
}

struct Replayed {
  Plan plan;
  SiteTable sites;
  SimulationResult result;

  [[nodiscard]] std::vector<const Work*> works(WorkKind kind) const {
    std::vector<const Work*> found;
    for (const Work& work : result.works) {
      if (sites.sites[work.site.index()].kind == kind) found.push_back(&work);
    }
    return found;
  }
};

Replayed replayed(std::int64_t stream) {
  const trace::Trace trace = recorded(stream);
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(trace, stages::torchrec_profile(), diagnostics);
  SiteTable sites = find_sites(trace, cut, diagnostics);
  Plan plan = compile(plain(), cut, sites);
  SimulationOptions options;
  options.as_recorded = true;
  options.jitter = false;
  SimulationResult result = simulate(plan, sites, on_recorded_machine(options, sites));
  return {std::move(plan), std::move(sites), std::move(result)};
}

TEST(SynchronousCollective, StaysOnTheComputeStreamThatItWasRecordedOn) {
  const Replayed run = replayed(kComputeStream);
  for (const Work& work : run.result.works) EXPECT_EQ(run.plan.streams[work.stream.index()].name, "main");
  // Steps are those of the slower rank: 4 ms, 20 us, 5.91 ms and 48 us, and what the device adds between works.
  EXPECT_NEAR(statistics::mean(run.result.steps_ns), 10.0e6, 0.1e6);
}

TEST(SynchronousCollective, MeetsTheOtherRanks) {
  const Replayed run = replayed(kComputeStream);
  const std::vector<const Work*> reductions = run.works(WorkKind::kCollective);
  ASSERT_FALSE(reductions.empty());
  for (const Work* one : reductions) {
    for (const Work* other : reductions) {
      if (one->iteration == other->iteration) {
        EXPECT_GE(*one->end_ns, *other->start_ns);
      }
    }
  }
}

TEST(SynchronousCollective, OthersRunOnAStreamOfTheirOwn) {
  const Replayed run = replayed(kNcclStream);
  for (const Work& work : run.result.works) {
    const bool reduces = run.sites.sites[work.site.index()].kind == WorkKind::kCollective;
    EXPECT_EQ(run.plan.streams[work.stream.index()].name, reduces ? "nccl 0" : "main");
  }
}

TEST(SynchronousCollective, ItsStreamIsTheMainOneToTheAllocatorToo) {
  const trace::Trace trace = recorded(kComputeStream);
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(trace, stages::torchrec_profile(), diagnostics);
  const schedule::Schedule schedule = plain();
  const stages::SegmentKey forward{schedule::Stage::kDenseForward, stages::Piece::kWhole, {}};
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    if (trace.lane({i}).kind != trace::LaneKind::kStream || trace.lane({i}).rank.index() != 0) continue;
    const auto use = memory::StreamRoles(trace, cut.ranks[0], schedule).use(forward, {i});
    ASSERT_TRUE(use);
    EXPECT_EQ(use->kind, memory::StreamUse::Kind::kOwn);
  }
}

}  // namespace
}  // namespace interlace::replay
