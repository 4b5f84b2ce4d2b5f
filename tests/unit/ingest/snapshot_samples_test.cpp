// The shipped recordings with their snapshots: what the profiler and the allocator tell of the same window must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trace_difference.hpp"
#include "tests/unit/ingest/recordings.hpp"

namespace interlace::ingest {
namespace {

using trace::AllocationAction;
using trace::AllocationDetail;
using trace::LaneId;
using trace::OperationId;
using trace::Trace;

std::filesystem::path torchrec_c6(const std::string& name) { return sample("torchrec_c6") / name; }

memory_snapshot::Snapshot snapshot_of(const std::string& schedule, int rank) {
  const auto file = torchrec_c6(schedule + ".mem.r" + std::to_string(rank) + ".snap.pickle");
  return memory_snapshot::decode_snapshot(read_file(file).text(), file);
}

class SnapshotSamples : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<std::filesystem::path> traces{torchrec_c6(GetParam() + ".mem.r0.json.gz"),
                                            torchrec_c6(GetParam() + ".mem.r1.json.gz")};
  // Given the wrong way round: their devices tell whose they are.
  Recording joined = read(traces, {.memory_snapshots = {torchrec_c6(GetParam() + ".mem.r1.snap.pickle"),
                                                        torchrec_c6(GetParam() + ".mem.r0.snap.pickle")}});

  /// Allocator operations of a rank's device, in order.
  static std::vector<OperationId> allocations(const Trace& trace, std::uint32_t rank) {
    std::vector<OperationId> found;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const AllocationDetail* const detail = trace.allocation({i});
      if (detail != nullptr && detail->on_device && trace.rank_of({i}).value == rank) found.push_back({i});
    }
    return found;
  }
};

TEST_P(SnapshotSamples, EveryReportIsJoinedWithItsEvent) {
  const Recording plain = read(traces);
  std::int64_t reports = 0;
  for (const std::uint32_t rank : {0U, 1U}) {
    reports += static_cast<std::int64_t>(allocations(plain.trace, rank).size());
    const auto events = snapshot_of(GetParam(), static_cast<int>(rank)).devices.at(0).events;
    EXPECT_EQ(allocations(joined.trace, rank).size(), events.size());
  }
  ASSERT_GT(reports, 2000);
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.joined"), reports);
  for (const std::string flaw :
       {"unmatched_report", "unmatched_event", "order_differs", "clocks_differ", "before_recording", "other_device",
        "no_history", "stream_unknown", "unknown_thread", "malformed_entry", "blocks_do_not_fit"}) {
    EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot." + flaw), 0) << flaw;
  }
}

TEST_P(SnapshotSamples, AllElseIsAsWithoutSnapshots) {
  const Recording plain = read(traces);
  std::map<trace::OperationKind, std::int64_t> counts;
  for (const auto kind : plain.trace.kinds()) ++counts[kind];
  for (const auto kind : joined.trace.kinds()) --counts[kind];
  for (const auto& [kind, count] : counts) {
    EXPECT_TRUE(count == 0 || kind == trace::OperationKind::kAllocation) << to_string(kind);
  }
  for (const Diagnostic& entry : plain.diagnostics.entries()) {
    EXPECT_EQ(joined.diagnostics.count_of(entry.code), entry.count) << entry.code;
  }
  EXPECT_EQ(joined.trace.origin(), plain.trace.origin());
  EXPECT_EQ(joined.trace.length(), plain.trace.length());
}

// The allocator's lock makes the order of the snapshot; the operations must have it, whichever thread they are on.
TEST_P(SnapshotSamples, OperationsHaveTheOrderOfTheSnapshot) {
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto events = snapshot_of(GetParam(), static_cast<int>(rank)).devices.at(0).events;
    const auto operations = allocations(joined.trace, rank);
    ASSERT_EQ(operations.size(), events.size());
    std::set<LaneId> threads;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const AllocationDetail& detail = *joined.trace.allocation(operations[i]);
      ASSERT_EQ(detail.action, events[i].action) << i;
      ASSERT_EQ(detail.address, events[i].address) << i;
      ASSERT_EQ(detail.requested, events[i].bytes) << i;
      ASSERT_EQ(detail.stream_handle, events[i].stream_handle) << i;
      threads.insert(joined.trace.lane_of(operations[i]));
      // Of the allocator's microsecond, and of the report, which was seen up to 0.3 ms later.
      const Nanoseconds late = joined.trace.start(operations[i]) + joined.trace.origin() - events[i].time;
      EXPECT_GE(late, -1'000) << i;
      EXPECT_LE(late, 300'000) << i;
    }
    EXPECT_EQ(threads.size(), 2U) << "the main thread and autograd's";
  }
}

// The profiler tells after each event how much is allocated. That the bytes of the blocks add up to it shows that each
// event has its own report.
TEST_P(SnapshotSamples, BlocksAddUpToWhatTheProfilerSays) {
  for (const std::uint32_t rank : {0U, 1U}) {
    std::optional<Bytes> allocated;
    std::int64_t checked = 0;
    for (const OperationId op : allocations(joined.trace, rank)) {
      const AllocationDetail& detail = *joined.trace.allocation(op);
      EXPECT_TRUE(detail.knows_block || detail.action == AllocationAction::kFreeCompleted);
      EXPECT_GE(detail.bytes, *detail.requested);
      if (allocated && detail.action == AllocationAction::kAlloc) *allocated += detail.bytes;
      if (allocated && detail.action == AllocationAction::kFreeRequested) *allocated -= detail.bytes;
      if (!detail.total_allocated) continue;
      if (!allocated) allocated = detail.total_allocated;
      ASSERT_EQ(*allocated, *detail.total_allocated) << "after " << checked;
      ++checked;
    }
    EXPECT_GT(checked, 1200);
    // And at the end to what the segments hold.
    ASSERT_EQ(joined.trace.allocator_states().size(), 2U);
    const trace::AllocatorState& state = joined.trace.allocator_states()[rank];
    EXPECT_EQ(state.rank.value, rank);
    EXPECT_EQ(state.device, rank);
    Bytes in_blocks = 0;
    for (const auto& segment : state.segments) {
      for (const auto& block : segment.blocks) {
        if (block.state == trace::BlockState::kAllocated) in_blocks += block.bytes;
      }
    }
    EXPECT_EQ(in_blocks, *allocated);
    EXPECT_EQ(state.time, joined.trace.start(allocations(joined.trace, rank).back()));
  }
}

