#include <gtest/gtest.h>

#include <map>
#include <string>

#include "simulator/base/error.hpp"
#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "tests/support/snapshot_pickle.hpp"

namespace interlace::ingest::memory_snapshot {
namespace {

using testing::SnapshotPickle;
using trace::AllocationAction;
using trace::BlockState;
namespace pickled = testing::pickled;

Snapshot sample(const std::string& name) {
  const std::filesystem::path file =
      std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "torchrec_c6" / name;
  const FileBytes bytes = read_file(file);
  return decode_snapshot(bytes.text(), file);
}

Snapshot decode(const SnapshotPickle& pickle) { return decode_snapshot(pickle.bytes(), "test.pickle"); }

std::string code_of(const std::string& bytes) {
  try {
    (void)decode_snapshot(bytes, "test.pickle");
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return "none";
}

// The expected values are those that Python gives for pickle.load of the file.
TEST(MemorySnapshot, ReadsAFileOfPyTorch) {
  const Snapshot snapshot = sample("base.mem.r0.snap.pickle");
  ASSERT_EQ(snapshot.devices.size(), 1U);
  const DeviceSnapshot& device = snapshot.devices[0];
  EXPECT_EQ(device.device, 0);
  EXPECT_EQ(snapshot.settings, "");
  EXPECT_TRUE(snapshot.diagnostics.empty());

  ASSERT_EQ(device.segments.size(), 34U);
  const trace::AllocatorSegment& first = device.segments[0];
  EXPECT_EQ(first.address, 140488380252160U);
  EXPECT_EQ(first.bytes, 312475648);
  EXPECT_EQ(first.stream_handle, 977219104U);
  EXPECT_TRUE(first.is_large);
  EXPECT_FALSE(first.is_expandable);
  ASSERT_EQ(first.blocks.size(), 2U);
  EXPECT_EQ(first.blocks[0], (trace::AllocatorBlock{140488380252160U, 310700032, 310699944, BlockState::kAllocated}));
  EXPECT_EQ(first.blocks[1], (trace::AllocatorBlock{140488690952192U, 1775616, 310703704, BlockState::kFree}));
  std::map<BlockState, int> states;
  for (const auto& segment : device.segments) {
    for (const auto& block : segment.blocks) ++states[block.state];
  }
  EXPECT_EQ(states[BlockState::kAllocated], 139);
  EXPECT_EQ(states[BlockState::kFree], 36);
  EXPECT_EQ(states[BlockState::kPendingFree], 7);

  ASSERT_EQ(device.events.size(), 1935U);
  std::map<AllocationAction, int> actions;
  for (const Event& event : device.events) ++actions[event.action];
  EXPECT_EQ(actions[AllocationAction::kAlloc], 645);
  EXPECT_EQ(actions[AllocationAction::kFreeRequested], 645);
  EXPECT_EQ(actions[AllocationAction::kFreeCompleted], 645);
  EXPECT_EQ(device.events.front(),
            (Event{AllocationAction::kFreeCompleted, 140488380252160U, 310651672, 977219104, 1795262652462171'000}));
  EXPECT_EQ(device.events.back(),
            (Event{AllocationAction::kFreeCompleted, 140506595682304U, 65536, 0, 1795262652551777'000}));

  ASSERT_GE(device.marks.size(), 2U);
  EXPECT_EQ(snapshot.names[device.marks[0].name], "## load batch 32 from dataloader (host) ##");
  EXPECT_TRUE(device.marks[0].is_start);
  EXPECT_EQ(device.marks[0].time, 1795262652460442'000);
  EXPECT_FALSE(device.marks[1].is_start);
}

TEST(MemorySnapshot, FindsTheDeviceOfTheRank) {
  const Snapshot snapshot = sample("sparse.mem.r1.snap.pickle");
  ASSERT_EQ(snapshot.devices.size(), 1U);
  EXPECT_EQ(snapshot.devices[0].device, 1);
  EXPECT_EQ(snapshot.devices[0].events.size(), 1918U);
}

TEST(MemorySnapshot, KnowsEveryActionAndBothWordsForPending) {
  const Snapshot snapshot = decode(SnapshotPickle()
                                       .event("alloc", 1, 2, 3, 4)
                                       .event("free_requested", 1, 2, 3, 4)
                                       .event("free_completed", 1, 2, 3, 4)
                                       .event("free", 1, 2, 3, 4)
                                       .event("segment_alloc", 1, 2, 3, 4)
                                       .event("segment_free", 1, 2, 3, 4)
                                       .event("segment_map", 1, 2, 3, 4)
                                       .event("segment_unmap", 1, 2, 3, 4)
                                       .raw_event(pickled::dict({{"action", pickled::text("oom")},
                                                                 {"device_free", pickled::integer(7)},
                                                                 {"size", pickled::integer(2)},
                                                                 {"stream", pickled::integer(3)},
                                                                 {"time_us", pickled::integer(4)}}))
                                       .event("snapshot", 0, 2, 3, 4)
                                       .event("user_defined", 0, 2, 3, 4)
                                       .event("user_defined", 0, 2, 3, 4)
                                       .segment(4096, 5,
                                                {{512, "active_pending_free"},
                                                 {1024, "active_awaiting_free"},
                                                 {512, "active_allocated"},
                                                 {512, "inactive"},
                                                 {512, "of the future"}}));
  const std::vector<AllocationAction> expected{
      AllocationAction::kAlloc,      AllocationAction::kFreeRequested, AllocationAction::kFreeCompleted,
      AllocationAction::kFree,       AllocationAction::kSegmentAlloc,  AllocationAction::kSegmentFree,
      AllocationAction::kSegmentMap, AllocationAction::kSegmentUnmap,  AllocationAction::kOutOfMemory};
  ASSERT_EQ(snapshot.devices.size(), 1U);
  std::vector<AllocationAction> actions;
  for (const Event& event : snapshot.devices[0].events) {
    actions.push_back(event.action);
    EXPECT_EQ(event, (Event{event.action, event.action == AllocationAction::kOutOfMemory ? 0U : 1U, 2, 3, 4000}));
  }
  EXPECT_EQ(actions, expected);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.unused_event.snapshot"), 1);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.unused_event.user_defined"), 2);

  std::vector<BlockState> states;
  for (const auto& block : snapshot.devices[0].segments[0].blocks) states.push_back(block.state);
  EXPECT_EQ(states, (std::vector{BlockState::kPendingFree, BlockState::kPendingFree, BlockState::kAllocated,
                                 BlockState::kFree, BlockState::kAllocated}));
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.unknown_state"), 1);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.blocks_do_not_fit"), 0);
}

TEST(MemorySnapshot, CountsWhatItCannotUse) {
  const std::string frame = pickled::dict({{"filename", pickled::text("a.py")}});
  const Snapshot snapshot = decode(
      SnapshotPickle()
          .raw_event(pickled::dict({{"action", pickled::text("alloc")}}))  // lacks all else
          .event("alloc", 1, -5, 3, 4)                                     // impossible size
          .event("alloc", 1, 5, 3, INT64_MAX)                              // impossible time
          .raw_event("N")                                                  // no dictionary
          .raw_event(pickled::dict({{"action", pickled::text("alloc")},
                                    {"addr", pickled::integer(-4096)},  // as LibTorch writes high addresses
                                    {"size", pickled::integer(2)},
                                    {"stream", pickled::integer(3)},
                                    {"time_us", pickled::integer(4)},
                                    {"frames", pickled::list({frame, frame})}}))
          .raw_segment(pickled::dict({{"device", pickled::integer(0)}}))
          .raw_segment(pickled::dict(
              {{"device", pickled::integer(0)},
               {"address", pickled::integer(4096)},
               {"total_size", pickled::integer(2048)},
               {"stream", pickled::integer(0)},
               {"is_expandable", pickled::boolean(true)},
               // As PyTorch 2.0 writes them: without address.
               {"blocks",
                pickled::list(
                    {pickled::dict({{"size", pickled::integer(512)}, {"state", pickled::text("inactive")}}),
                     pickled::dict({{"size", pickled::integer(1024)}, {"state", pickled::text("inactive")}})})}}))
          .annotation("a", "MIDDLE", 5)
          .annotation("a", "START", 5, 9));
  ASSERT_EQ(snapshot.devices.size(), 1U);
  ASSERT_EQ(snapshot.devices[0].events.size(), 1U);
  EXPECT_EQ(snapshot.devices[0].events[0].address, 0xFFFF'FFFF'FFFF'F000U);
  ASSERT_EQ(snapshot.devices[0].segments.size(), 1U);
  EXPECT_FALSE(snapshot.devices[0].segments[0].is_large);
  EXPECT_TRUE(snapshot.devices[0].segments[0].is_expandable);
  EXPECT_EQ(snapshot.devices[0].segments[0].blocks[1].address, 4096U + 512U);
  EXPECT_EQ(snapshot.devices[0].segments[0].blocks[1].requested, 1024);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.malformed_entry"), 3 + 1 + 2);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.unused_event.none"), 1);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.stack_frames"), 2);
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.blocks_do_not_fit"), 1) << "512 bytes are in no block";
}

TEST(MemorySnapshot, TellsTheSettings) {
  const auto sizes = pickled::dict({{"1", pickled::integer(0)}, {"2", pickled::integer(4)}});
  EXPECT_EQ(decode(SnapshotPickle()
                       .setting("PYTORCH_CUDA_ALLOC_CONF", pickled::text(""))
                       .setting("expandable_segments", pickled::boolean(true))
                       .setting("max_split_size", pickled::integer(200 << 20))
                       .setting("garbage_collection_threshold", "F0.8\n")
                       .setting("roundup_power2_divisions", sizes))
                .settings,
            "expandable_segments:True,max_split_size_mb:200,garbage_collection_threshold:0.8,"
            "roundup_power2_divisions:[1:0,2:4]");
  EXPECT_EQ(decode(SnapshotPickle()
                       .setting("PYTORCH_CUDA_ALLOC_CONF", pickled::text("max_split_size_mb:64"))
                       .setting("expandable_segments", pickled::boolean(true)))
                .settings,
            "max_split_size_mb:64");
  EXPECT_EQ(decode(SnapshotPickle().setting("max_split_size", pickled::integer(-1))).settings, "");
}

TEST(MemorySnapshot, RefusesOtherPickles) {
  EXPECT_EQ(code_of("N."), "memory_snapshot.not_a_snapshot");
  EXPECT_EQ(code_of(pickled::dict({{"segments", pickled::list({})}}) + "."), "memory_snapshot.not_a_snapshot");
  EXPECT_EQ(code_of("\x80\x04]"), "pickle.truncated");
  EXPECT_EQ(code_of("cos\nsystem\n."), "pickle.refused_opcode");
  EXPECT_EQ(code_of(SnapshotPickle().bytes()), "none");
}

// Through the memo a few bytes could stand for any number of segments with any number of blocks each.
TEST(MemorySnapshot, ASharedSegmentIsNoWayToExhaustMemory) {
  SnapshotPickle pickle;
  pickle.segment(4096, 0, {{512}, {512}, {512}, {512}, {512}, {512}, {512}, {512}, {512}, {512}, {512}, {512}});
  std::string bytes = pickle.bytes();
  const std::string list = "segments](";
  const std::size_t at = bytes.find(list) + list.size();
  const std::size_t end = bytes.find("eU\x0d", at);  // before the key device_traces
  ASSERT_NE(end, std::string::npos);
  std::string repeats("q\x01");
  for (int i = 0; i < 100'000; ++i) repeats += "h\x01";
  bytes.insert(end, repeats);
  EXPECT_EQ(code_of(bytes), "memory_snapshot.not_a_snapshot");
}

// Nor for any number of walks over one large dictionary, as entries that lack all that is asked for.
TEST(MemorySnapshot, ASharedDictionaryIsNoWayToKeepTheReaderBusy) {
  constexpr int kKeys = 20'000;
  constexpr int kTimes = 5'000;
  std::string shared("}(");
  for (int i = 0; i < kKeys; ++i) shared += pickled::text("a") + "N";
  std::vector<std::string> entries{shared + "uq\x01"};
  entries.resize(kTimes, "h\x01");
  const std::string repeats = pickled::list(entries);
  for (const bool as_segments : {true, false}) {
    const std::string bytes =
        pickled::dict({{"segments", as_segments ? repeats : pickled::list({})},
                       {"device_traces", as_segments ? pickled::list({}) : pickled::list({repeats})}}) +
        ".";
    EXPECT_EQ(code_of(bytes), "memory_snapshot.not_a_snapshot") << as_segments;
  }
}

// Nor for copies of one long text.
TEST(MemorySnapshot, KeepsTheBeginningOfALongUnknownAction) {
  const std::string action(200, 'x');
  const Snapshot snapshot = decode(SnapshotPickle().raw_event(pickled::dict({{"action", pickled::text(action)}})));
  EXPECT_EQ(snapshot.diagnostics.count_of("memory_snapshot.unused_event." + action.substr(0, 48)), 1);
}

}  // namespace
}  // namespace interlace::ingest::memory_snapshot
