// Sessions recorded on H200s (samples/traces/collector_h200), played again to the collector by the fake libcupti: as
// they were, and in the ways in which CUPTI may hand them over. What comes out must be what went in.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

std::string sample(const std::string& name) {
  return INTERLACE_SOURCE_DIR "/samples/traces/collector_h200/" + name + ".ilt";
}

/// Only what CUPTI tells of is played.
bool is_of_cupti(OperationKind kind) { return kind <= OperationKind::kHostSync; }

std::string place(const Trace& trace, OperationId op) {
  std::ostringstream text;
  text << trace.name(op) << " at " << trace.start(op) + trace.origin();
  return text.str();
}

/// The stream or thread; the process that played a session is another than the recorded one.
std::string lane(const Trace& trace, trace::LaneId id) {
  const trace::Lane& lane = trace.lane(id);
  std::ostringstream text;
  if (lane.kind == trace::LaneKind::kHostThread) {
    text << "thread " << lane.number;
  } else {
    text << "stream " << lane.process << ' ' << lane.number << ' ' << lane.name << ' ' << lane.priority.value_or(0);
  }
  return text.str();
}

void describe_sync(const Trace& trace, const trace::SyncDetail& sync, std::ostream& text) {
  text << ", " << to_string(sync.kind);
  if (sync.event) text << ", event " << *sync.event;
  if (sync.stream) text << ", of " << lane(trace, *sync.stream);
  if (sync.record) text << ", waits for " << place(trace, *sync.record);
  if (sync.record_stream) text << " on " << lane(trace, *sync.record_stream);
}

/// All that CUPTI's records say of an operation.
std::string describe(const Trace& trace, OperationId op) {
  std::ostringstream text;
  text << to_string(trace.kind(op)) << ' ' << place(trace, op) << " for " << trace.duration(op) << " on "
       << lane(trace, trace.lane_of(op));
  if (is_device_work(trace.kind(op))) {
    if (const auto launch = trace.launch_of(op)) text << ", launched by " << place(trace, *launch);
  }
  if (const auto* kernel = trace.kernel(op)) {
    text << ", grid";
    for (const std::int32_t blocks : kernel->grid) text << ' ' << blocks;
    text << ", block";
    for (const std::int32_t threads : kernel->block) text << ' ' << threads;
    text << ", " << kernel->registers_per_thread << " registers, " << kernel->shared_memory << " bytes, node "
         << kernel->graph_node.value_or(0);
  }
  if (const auto* copy = trace.copy(op)) {
    text << ", " << copy->bytes << " bytes from " << to_string(copy->source) << " to " << to_string(copy->destination);
  }
  if (const auto* sync = trace.sync(op)) describe_sync(trace, *sync, text);
  return text.str();
}

std::vector<std::string> described(const Trace& trace) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (is_of_cupti(trace.kind({i}))) all.push_back(describe(trace, {i}));
  }
  std::ranges::sort(all);
  return all;
}

Recorded replay(const std::string& name, const std::string& way) {
  return record_program(REPLAY_PROGRAM " " + sample(name) + " " + way);
}

struct Case {
  const char* sample;
  const char* way;
};

class RecordReplay : public ::testing::TestWithParam<Case> {};

TEST_P(RecordReplay, GivesBackTheSession) {
  const Recorded run = replay(GetParam().sample, GetParam().way);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err.find("NOT OK"), std::string::npos) << run.err;
  const ReadBack original(sample(GetParam().sample));
  const std::vector<std::string> expected = described(original.trace);
  const std::vector<std::string> found = described(ReadBack(run.file()).trace);
  ASSERT_GT(expected.size(), 20U);
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    ASSERT_EQ(found[i], expected[i]);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* name : {"torch_memory", "buffers.r0", "torch_missing_wait", "mixed"}) {
    for (const char* way : {"plain", "shuffled", "late_records", "wrap"}) all.push_back({name, way});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sessions, RecordReplay, ::testing::ValuesIn(cases()), [](const auto& one) {
  std::string name = std::string(one.param.sample) + "_" + one.param.way;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST(RecordReplayWithDrops, TellsHowManyAreMissingAndKeepsTheRest) {
  const Recorded run = replay("torch_memory", "drops");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
  const ReadBack original(sample("torch_memory"));
  const ReadBack read(run.file());
  const auto device_work = static_cast<std::size_t>(
      std::ranges::count_if(original.trace.kinds(), [](OperationKind kind) { return is_device_work(kind); }));
  const std::size_t dropped = device_work / 50;
  ASSERT_GT(dropped, 10U);
  const std::vector<std::string> expected = described(original.trace);
  const std::vector<std::string> found = described(read.trace);
  EXPECT_EQ(found.size(), expected.size() - dropped);
  EXPECT_TRUE(std::ranges::includes(expected, found));
  EXPECT_EQ(read.diagnostics.count_of("record.refused_work"), static_cast<std::int64_t>(dropped));
}

}  // namespace
}  // namespace interlace::collector