// A completed free follows its request: at once on the same thread, or later within an allocation.
TEST_P(SnapshotSamples, CompletedFreesFollowTheirRequests) {
  for (const std::uint32_t rank : {0U, 1U}) {
    std::map<std::uint64_t, const AllocationDetail*> requested;
    const auto operations = allocations(joined.trace, rank);
    std::int64_t at_once = 0;
    std::int64_t later = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const AllocationDetail& detail = *joined.trace.allocation(operations[i]);
      if (detail.action == AllocationAction::kFreeRequested) requested[detail.address] = &detail;
      if (detail.action != AllocationAction::kFreeCompleted) continue;
      const auto request = requested.find(detail.address);
      if (request == requested.end()) continue;  // it was requested before the window
      EXPECT_EQ(detail.bytes, request->second->bytes);
      EXPECT_TRUE(detail.knows_block);
      const auto& before = *joined.trace.allocation(operations[i - 1]);
      const bool is_at_once = before.action == AllocationAction::kFreeRequested && before.address == detail.address;
      ++(is_at_once ? at_once : later);
      if (is_at_once) {
        EXPECT_EQ(joined.trace.lane_of(operations[i]), joined.trace.lane_of(operations[i - 1]));
      }
      requested.erase(request);
    }
    EXPECT_GT(at_once, 400);
    EXPECT_GT(later, GetParam() == "sparse" ? 10 : -1) << "the batches that record_stream holds back";
  }
}

// The profiler numbers the default stream 7, whose handle is 0. The other streams: TorchRec copies batches on a stream
// of its own, and what it allocates there is what the copies from the host write to.
TEST_P(SnapshotSamples, HandlesAreJoinedToTheStreamsThatWorkedThere) {
  for (const std::uint32_t rank : {0U, 1U}) {
    std::map<std::uint64_t, LaneId> lane_of_handle;
    for (std::uint32_t i = 0; i < joined.trace.lanes().size(); ++i) {
      const trace::Lane& lane = joined.trace.lanes()[i];
      if (lane.rank.value != rank || !lane.handle) continue;
      EXPECT_TRUE(lane_of_handle.emplace(*lane.handle, LaneId{i}).second) << "two streams have one handle";
    }
    ASSERT_TRUE(lane_of_handle.contains(0));
    EXPECT_EQ(joined.trace.lane(lane_of_handle.at(0)).number, 7);
    // What is copied from the host is written to blocks of the copy stream: 21 of them in three iterations.
    std::map<std::uint64_t, int> allocated;
    for (const OperationId op : allocations(joined.trace, rank)) {
      const AllocationDetail& detail = *joined.trace.allocation(op);
      if (detail.action == AllocationAction::kAlloc) ++allocated[*detail.stream_handle];
    }
    std::map<LaneId, Bytes> copied;
    for (std::uint32_t i = 0; i < joined.trace.size(); ++i) {
      const trace::CopyDetail* const copy = joined.trace.copy({i});
      if (copy == nullptr || copy->source != trace::MemorySpace::kPinned || joined.trace.rank_of({i}).value != rank) {
        continue;
      }
      copied[joined.trace.lane_of({i})] += copy->bytes;
    }
    const auto most = std::ranges::max_element(copied, {}, [](const auto& entry) { return entry.second; });
    const auto of_copies =
        std::ranges::find_if(lane_of_handle, [&](const auto& entry) { return entry.second == most->first; });
    ASSERT_NE(of_copies, lane_of_handle.end());
    EXPECT_EQ(allocated[of_copies->first], 21);

    std::set<std::uint64_t> handles;
    for (const auto& segment : joined.trace.allocator_states()[rank].segments) handles.insert(segment.stream_handle);
    EXPECT_EQ(handles.size(), lane_of_handle.size());
    for (const OperationId op : allocations(joined.trace, rank)) {
      const AllocationDetail& detail = *joined.trace.allocation(op);
      ASSERT_EQ(detail.stream, lane_of_handle.at(*detail.stream_handle));
    }
  }
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.stream_inferred"), GetParam() == "base"     ? 2 * 2
                                                                            : GetParam() == "sparse" ? 2 * 3
                                                                                                     : 2 * 4);
}

TEST_P(SnapshotSamples, IltKeepsAllOfIt) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "joined.ilt";
  trace::write_ilt(joined.trace, joined.diagnostics, file);
  const Recording again = read(std::vector{file});
  EXPECT_EQ(trace::first_difference(joined.trace, again.trace), "");
  EXPECT_EQ(again.diagnostics.entries(), joined.diagnostics.entries());
}

INSTANTIATE_TEST_SUITE_P(C6, SnapshotSamples, ::testing::Values("base", "sparse", "fused_snew"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace interlace::ingest
