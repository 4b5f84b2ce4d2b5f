#include "simulator/replay/races.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

TEST(Race, SaysInOneSentenceWhatIsLostAndWhere) {
  EXPECT_EQ((Race{"gemm of dense_forward", "SendRecv of input_dist_wait", 0, 1.24e6}.text()),
            "gemm of dense_forward races with SendRecv of input_dist_wait for SMs: it loses 0.0 to 1.2 ms a step, "
            "depending on which comes first");
  EXPECT_EQ(
      (Race{"gemm of dense_forward", "SendRecv of input_dist_wait", 1e5, 1.24e6, 2}.text()),
      "gemm of dense_forward races with SendRecv of input_dist_wait for SMs: in the worst of 2 places it loses 0.1 "
      "to 1.2 ms a step, depending on which comes first");
}

using RacesOfSample = RecordedSample;

// Under this schedule the exchanges of both lengths and values meet the first multiplications of dense_forward.
TEST_F(RacesOfSample, TellEachPairOfWorksOnceTheWorstFirst) {
  const Plan plan = compile(schedule::find("torchrec/fused_sparse_dist"), cut, table);
  const SimulationOptions options = on_recorded_machine({}, table);
  std::vector<SimulationResult> runs;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SimulationOptions of_run = options;
    of_run.seed = seed;
    runs.push_back(simulate(plan, table, of_run));
  }
  // As if a step were a tenth as long, so that small races are worth telling, too.
  const double step_ns = statistics::mean(runs.front().steps_ns) / 10;
  const std::vector<Race> races = find_races(runs, table, options.warm_up, step_ns);
  std::set<std::pair<std::string, std::string>> pairs;
  int places = 0;
  double before = std::numeric_limits<double>::max();
  for (const Race& race : races) {
    EXPECT_TRUE(pairs.emplace(race.loser, race.winner).second) << race.text();
    EXPECT_LE(race.lost_high_ns - race.lost_low_ns, before) << race.text();
    before = race.lost_high_ns - race.lost_low_ns;
    places += race.places;
  }
  EXPECT_GT(places, static_cast<int>(races.size())) << "no pair races in two places";
}

}  // namespace
}  // namespace interlace::replay
