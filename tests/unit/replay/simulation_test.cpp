#include "simulator/replay/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "simulator/replay/program.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

using Simulated = RecordedSample;

constexpr std::int32_t kBatches = 12;

SimulationResult run(const Plan& plan, const SiteTable& table, std::optional<std::int32_t> batches) {
  SimulationOptions options = on_recorded_machine({}, table);
  options.batches = batches;
  return simulate(plan, table, options);
}

std::vector<HostCall> calls_in(const SimulationResult& result, std::int32_t first, std::int32_t last) {
  std::vector<HostCall> calls;
  std::ranges::copy_if(result.calls, std::back_inserter(calls), [&](const HostCall& call) {
    return call.rank == 0 && call.iteration >= first && call.iteration < last;
  });
  return calls;
}

double host_time(const std::vector<HostCall>& calls) { return calls.back().end_ns - calls.front().start_ns; }

TEST_F(Simulated, ARunEndsWithItsLastBatch) {
  const schedule::Schedule fused = schedule::find("torchrec/fused_sparse_dist_new_stream");
  const Plan plan = compile(fused, cut, table);
  const SimulationResult on = run(plan, table, {});
  const SimulationResult ended = run(plan, table, kBatches);

  const std::int32_t drain = kBatches - static_cast<std::int32_t>(schedule::depth(fused));
  const std::vector<HostCall> usual = calls_in(on, 0, drain);
  const std::vector<HostCall> same = calls_in(ended, 0, drain);
  ASSERT_EQ(usual.size(), same.size());
  EXPECT_TRUE(std::ranges::equal(usual, same, {}, &HostCall::start_ns, &HostCall::start_ns));

  EXPECT_EQ(std::ranges::max(ended.calls, {}, &HostCall::batch).batch, kBatches - 1);
  EXPECT_EQ(std::ranges::max(ended.calls, {}, &HostCall::iteration).iteration, kBatches - 1);
  EXPECT_EQ(ended.iteration_ends.front().size(), static_cast<std::size_t>(kBatches));
}

// In any other iteration it waits for the splits of the next batch.
TEST_F(Simulated, InTheLastIterationTheHostRunsAhead) {
  const Plan plan = compile(schedule::find("torchrec/fused_sparse_dist_new_stream"), cut, table);
  const SimulationResult on = run(plan, table, {});
  const SimulationResult ended = run(plan, table, kBatches);
  EXPECT_LT(host_time(calls_in(ended, kBatches - 1, kBatches)), host_time(calls_in(on, kBatches - 1, kBatches)) / 2);
}

/// What copies of batches take at least, a step.
double make_copies_take(SiteTable& table, double ns) {
  const auto is_copy = [](const Site& site) { return site.segment.stage == schedule::Stage::kCopyBatchToGpu; };
  double usual = 0;
  for (Site& site : table.sites) usual += is_copy(site) ? site.alone_ns : 0;
  for (Site& site : table.sites) {
    if (is_copy(site)) site.alone_ns *= ns / usual;
  }
  return ns;
}

// However far ahead the batches are copied, no more of them arrive a step: what was worked ahead before the first step
// must not make the others short.
TEST_F(Simulated, NothingIsWorkedAheadThatALongRunDoesNotKeepUp) {
  schedule::Schedule ahead = schedule::find("torchrec/sparse_dist");
  for (schedule::Step& step : ahead.iteration) {
    auto* stage = std::get_if<schedule::StageStep>(&step.action);
    const bool brings = stage != nullptr && (stage->stage == schedule::Stage::kNextBatch ||
                                             stage->stage == schedule::Stage::kCopyBatchToGpu);
    if (brings) stage->batch += 6;
  }
  const double least = make_copies_take(table, 50e6);
  const Plan plan = compile(ahead, cut, table);
  EXPECT_EQ(plan.depth, 8);
  SimulationOptions options = on_recorded_machine({}, table);
  options.jitter = false;
  const SimulationResult result = simulate(plan, table, options);
  EXPECT_EQ(std::ranges::min(result.calls, {}, &HostCall::iteration).iteration, -8);
  EXPECT_EQ(std::ranges::min(result.calls, {}, &HostCall::batch).batch, 0);
  for (const double step : result.steps_ns) EXPECT_GT(step, 0.99 * least);
}

