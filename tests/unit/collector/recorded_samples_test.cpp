// Recordings of real programs on H200s (samples/traces/collector_h200).
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "simulator/trace/ilt/reader.hpp"

namespace interlace::collector {
namespace {

using trace::AllocationAction;

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/collector_h200" / name;
}

TEST(RecordedSamples, EventsOfTheAllocatorLeadToItsState) {
  Diagnostics diagnostics;
  const trace::Trace trace = trace::read_ilt(sample("torch_memory.ilt"), diagnostics);
  ASSERT_EQ(trace.allocator_states().size(), 1U);
  const trace::AllocatorState& state = trace.allocator_states().front();
  std::map<std::uint64_t, Bytes> blocks;
  std::map<std::uint64_t, Bytes> segments;
  std::int64_t events = 0;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::AllocationDetail* detail = trace.allocation({i});
    if (detail == nullptr || !detail->on_device || trace.start({i}) > *state.time) continue;
    ++events;
    EXPECT_TRUE(detail->knows_block);
    if (detail->action == AllocationAction::kAlloc) blocks[detail->address] = detail->bytes;
    if (detail->action == AllocationAction::kFreeCompleted) blocks.erase(detail->address);
    if (detail->action == AllocationAction::kSegmentAlloc) segments[detail->address] = detail->bytes;
    if (detail->action == AllocationAction::kSegmentFree) segments.erase(detail->address);
  }
  EXPECT_GT(events, 6'000);
  std::map<std::uint64_t, Bytes> blocks_of_state;
  std::map<std::uint64_t, Bytes> segments_of_state;
  for (const trace::AllocatorSegment& segment : state.segments) {
    segments_of_state[segment.address] = segment.bytes;
    for (const trace::AllocatorBlock& block : segment.blocks) {
      if (block.state != trace::BlockState::kFree) blocks_of_state[block.address] = block.bytes;
    }
  }
  EXPECT_EQ(blocks, blocks_of_state);
  EXPECT_EQ(segments, segments_of_state);
}

TEST(RecordedSamples, BothRanksHaveTheSameCollectives) {
  std::vector<std::map<std::string, std::int64_t>> counts;
  for (const char* name : {"collectives.r0.ilt", "collectives.r1.ilt"}) {
    Diagnostics diagnostics;
    const trace::Trace trace = trace::read_ilt(sample(name), diagnostics);
    std::map<std::string, std::int64_t>& count = counts.emplace_back();
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const trace::CollectiveDetail* detail = trace.collective({i});
      if (detail == nullptr) continue;
      EXPECT_EQ(detail->group_size, 2);
      EXPECT_GT(detail->element_bytes, 0);
      ++count[std::string(trace.text(detail->name)) + " " + std::string(trace.text(detail->group))];
    }
  }
  EXPECT_EQ(counts[0].size(), 5U);
  EXPECT_EQ(counts[0], counts[1]);
}

TEST(RecordedSamples, CollectivesHaveTheirChannelsAndBuffers) {
  for (const char* name : {"buffers.r0.ilt", "buffers.r1.ilt"}) {
    Diagnostics diagnostics;
    const trace::Trace trace = trace::read_ilt(sample(name), diagnostics);
    std::int64_t collectives = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const trace::CollectiveDetail* detail = trace.collective({i});
      if (detail == nullptr) continue;
      ++collectives;
      EXPECT_GT(detail->channels, 0);
      EXPECT_LE(detail->channels, trace.kernel({i})->blocks()) << "a block carries a channel";
      EXPECT_TRUE(detail->in_buffer && detail->out_buffer);
      const bool is_in_place = detail->function == trace::CollectiveFunction::kAllReduce ||
                               detail->function == trace::CollectiveFunction::kBroadcast;
      EXPECT_EQ(detail->in_buffer == detail->out_buffer, is_in_place) << "as the program has it";
    }
    EXPECT_EQ(collectives, 120) << name;
    EXPECT_EQ(diagnostics.count_of("record.open_range"), 0) << "NCCL ends its ranges";
  }
}

TEST(RecordedSamples, RangesAndMarksHaveTheirNumbersAndCategories) {
  Diagnostics diagnostics;
  const trace::Trace trace = trace::read_ilt(sample("mixed.ilt"), diagnostics);
  std::map<std::string, trace::Note> notes;
  for (const auto& [operation, note] : trace.notes()) notes.emplace(trace.name(operation), note);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(to_string(notes.at("registered").payload.value()), "42");
  EXPECT_EQ(trace.text(notes.at("registered").category.value()), "io");
  EXPECT_EQ(to_string(notes.at("loss").payload.value()), "0.25");
  EXPECT_EQ(trace.text(notes.at("loss").category.value()), "loss");
  EXPECT_TRUE(notes.at("never ended").is_open);
}

}  // namespace
}  // namespace interlace::collector
