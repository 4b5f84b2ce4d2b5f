// How memory snapshots are joined with recordings, case by case, on files made for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/memory_snapshot/block_bytes.hpp"
#include "simulator/ingest/memory_snapshot/match.hpp"
#include "simulator/ingest/memory_snapshot/stream_handles.hpp"
#include "simulator/ingest/memory_snapshot/timeline.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/support/snapshot_pickle.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::ingest::memory_snapshot {
namespace {

using interlace::testing::KinetoText;
using interlace::testing::SnapshotPickle;
using interlace::testing::TemporaryFolder;
using trace::AllocationAction;
using trace::AllocationDetail;
using trace::LaneId;
using trace::OperationId;

using Matches = std::vector<std::optional<std::size_t>>;

constexpr Nanoseconds kStep = 30 * kMillisecond;

Event alloc(std::uint64_t address, Nanoseconds time) { return {AllocationAction::kAlloc, address, 100, 0, time}; }
Event request(std::uint64_t address, Nanoseconds time) {
  return {AllocationAction::kFreeRequested, address, 100, 0, time};
}
Event complete(std::uint64_t address, Nanoseconds time) {
  return {AllocationAction::kFreeCompleted, address, 100, 0, time};
}

TEST(MatchEvents, GoesByAddressSignAndSequence) {
  const std::vector<Event> events{alloc(1, 10), alloc(2, 20), request(1, 30), complete(1, 30), alloc(1, 40)};
  // The second thread was held up: its report of address 2 comes last.
  const std::vector<Report> reports{{1, false, 11}, {1, true, 31}, {1, false, 41}, {2, false, 290'000}};
  EXPECT_EQ(match_events(events, reports), (Matches{0, 3, 1, std::nullopt, 2}));
}

// Late reports may pass the next event of the same address: order decides, not the nearest time.
TEST(MatchEvents, SequenceIsStrongerThanTime) {
  const std::vector<Event> events{alloc(1, 0), request(1, 5'000), alloc(1, 295'000), request(1, 299'000)};
  const std::vector<Report> reports{{1, false, 291'000}, {1, true, 292'000}, {1, false, 296'000}, {1, true, 299'500}};
  EXPECT_EQ(match_events(events, reports), (Matches{0, 1, 2, 3}));
}

// A history that began earlier and went on later than the profiler, with the same addresses in every step.
TEST(MatchEvents, FindsTheWindowInALongerHistory) {
  std::vector<Event> events;
  for (int step = 0; step < 6; ++step) events.push_back(alloc(1, step * kStep));
  const std::vector<Report> reports{{1, false, 2 * kStep + 900}, {1, false, 3 * kStep + 900}};
  EXPECT_EQ(match_events(events, reports), (Matches{std::nullopt, std::nullopt, 0, 1, std::nullopt, std::nullopt}));
}

// The same where addresses are used again within a fraction of the widest gap.
TEST(MatchEvents, LeavesOutTheNearbyEventsBeforeTheWindow) {
  std::vector<Event> events;
  for (int i = 0; i < 8; ++i) events.push_back(alloc(1, i * 20'000));
  const std::vector<Report> reports{{1, false, 4 * 20'000 + 900}, {1, false, 5 * 20'000 + 900}};
  const Matches matches = match_events(events, reports);
  EXPECT_EQ(matches[4], 0U);
  EXPECT_EQ(matches[5], 1U);
  EXPECT_EQ(std::count(matches.begin(), matches.end(), std::nullopt), 6);
}

TEST(MatchEvents, AReportWithoutAnEventRemains) {
  const std::vector<Event> events{alloc(1, 2 * kStep), alloc(3, 0)};
  const std::vector<Report> reports{{1, false, 500}, {2, false, 600}, {1, true, 700}, {1, false, 2 * kStep + 500}};
  EXPECT_EQ(match_events(events, reports), (Matches{3, std::nullopt}));
}

constexpr LaneId kMain{0};
constexpr LaneId kAutograd{1};
using Sightings = std::vector<std::optional<Sighting>>;

std::vector<std::optional<LaneId>> threads_of(const std::vector<Place>& places) {
  std::vector<std::optional<LaneId>> threads;
  for (const Place& place : places) threads.push_back(place.thread);
  return threads;
}

TEST(PlaceEvents, CompletionsLieOnTheThreadThatMadeThem) {
  const std::vector<Event> events{request(1, 10'000),
                                  complete(1, 10'000),  // at once, by the main thread
                                  complete(2, 12'000),  // by polling in autograd's allocation
                                  {AllocationAction::kSegmentAlloc, 9, 1 << 21, 0, 12'000},
                                  alloc(3, 12'000),
                                  complete(4, 13'000),  // by emptying the cache: the thread is not known
                                  request(5, 14'000)};
  const Sightings sightings{Sighting{kMain, 10'900}, {}, {}, {}, Sighting{kAutograd, 12'900}, {},
                            Sighting{kMain, 14'900}};
  EXPECT_EQ(usual_delay(events, sightings), 900);
  const auto places = place_events(events, sightings);
  EXPECT_EQ(threads_of(places),
            (std::vector<std::optional<LaneId>>{kMain, kMain, kAutograd, kAutograd, kAutograd, std::nullopt, kMain}));
  EXPECT_EQ(places[0].time, 10'900);
  EXPECT_EQ(places[1].time, 10'900);
  EXPECT_EQ(places[2].time, 12'900) << "the allocator's time and the usual delay";
  EXPECT_EQ(places[5].time, 13'900);
}

TEST(PlaceEvents, ALateReportIsPutBeforeWhatCameNext) {
  const std::vector<Event> events{alloc(1, 10'000), alloc(2, 11'000), alloc(3, 12'000)};
  const Sightings sightings{Sighting{kMain, 290'000}, Sighting{kAutograd, 12'000}, Sighting{kAutograd, 13'000}};
  const auto places = place_events(events, sightings);
  EXPECT_EQ(places[0].time, 11'999) << "one before, since the trace orders equal times by lane";
  EXPECT_EQ(places[1].time, 12'000);
  EXPECT_EQ(places[2].time, 13'000);
}

TEST(BlockBytes, ComeFromOtherEventsOfTheBlock) {
  const std::vector<Event> events{complete(1, 0), alloc(2, 1), request(2, 2), complete(2, 3),
                                  alloc(2, 4),    alloc(3, 5), request(4, 6)};
  const std::vector<std::optional<Bytes>> seen{{}, 1'024, {}, {}, {}, {}, {}};
  trace::AllocatorSegment segment{.address = 3, .bytes = 4'096};
  segment.blocks = {{3, 2'048, 100, trace::BlockState::kAllocated}, {4, 1'536, 100, trace::BlockState::kPendingFree}};
  const std::vector<std::optional<Bytes>> expected{{},                       // freed before the window: nobody tells
                                                   1'024, 1'024, 1'024, {},  // another block at the same address
                                                   2'048, 1'536};
  EXPECT_EQ(block_bytes(events, seen, std::vector{segment}), expected);
  EXPECT_EQ(least_block_bytes(0), 512);
  EXPECT_EQ(least_block_bytes(512), 512);
  EXPECT_EQ(least_block_bytes(513), 1'024);
}

/// A thread whose ranges hold allocations and launches.
class Streams : public ::testing::Test {
 protected:
  trace::TraceBuilder builder;
  trace::RankId rank = builder.add_rank({});
  LaneId thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
  LaneId main = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  LaneId side = builder.lane(trace::LaneKind::kStream, rank, 0, 20);
  std::vector<std::pair<Nanoseconds, std::uint64_t>> handle_at;
  std::int64_t correlation = 0;

  trace::TraceBuilder::Common at(LaneId lane, Nanoseconds start, Nanoseconds duration, bool is_joined = false) {
    return {lane, builder.intern("x"), start, duration, is_joined ? std::optional(correlation) : std::nullopt};
  }
  void range(Nanoseconds start, Nanoseconds end) { builder.add_range(at(thread, start, end - start), {}); }
  void launch(LaneId stream, Nanoseconds when) {
    ++correlation;
    builder.add_host_call(at(thread, when, 1, true));
    builder.add_kernel(at(stream, when + 5'000, 1, true), {});
  }
  void launch_collective(LaneId stream, Nanoseconds when) {
    ++correlation;
    builder.add_host_call(at(thread, when, 1, true));
    builder.add_collective(at(stream, when + 5'000, 1, true), {}, std::nullopt);
  }
  void allocate(std::uint64_t handle, Nanoseconds when) {
    builder.add_allocation(at(thread, when, 0), {});
    handle_at.emplace_back(when, handle);
  }
  std::vector<HandleVotes> infer() {
    std::vector<std::uint64_t> handles;
    for (const auto& [when, handle] : handle_at) handles.push_back(handle);
    Diagnostics none;
    const trace::Trace trace = std::move(builder).build(none);
    std::vector<HandledAllocation> allocations;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      if (trace.kind({i}) != trace::OperationKind::kAllocation) continue;
      const auto known = std::ranges::find(handle_at, trace.start({i}) + trace.origin(),
                                           &std::pair<Nanoseconds, std::uint64_t>::first);
      allocations.push_back({{i}, known->second});
    }
    return infer_stream_handles(trace, rank, allocations, handles);
  }
};

TEST_F(Streams, TheInnermostRangeWithALaunchVotes) {
  for (Nanoseconds t = 0; t < 3'000; t += 1'000) {
    range(t, t + 900);
    launch(main, t + 10);
    range(t + 100, t + 200);  // a copy operator: it allocates in a range of its own, then launches
    range(t + 110, t + 120);
    allocate(5, t + 115);
    launch(side, t + 150);
    allocate(0, t + 300);  // both streams are within its range: no vote
  }
  const auto handles = infer();
  ASSERT_EQ(handles.size(), 2U);
  EXPECT_EQ(handles[0].handle, 0U);
  EXPECT_TRUE(handles[0].votes.empty());
  EXPECT_EQ(handles[0].stream, std::nullopt);
  EXPECT_EQ(handles[1].stream, side);
  EXPECT_EQ(handles[1].votes, (std::map<LaneId, std::int64_t>{{side, 3}}));
}

TEST_F(Streams, CollectivesDoNotVote) {
  for (Nanoseconds t = 0; t < 3'000; t += 1'000) {
    range(t, t + 900);
    range(t + 50, t + 400);
    allocate(5, t + 100);
    launch_collective(side, t + 200);
    launch(main, t + 500);
  }
  EXPECT_EQ(infer()[0].stream, main);
}

TEST_F(Streams, FewOrDividedVotesDecideNothing) {
  const auto vote = [&](std::uint64_t handle, LaneId stream, Nanoseconds t) {
    range(t, t + 90);
    allocate(handle, t + 10);
    launch(stream, t + 20);
  };
  vote(1, side, 0);                                                     // one vote
  for (int i = 1; i <= 4; ++i) vote(2, i == 4 ? side : main, i * 100);  // three of four: not more than three quarters
  const auto handles = infer();
  EXPECT_EQ(handles[0].stream, std::nullopt);
  EXPECT_EQ(handles[1].stream, std::nullopt);
}

TEST_F(Streams, TwoHandlesAreNeverOneStream) {
  const auto vote = [&](std::uint64_t handle, LaneId stream, Nanoseconds t) {
    range(t, t + 90);
    allocate(handle, t + 10);
    launch(stream, t + 20);
  };
  for (int i = 0; i < 2; ++i) vote(1, side, i * 100);
  for (int i = 2; i < 5; ++i) vote(2, side, i * 100);
  const auto handles = infer();
  EXPECT_EQ(handles[0].stream, std::nullopt);
  EXPECT_EQ(handles[1].stream, side);
}

TEST_F(Streams, ARecordedHandleIsKnown) {
  builder.set_handle(side, 3);
  for (int i = 0; i < 3; ++i) {
    range(i * 100, i * 100 + 90);
    allocate(i == 0 ? 3 : 4, i * 100 + 10);
    launch(side, i * 100 + 20);
  }
  const auto handles = infer();
  EXPECT_EQ(handles[0].stream, side);
  EXPECT_EQ(handles[1].stream, std::nullopt) << "the stream is taken";
}

/// A rank that works from 1000 to 1900 us. Its reports: address 4096 handed out at 1100.5 us and given back at 1300.5.
KinetoText rank_text(int rank, int world_size, int device = 0, bool has_reports = true) {
  const std::string ordinal = std::to_string(device);
  KinetoText text;
  text.rank(rank, world_size).annotation("step", "1000", "900").call("cudaLaunchKernel", "1101", "1", 1);
  text.complete("kernel", "work", ordinal, "7", "1200", "10",
                "\"device\": " + ordinal + ", \"stream\": 7, \"correlation\": 1");
  if (!has_reports) return text;
  for (const auto& [at, bytes, total] : {std::tuple("1100.5", "1024", "2024"), std::tuple("1300.5", "-1024", "1000")}) {
    text.event(std::string(R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, )") +
               R"("tid": 101, "ts": )" + at + R"(, "args": {"Total Reserved": 4096, "Total Allocated": )" + total +
               R"(, "Bytes": )" + bytes + R"(, "Device Id": )" + ordinal + R"(, "Device Type": 1, "Addr": 4096}})");
  }
  return text;
}

SnapshotPickle snapshot_of(int device = 0, std::int64_t address = 4096, std::int64_t shift_us = 0) {
  SnapshotPickle pickle(device + 1);
  pickle.event("alloc", address, 1000, 0, shift_us + 1100, device);
  pickle.event("free_requested", address, 1000, 0, shift_us + 1300, device);
  pickle.event("free_completed", address, 1000, 0, shift_us + 1300, device);
  return pickle.segment(address, 0, {{1024, "inactive"}, {1 << 20, "active_allocated"}}, device);
}

class SnapshotJoin : public ::testing::Test {
 protected:
  TemporaryFolder folder;

  std::filesystem::path trace(const KinetoText& text) {
    return folder.write("trace" + std::to_string(files_++) + ".json", text.text());
  }
  std::filesystem::path snapshot(const SnapshotPickle& pickle) {
    return folder.write("snapshot" + std::to_string(files_++) + ".pickle", pickle.bytes());
  }
  static Recording read_with(const std::vector<std::filesystem::path>& traces,
                             std::vector<std::filesystem::path> snapshots) {
    ReadOptions options;
    options.memory_snapshots = std::move(snapshots);
    return read(traces, options);
  }
  static std::string code_of(const std::vector<std::filesystem::path>& traces,
                             std::vector<std::filesystem::path> snapshots) {
    try {
      (void)read_with(traces, std::move(snapshots));
    } catch (const Error& error) {
      return std::string(error.code());
    }
    return "none";
  }
  static std::vector<OperationId> allocations(const trace::Trace& trace) {
    std::vector<OperationId> found;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      if (trace.allocation({i}) != nullptr) found.push_back({i});
    }
    return found;
  }

 private:
  int files_ = 0;
};

TEST_F(SnapshotJoin, AJoinedEventHasWhatBothSay) {
  const Recording joined = read_with({trace(rank_text(0, 1))}, {snapshot(snapshot_of())});
  const auto found = allocations(joined.trace);
  ASSERT_EQ(found.size(), 3U);
  const AllocationDetail expected{.action = AllocationAction::kAlloc,
                                  .address = 4096,
                                  .bytes = 1024,
                                  .total_allocated = 2024,
                                  .total_reserved = 4096,
                                  .requested = 1000,
                                  .stream_handle = 0};
  EXPECT_EQ(*joined.trace.allocation(found[0]), expected);
  EXPECT_EQ(joined.trace.start(found[0]), 100'500) << "the profiler's time";
  EXPECT_EQ(joined.trace.lane(joined.trace.lane_of(found[0])).number, 101);
  EXPECT_EQ(joined.trace.allocation(found[1])->action, AllocationAction::kFreeRequested);
  const AllocationDetail completed{.action = AllocationAction::kFreeCompleted,
                                   .address = 4096,
                                   .bytes = 1024,
                                   .requested = 1000,
                                   .stream_handle = 0};
  EXPECT_EQ(*joined.trace.allocation(found[2]), completed);
  ASSERT_EQ(joined.trace.allocator_states().size(), 1U);
  EXPECT_EQ(joined.trace.allocator_states()[0].time, joined.trace.start(found[2]));
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.joined"), 2);
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.stream_unknown"), 1) << "one vote is too few";
}

TEST_F(SnapshotJoin, KeepsWhichLaunchesLostTheirKernels) {
  KinetoText text = rank_text(0, 1);
  text.call("cudaLaunchKernel", "1150", "1", 2);
  const Recording joined = read_with({trace(text)}, {snapshot(snapshot_of())});
  EXPECT_EQ(joined.trace.launches_without_work().size(), 1U);
  EXPECT_EQ(joined.diagnostics.count_of("trace.launch_without_device_work"), 1);
}

TEST_F(SnapshotJoin, WithoutReportsEventsGoByTime) {
  const Recording joined = read_with({trace(rank_text(0, 1, 0, false))}, {snapshot(snapshot_of())});
  const auto found = allocations(joined.trace);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(joined.trace.start(found[0]), 100'000);
  EXPECT_EQ(joined.trace.lane(joined.trace.lane_of(found[0])).name, "allocator (thread not recorded)");
  EXPECT_FALSE(joined.trace.allocation(found[0])->knows_block);
  EXPECT_EQ(joined.trace.allocation(found[0])->bytes, 1024) << "1000 rounded to what the allocator hands out";
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.unknown_thread"), 3);
}

TEST_F(SnapshotJoin, HistoryBeforeTheRecordingIsLeftOutAndAfterItKept) {
  SnapshotPickle pickle(1);
  pickle.event("alloc", 8192, 10, 0, 1).event("free_requested", 8192, 10, 0, 2).event("free_completed", 8192, 10, 0, 2);
  pickle.event("alloc", 4096, 1000, 0, 1100).event("free_requested", 4096, 1000, 0, 1300);
  pickle.event("free_completed", 4096, 1000, 0, 1300).event("alloc", 8192, 10, 0, 5000);
  pickle.segment(4096, 0, {{1024, "inactive"}}).segment(8192, 0, {{512, "active_allocated"}});
  const Recording joined = read_with({trace(rank_text(0, 1))}, {snapshot(pickle)});
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.before_recording"), 3);
  const auto found = allocations(joined.trace);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(joined.trace.allocation(found[3])->address, 8192U);
  EXPECT_EQ(joined.trace.allocation(found[3])->bytes, 512) << "from the segment";
  EXPECT_TRUE(joined.trace.allocation(found[3])->knows_block);
}

TEST_F(SnapshotJoin, CountsWhatOnlyOneOfThemTells) {
  SnapshotPickle pickle(1);
  pickle.event("alloc", 4096, 1000, 0, 1100).event("alloc", 8192, 10, 0, 1200);
  pickle.event("free_requested", 4096, 1000, 0, 1300);
  const auto text = rank_text(0, 1).event(
      R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 101, "ts": 1250,
          "args": {"Bytes": 512, "Device Id": 0, "Device Type": 1, "Addr": 77}})");
  const Recording joined = read_with({trace(text)}, {snapshot(pickle)});
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.unmatched_report"), 1);
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.unmatched_event"), 1);
  EXPECT_EQ(allocations(joined.trace).size(), 4U) << "nothing is dropped";
}

TEST_F(SnapshotJoin, SnapshotsFindTheirRanks) {
  const std::vector<std::filesystem::path> by_device{trace(rank_text(0, 2, 0)), trace(rank_text(1, 2, 1))};
  // By device, though in the other order.
  Recording joined = read_with(by_device, {snapshot(snapshot_of(1)), snapshot(snapshot_of(0))});
  ASSERT_EQ(joined.trace.allocator_states().size(), 2U);
  EXPECT_EQ(joined.trace.allocator_states()[0].device, 0);
  EXPECT_EQ(joined.trace.allocator_states()[1].device, 1);
  EXPECT_EQ(joined.trace.allocator_states()[1].rank.value, 1U);

  // Each process sees its device as 0: in the order given. The second rank has no reports, so that its snapshot is told
  // by its address.
  const std::vector<std::filesystem::path> all_zero{trace(rank_text(0, 2, 0)), trace(rank_text(1, 2, 0, false))};
  joined = read_with(all_zero, {snapshot(snapshot_of(0)), snapshot(snapshot_of(0, 1 << 20))});
  EXPECT_EQ(joined.trace.allocator_states()[1].segments[0].address, 1U << 20);
  EXPECT_EQ(code_of(all_zero, {snapshot(snapshot_of(0, 1 << 20)), snapshot(snapshot_of(0))}),
            "ingest.snapshot_of_other_run");
}

TEST_F(SnapshotJoin, ADeviceBesideTheRanksOwnIsCounted) {
  SnapshotPickle pickle = snapshot_of(1);
  for (int i = 0; i < 9; ++i) pickle.event("alloc", 64 << i, 10, 0, 1100, 0);
  const Recording joined = read_with({trace(rank_text(0, 1, 1))}, {snapshot(pickle)});
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.other_device"), 1);
  EXPECT_EQ(joined.trace.allocator_states()[0].device, 1);
  EXPECT_EQ(allocations(joined.trace).size(), 3U);
}

TEST_F(SnapshotJoin, RefusesWhatDoesNotBelongTogether) {
  const auto one = trace(rank_text(0, 1));
  EXPECT_EQ(code_of({one}, {snapshot(snapshot_of())}), "none");
  EXPECT_EQ(code_of({one}, {snapshot(snapshot_of()), snapshot(snapshot_of())}), "ingest.snapshot_count");
  EXPECT_EQ(code_of({one}, {snapshot(snapshot_of(0, 1 << 20))}), "ingest.snapshot_of_other_run") << "other addresses";
  EXPECT_EQ(code_of({one}, {snapshot(snapshot_of(0, 4096, 60'000'000))}), "ingest.snapshot_of_other_run") << "later";
  EXPECT_EQ(code_of({trace(rank_text(0, 1, 0, false))}, {snapshot(snapshot_of(0, 4096, 60'000'000))}),
            "ingest.snapshot_of_other_run");
  EXPECT_EQ(code_of({one}, {one}), "memory_snapshot.not_a_snapshot");
  EXPECT_EQ(code_of({one}, {folder.path() / "none"}), "ingest.cannot_open");

  const Recording joined = read_with({one}, {snapshot(snapshot_of())});
  const auto ilt = folder.path() / "joined.ilt";
  write_ilt(joined.trace, joined.diagnostics, ilt);
  EXPECT_EQ(code_of({ilt}, {}), "none");
  EXPECT_EQ(code_of({ilt}, {snapshot(snapshot_of())}), "ingest.snapshot_twice");
}

TEST_F(SnapshotJoin, ASnapshotWithoutHistoryStillTellsTheState) {
  SnapshotPickle pickle(1);
  pickle.segment(4096, 0, {{1024}});
  const Recording joined = read_with({trace(rank_text(0, 1))}, {snapshot(pickle)});
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.no_history"), 1);
  ASSERT_EQ(joined.trace.allocator_states().size(), 1U);
  EXPECT_EQ(joined.trace.allocator_states()[0].time, std::nullopt);
  EXPECT_EQ(allocations(joined.trace).size(), 2U) << "the reports";
  EXPECT_EQ(code_of({snapshot(pickle)}, {}), "ingest.nothing_recorded");
}

TEST_F(SnapshotJoin, AmongTheRecordingsASnapshotIsJoinedToo) {
  const Recording joined = read_with({snapshot(snapshot_of()), trace(rank_text(0, 1))}, {});
  EXPECT_EQ(joined.diagnostics.count_of("memory_snapshot.joined"), 2);
  EXPECT_EQ(joined.trace.ranks().size(), 1U);
}

TEST_F(SnapshotJoin, AloneASnapshotIsARecording) {
  SnapshotPickle pickle = snapshot_of();
  pickle.annotation("never begun", "END", 1050).annotation("outer", "START", 1100).annotation("inner", "START", 1150);
  pickle.annotation("inner", "END", 1200).annotation("lost", "START", 1250).annotation("outer", "END", 1400);
  const Recording alone = read_with({snapshot(pickle)}, {});
  ASSERT_EQ(alone.trace.ranks().size(), 1U);
  EXPECT_EQ(alone.trace.ranks()[0].producer, "PyTorch memory snapshot");
  EXPECT_EQ(alone.trace.ranks()[0].number, 0);
  EXPECT_EQ(allocations(alone.trace).size(), 3U);
  std::vector<std::tuple<std::string, Nanoseconds, Nanoseconds>> ranges;
  for (std::uint32_t i = 0; i < alone.trace.size(); ++i) {
    if (alone.trace.range({i}) == nullptr) continue;
    ranges.emplace_back(alone.trace.name({i}), alone.trace.start({i}) + alone.trace.origin(),
                        alone.trace.duration({i}));
  }
  EXPECT_EQ(ranges, (decltype(ranges){{"outer", 1'100'000, 300'000}, {"inner", 1'150'000, 50'000}}));
  EXPECT_EQ(alone.diagnostics.count_of("memory_snapshot.loose_annotation"), 2);
  ASSERT_EQ(alone.trace.allocator_states().size(), 1U);
  EXPECT_EQ(alone.trace.allocator_states()[0].time, alone.trace.start(allocations(alone.trace).back()));

  // Two of different devices are the ranks of these numbers.
  const Recording two = read_with({snapshot(snapshot_of(3)), snapshot(snapshot_of(1))}, {});
  EXPECT_EQ(two.trace.ranks()[0].number, 1);
  EXPECT_EQ(two.trace.ranks()[1].number, 3);
}

TEST_F(SnapshotJoin, SaysWhatFollowsThePickle) {
  const auto file = folder.write("tail.pickle", snapshot_of().bytes() + "tail");
  EXPECT_EQ(read_with({trace(rank_text(0, 1))}, {file}).diagnostics.count_of("ingest.trailing_bytes"), 4);
}

}  // namespace
}  // namespace interlace::ingest::memory_snapshot