TEST_F(Simulated, ASynchronisationOfTheDeviceWaitsForAllStreams) {
  const auto first_of_backward = std::ranges::find(table.ranks[0][0].calls, schedule::Stage::kBackward,
                                                   [](const RecordedCall& call) { return call.segment.stage; });
  const trace::OperationId call = *first_of_backward->call;
  first_of_backward->synchronises = true;
  first_of_backward->whole_device = true;
  const SimulationResult result = run(compile(schedule::find("torchrec/sparse_dist"), cut, table), table, {});
  int seen = 0;
  for (const HostCall& sync : result.calls) {
    if (sync.recorded != call) continue;
    ++seen;
    for (const Work& work : result.works) {
      if (work.rank != sync.rank || work.called_ns > sync.start_ns) continue;
      EXPECT_LE(*work.end_ns, sync.end_ns);
    }
  }
  EXPECT_GT(seen, 0);
}

// Recorded ranks agree on who wins behind a collective, and by chance only behind a kernel.
TEST_F(Simulated, RanksShareTheLuckOfACollectiveButForTheirOwn) {
  const SimulationResult result = run(compile(schedule::find("torchrec/base"), cut, table), table, {});
  std::map<std::pair<SiteId, std::int32_t>, std::set<double>> shared;
  std::set<double> own;
  std::size_t collectives = 0;
  for (const Work& work : result.works) {
    if (!work.draw) continue;
    shared[{work.site, work.iteration}].insert(work.draw->luck);
    own.insert(work.draw->own_luck);
    ++collectives;
  }
  ASSERT_GT(shared.size(), 0U);
  for (const auto& [collective, luck] : shared) EXPECT_EQ(luck.size(), 1U);
  EXPECT_GE(collectives, 2 * shared.size()) << "each on both ranks";
  EXPECT_EQ(own.size(), collectives);
}

/// The times that works take by themselves, by rank, site and batch.
using Times = std::map<std::tuple<std::uint32_t, SiteId, std::int32_t>, double>;
Times times_of(const SimulationResult& result) {
  Times times;
  for (const Work& work : result.works) times[{work.rank, work.site, work.batch}] = work.active.alone_ns;
  return times;
}

// So that schedules and what-ifs differ by what they do and not by luck.
TEST_F(Simulated, AChangedDetailChangesNoOtherDraw) {
  const auto simulated = [&](const SiteTable& job, const std::string& schedule) {
    return times_of(run(compile(schedule::find(schedule), cut, job), job, {}));
  };
  const Times base = simulated(table, "torchrec/base");
  SiteTable changed = table;
  changed.sites.front().alone_ns *= 3;
  std::size_t same = 0;
  for (const auto& [work, time] : simulated(changed, "torchrec/base")) {
    if (std::get<SiteId>(work) == SiteId{0}) continue;
    EXPECT_EQ(time, base.at(work));
    ++same;
  }
  EXPECT_GT(same, base.size() / 2);
}

// All ranks of a collective wait for the slowest: were all of what differs from step to step drawn for each by itself,
// steps would take longer the more ranks there are.
TEST_F(Simulated, WhatRanksShareOfACollectivesTimeIsDrawnOnce) {
  SiteTable job = table;
  for (Site& site : job.sites) {
    if (site.kind != WorkKind::kCollective) continue;
    site.common_spread = 0.1;
    site.spread = 0;
  }
  const Times times = times_of(run(compile(schedule::find("torchrec/base"), cut, job), job, {}));
  std::size_t collectives = 0;
  std::set<double> factors;
  for (const auto& [work, time] : times) {
    const auto& [rank, site, batch] = work;
    const Site& of = job.sites[site.index()];
    const auto other = times.find({1, site, batch});
    if (rank != 0 || of.kind != WorkKind::kCollective || other == times.end() || of.transfer_ns.size() < 2) continue;
    EXPECT_NEAR(time / of.transfer_ns[0], other->second / of.transfer_ns[1], 1e-9);
    factors.insert(time / of.transfer_ns[0]);
    ++collectives;
  }
  EXPECT_GT(collectives, 20U);
  EXPECT_GT(factors.size(), 20U);
}

}  // namespace
}  // namespace interlace::replay
