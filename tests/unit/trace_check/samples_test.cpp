#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "simulator/ingest/read.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/trace_check/trace_check.hpp"

namespace interlace::trace_check {
namespace {

const std::filesystem::path kRoot = INTERLACE_SOURCE_DIR;

/// A sample run on two H200s, with its memory where there is a snapshot.
struct Sample {
  explicit Sample(const std::string& name, bool memory = false)
      : recording(read(name, memory)),
        cut(stages::cut(recording.trace, stages::torchrec_profile(), recording.diagnostics)) {}

  static ingest::Recording read(const std::string& name, bool memory) {
    std::vector<std::filesystem::path> files;
    for (const char* rank : {"r0", "r1"}) {
      const std::string base = "samples/traces/torchrec_c6/" + name + (memory ? ".mem." : ".") + rank;
      files.push_back(kRoot / (base + ".json.gz"));
      if (memory) files.push_back(kRoot / (base + ".snap.pickle"));
    }
    return ingest::read(files);
  }

  [[nodiscard]] TraceCheck check_as(const char* schedule) const {
    Diagnostics diagnostics;
    const StagedWork staged = staged_by(recording.trace, cut, schedule::find(schedule));
    return check(recording.trace, staged, {}, diagnostics);
  }

  ingest::Recording recording;
  stages::Cut cut;
};

TEST(TraceCheckSamples, RealRunsAreSound) {
  for (const auto& [name, schedule] : {std::pair{"base", "torchrec/base"}, std::pair{"sparse", "torchrec/sparse_dist"},
                                       std::pair{"fused_snew", "torchrec/fused_sparse_dist_new_stream"}}) {
    const TraceCheck result = Sample(name, true).check_as(schedule);
    EXPECT_TRUE(result.hazards.empty()) << name;
    EXPECT_TRUE(result.undecided.empty()) << name;
    EXPECT_GT(result.checked, 1000) << name;
    EXPECT_GT(result.blocks_checked, 100) << name;
    EXPECT_EQ(result.waits_unknown, 0) << name;
    for (const TraceStaleness& read : result.staleness) EXPECT_EQ(read.most, 0) << name << " " << read.stage;
  }
}

// The TorchRec that was recorded lacks the edge from data_dist to a lookup stream of its own (#2933, mended in #4497).
TEST(TraceCheckSamples, ARealRunHasTheMissingEdge) {
  const TraceCheck sparse = Sample("sparse").check_as("torchrec/sparse_dist");
  EXPECT_TRUE(sparse.held_by_host.empty());
  const TraceCheck fused = Sample("fused_snew").check_as("torchrec/fused_sparse_dist_new_stream");
  ASSERT_EQ(fused.held_by_host.size(), 1U);
  EXPECT_EQ(fused.held_by_host.front().datum, "kjt");
  EXPECT_EQ(fused.held_by_host.front().earlier.stage, "input_dist_finish");
  EXPECT_EQ(fused.held_by_host.front().later.stage, "embedding_lookup");
}

TraceCheck check_g1(const char* name) {
  const ingest::Recording recording =
      ingest::read(std::vector<std::filesystem::path>{kRoot / "samples/traces/torchrec_g1" / name});
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  const StagedWork staged = staged_by(recording.trace, cut, schedule::find("torchrec/fused_sparse_dist_new_stream"));
  return check(recording.trace, staged, {}, diagnostics);
}

// kjt.record_stream names the main stream alone, so that lookups on a stream of their own read ids and lengths whose
// memory the next batch's input already fills. In this run it happened: a lookup took 0.79 s, the gradient of its
// weights 1.37 s.
TEST(TraceCheckSamples, ARealRunWasOverwritten) {
  const TraceCheck result = check_g1("fused_snew.mem.r0.ilt");
  ASSERT_EQ(result.hazards.size(), 3U);
  std::int64_t overlapped = 0;
  Nanoseconds worst = 0;
  for (const TraceHazard& hazard : result.hazards) {
    EXPECT_EQ(hazard.kind, check::HazardKind::kFreeBeforeLastUse);
    EXPECT_EQ(hazard.datum, "kjt");
    overlapped += hazard.overlapped;
    worst = std::min(worst, hazard.smallest_margin);
  }
  EXPECT_EQ(overlapped, 14);
  EXPECT_LT(worst, -1'400'000'000);
}

TEST(TraceCheckSamples, ItsMendedTwinIsSound) {
  const TraceCheck result = check_g1("fused_snew_mended.mem.r0.ilt");
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_TRUE(result.undecided.empty());
  EXPECT_TRUE(result.held_by_host.empty()) << "the lookup waits for data_dist";
  EXPECT_GT(result.blocks_recorded, 50);
}

TraceCheck check_predicted(const schedule::Schedule& schedule) {
  const Sample sample("sparse");
  Diagnostics diagnostics;
  const replay::Predictor predictor(sample.recording.trace, sample.cut, diagnostics);
  replay::PredictOptions options;
  options.runs = 1;
  const trace::Trace trace = predictor.predict(schedule, options).trace;
  return check(trace, staged_by_names(trace), {}, diagnostics);
}

TEST(TraceCheckSamples, PredictionsOfSoundSchedulesAreSound) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    if (!entry.name.starts_with("torchrec/") || entry.name.ends_with("prefetch_sparse_dist")) continue;
    const TraceCheck result = check_predicted(schedule::find(entry.name));
    EXPECT_TRUE(result.hazards.empty()) << entry.name;
    EXPECT_GT(result.checked, 1000) << entry.name;
    for (const TraceStaleness& read : result.staleness) {
      const bool stale = entry.name == "torchrec/semi_sync" && read.resource == "tables";
      EXPECT_EQ(read.most, stale ? 1 : 0) << entry.name << " " << read.stage;
      EXPECT_EQ(read.least, read.most) << entry.name << " " << read.stage;
    }
  }
}

TEST(TraceCheckSamples, PredictionsOfBugsAreConvicted) {
  const auto check_file = [](const char* folder, const char* name) {
    return check_predicted(schedule::parse_file(kRoot / "samples/schedules" / folder / (std::string(name) + ".json")));
  };
  const TraceCheck inplace = check_file("bugs", "semi_sync_inplace_without_event");
  ASSERT_EQ(inplace.hazards.size(), 1U);
  EXPECT_EQ(inplace.hazards.front().datum, "batch");
  EXPECT_EQ(inplace.hazards.front().later.stage, "input_dist_start");
  EXPECT_EQ(inplace.hazards.front().ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(check_file("repaired", "semi_sync_inplace_without_event").hazards.empty());

  // TorchRec's host reads lengths in between: that alone holds the lookup back.
  const TraceCheck edge = check_file("bugs", "lookup_without_data_dist_edge");
  EXPECT_TRUE(edge.hazards.empty());
  ASSERT_EQ(edge.held_by_host.size(), 1U);
  EXPECT_EQ(edge.held_by_host.front().datum, "kjt");
  EXPECT_TRUE(check_file("repaired", "lookup_without_data_dist_edge").held_by_host.empty());
}

}  // namespace
}  // namespace interlace::trace_check
