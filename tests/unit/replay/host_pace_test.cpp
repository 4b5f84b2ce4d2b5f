#include "simulator/replay/host_pace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/base/unrecorded_steps.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/trace/append_trace.hpp"

namespace interlace::replay {
namespace {

/// The shipped recording of torchrec/base on two GPUs, whose steps wait for the host for a good part.
class HostPace : public testing::Test {
 protected:
  static trace::Trace recorded() {
    const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";
    const std::vector<std::filesystem::path> files{folder / "base.r0.json.gz", folder / "base.r1.json.gz"};
    return ingest::read(files).trace;
  }

  /// The recording with a mark of rank `rank` that tells of `told`.
  [[nodiscard]] static trace::Trace with_mark(const trace::Trace& plain, std::uint32_t rank,
                                              const UnrecordedSteps& told) {
    trace::TraceBuilder builder;
    std::vector<trace::RankId> ranks;
    for (const trace::Rank& one : plain.ranks()) ranks.push_back(builder.add_rank(one));
    trace::append_trace(plain, ranks, builder);
    const auto lane = builder.lane(trace::LaneKind::kHostThread, ranks[rank], 1, 1);
    builder.add_range({.lane = lane, .name = builder.intern(to_mark(told)), .start = plain.origin()},
                      {.kind = trace::RangeKind::kAnnotation});
    Diagnostics none;
    return std::move(builder).build(none);
  }

  struct Learned {
    bool told = false;
    bool is_possible = true;
    SiteTable table;
    Plan plan;
    [[nodiscard]] double replayed(double scale) const {
      SimulationOptions options = on_recorded_machine({}, table);
      options.host_scale = scale;
      options.jitter = false;
      return statistics::mean(simulate(plan, table, options).steps_ns);
    }
  };

  static Learned learn(const trace::Trace& trace) {
    Diagnostics none;
    const stages::Cut cut = stages::cut(trace, stages::torchrec_profile(), none);
    const schedule::Schedule base = schedule::find("torchrec/base");
    Learned learned;
    learned.table = find_sites(trace, cut, none);
    learned.plan = compile(base, cut, learned.table);
    const auto unrecorded = unrecorded_step_ns(trace);
    learned.told = unrecorded.has_value();
    if (unrecorded) learned.is_possible = learn_host_pace(*unrecorded, cut, base, learned.table);
    return learned;
  }

  trace::Trace plain_ = recorded();
  Learned untold_ = learn(plain_);
};

TEST_F(HostPace, IsTheUsualOneWhereTheRecordingTellsNothing) {
  EXPECT_FALSE(untold_.told);
  EXPECT_EQ(untold_.table.host_scale, kUsualHostScale);
  EXPECT_EQ(unrecorded_step_ns(plain_), std::nullopt);
}

TEST_F(HostPace, FollowsTheStepsThatWereTimedWithoutTheRecorder) {
  for (const double scale : {0.5, 0.9}) {
    const double gain = untold_.replayed(scale) / untold_.replayed(1.0);
    const auto step = static_cast<double>(untold_.table.step_ns) * gain;
    const trace::Trace marked = with_mark(plain_, 1, {.steps = 20, .time = std::llround(20 * step)});
    EXPECT_NEAR(*unrecorded_step_ns(marked), step, 1.0);
    const Learned learned = learn(marked);
    EXPECT_TRUE(learned.told);
    EXPECT_TRUE(learned.is_possible);
    // What is likely counts too: the scale lies between that and what the steps ask for.
    EXPECT_NEAR(learned.replayed(learned.table.host_scale) / learned.replayed(1.0), gain, 0.015) << scale;
    EXPECT_EQ(learned.table.host_scale > kLikelyScale, scale > kLikelyScale) << scale;
    EXPECT_EQ(learned.table.fitted.back(), "host time without the recorder");
  }
}

TEST_F(HostPace, IgnoresStepsThatNoHostMakesSoShort) {
  const double gain = untold_.replayed(0.05) / untold_.replayed(1.0);
  for (const double part : {0.8, 0.98}) {
    const auto step = static_cast<double>(untold_.table.step_ns) * gain * part;
    const Learned learned = learn(with_mark(plain_, 1, {.steps = 20, .time = std::llround(20 * step)}));
    EXPECT_EQ(learned.is_possible, part > 0.9);
    EXPECT_EQ(learned.table.host_scale == kUsualHostScale, part < 0.9);
  }
}

TEST_F(HostPace, IsThatOfTheSlowestRank) {
  const trace::Trace one = with_mark(plain_, 0, {.steps = 10, .time = 10'000});
  EXPECT_EQ(unrecorded_step_ns(with_mark(one, 1, {.steps = 20, .time = 30'000})), 1'500.0);
}

}  // namespace
}  // namespace interlace::replay
