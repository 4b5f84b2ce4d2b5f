#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "simulator/graph/graph.hpp"
#include "simulator/graph/rules/rules.hpp"
#include "simulator/graph/verify.hpp"
#include "simulator/graph/wait_diagnostics.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/replay/usual_delays.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::replay {
namespace {

const std::filesystem::path kRoot = INTERLACE_SOURCE_DIR;

/// The sample run under sparse_dist, from which the tests predict.
struct Recorded {
  Recorded()
      : recording(ingest::read(std::array{kRoot / "samples/traces/torchrec_c6/sparse.r0.json.gz",
                                          kRoot / "samples/traces/torchrec_c6/sparse.r1.json.gz"})),
        cut(stages::cut(recording.trace, stages::torchrec_profile(), recording.diagnostics)),
        predictor(recording.trace, cut, recording.diagnostics) {}

  [[nodiscard]] Prediction predict(const schedule::Schedule& schedule) const {
    PredictOptions options;
    options.runs = 1;
    return predictor.predict(schedule, options);
  }

  ingest::Recording recording;
  stages::Cut cut;
  Predictor predictor;
};

/// Streams of the first rank that wait for others, as "waiter < producer".
std::set<std::string> waits_of(const trace::Trace& trace, const graph::Graph& graph) {
  std::set<std::string> waits;
  for (const graph::ResolvedWait& wait : graph.waits()) {
    if (!wait.stream || !wait.producer_stream || trace.lane(*wait.stream).rank.value != 0) continue;
    waits.insert(trace.lane(*wait.stream).name + " < " + trace.lane(*wait.producer_stream).name);
  }
  return waits;
}

// What the runs of an ensemble take for the host's pace lies evenly around the usual: where the host decides, no seed
// makes steps shorter or longer.
TEST(Predictor, SeedsAgreeOnTheMeanWhereTheHostDecides) {
  const Recorded recorded;
  const auto step = [&](std::uint64_t seed) {
    PredictOptions options;
    options.simulation.host_scale = 4.0;
    options.simulation.seed = seed;
    return static_cast<double>(recorded.predictor.predict(schedule::find("torchrec/base"), options).step_time);
  };
  const double first = step(1);
  // A run's seed is that of the prediction and its number: seeds far apart have no run in common.
  for (const std::uint64_t seed : {101, 201, 301}) EXPECT_NEAR(step(seed) / first, 1.0, 0.015) << seed;
}

TEST(Predictor, RunsAloneAreThoseOfThePrediction) {
  const Recorded recorded;
  PredictOptions options;
  options.runs = 2;
  const schedule::Schedule& schedule = schedule::find("torchrec/base");
  const Prediction whole = recorded.predictor.predict(schedule, options);
  const PredictedRuns alone = recorded.predictor.simulate_runs(schedule, options);
  EXPECT_EQ(alone.labels, whole.simulated.labels);
  ASSERT_EQ(alone.runs.size(), 2U);
  for (std::size_t run = 0; run < 2; ++run) {
    EXPECT_EQ(alone.runs[run].steps, whole.simulated.runs[run].steps);
    EXPECT_TRUE(std::ranges::is_sorted(alone.runs[run].works, {}, [](const auto& work) { return work.time.begin; }));
  }
}

TEST(Predictor, AsManyFitAtOnceAsMemoryHoldsButAtLeastOne) {
  const Recorded recorded;
  PredictOptions options;
  EXPECT_GT(recorded.predictor.fit_at_once(options), 8U);
  options.simulation.iterations = 1'000'000;
  EXPECT_EQ(recorded.predictor.fit_at_once(options), 1U);
}

// Side streams work on later batches than the main one: each step that is shown holds as much as the others.
TEST(Predictor, ShowsStepsWithAllThatRunsInThem) {
  const Recorded recorded;
  for (const char* name : {"torchrec/base", "torchrec/sparse_dist", "torchrec/fused_sparse_dist_new_stream"}) {
    const Prediction prediction = recorded.predict(schedule::find(name));
    std::vector<int> works(prediction.steps.front().size(), 0);
    for (std::uint32_t i = 0; i < prediction.trace.size(); ++i) {
      const trace::OperationId op{i};
      if (!trace::is_device_work(prediction.trace.kind(op)) || prediction.trace.rank_of(op).value != 0) continue;
      for (std::size_t step = 0; step < works.size(); ++step) {
        if (prediction.steps.front()[step].contains(prediction.trace.start(op))) ++works[step];
      }
    }
    const auto [least, most] = std::ranges::minmax(works);
    EXPECT_GT(least, 200) << name;
    EXPECT_LE(most - least, 0.05 * most) << name;
  }
}

// Races of other schedules are told by what delays a kernel more than under this one.
TEST(Predictor, LearnsWhatDelaysEachWork) {
  Recorded recorded;
  SiteTable table = recorded.predictor.sites();
  learn_delays(recorded.cut, schedule::find("torchrec/sparse_dist"), table);
  std::map<schedule::Stage, double> most;
  for (const Site& site : table.sites) {
    ASSERT_TRUE(site.delays) << site.name;
    if (site.kind == WorkKind::kKernel) {
      // That of the inputs waits, but is more urgent than the main one.
      if (!site.on_side_stream) {
        EXPECT_EQ(site.delays->waiting_streams, 0) << site.name;
      }
      most[site.segment.stage] = std::max(most[site.segment.stage], site.delays->waits);
    }
  }
  EXPECT_EQ(most.at(schedule::Stage::kEmbeddingLookup), 2);  // both for data_dist, whose events are on their way
  EXPECT_EQ(most.at(schedule::Stage::kOutputDistWait), 1);   // for the exchange of pooled embeddings
  EXPECT_EQ(most.at(schedule::Stage::kInputDistFinish), 2);  // for two exchanges of inputs
}

// A predicted trace tells every wait and the record that it waits for, and its own times keep them.
TEST(PredictedTrace, TellsItsWaits) {
  const Recorded recorded;
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    if (!entry.name.starts_with("torchrec/") || entry.name.ends_with("prefetch_sparse_dist")) continue;
    const trace::Trace trace = recorded.predict(schedule::find(entry.name)).trace;
    Diagnostics diagnostics;
    const graph::Graph graph(trace, diagnostics);
    const graph::Verification found = graph::verify(graph);
    EXPECT_TRUE(found.sound()) << entry.name;
    EXPECT_EQ(found.edges_back_in_time, 0U) << entry.name;
    EXPECT_GT(diagnostics.count_of(graph::kWaitRecorded.code), 20) << entry.name;
    EXPECT_EQ(diagnostics.count_of(graph::kWaitRecorded.code), std::ssize(graph.waits())) << entry.name;
    EXPECT_EQ(diagnostics.count_of(graph::kInferredWaitViolated.code), 0) << entry.name;
    EXPECT_EQ(diagnostics.count_of(graph::kEdgeAgainstTime.code), 0) << entry.name;
    EXPECT_EQ(diagnostics.count_of(graph::kSyncTargetUnknown.code), 0) << entry.name;
  }
}

// The bug is a wait of lookup for data_dist that is not there.
TEST(PredictedTrace, LacksTheWaitsThatTheScheduleLacks) {
  const Recorded recorded;
  const std::filesystem::path samples = kRoot / "samples/schedules";
  for (const char* folder : {"bugs", "repaired"}) {
    const trace::Trace trace =
        recorded.predict(schedule::parse_file(samples / folder / "lookup_without_data_dist_edge.json")).trace;
    Diagnostics diagnostics;
    const graph::Graph graph(trace, diagnostics);
    EXPECT_EQ(waits_of(trace, graph).contains("lookup < data_dist"), folder == std::string_view("repaired"));
  }
}

}  // namespace
}  // namespace interlace::replay
