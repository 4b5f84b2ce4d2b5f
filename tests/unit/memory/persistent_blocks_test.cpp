#include "simulator/memory/persistent_blocks.hpp"

#include <gtest/gtest.h>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::memory {
namespace {

using trace::AllocationAction;
using trace::BlockState;

constexpr std::uint64_t kSegmentAddress = 1U << 30U;
constexpr Bytes kSegment = Bytes{2} << 20;

/// One rank whose recording begins with an empty allocator.
class WholeProgram {
 public:
  WholeProgram() : rank_(builder_.add_rank({.number = 0})) {
    thread_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 1);
    add(0, AllocationAction::kSegmentAlloc, kSegmentAddress, kSegment);
  }
  void alloc(Nanoseconds time, std::uint64_t place, Bytes bytes) {
    add(time, AllocationAction::kAlloc, kSegmentAddress + place, bytes);
  }
  void free(Nanoseconds time, std::uint64_t place, Bytes bytes) {
    add(time, AllocationAction::kFreeRequested, kSegmentAddress + place, bytes);
    add(time, AllocationAction::kFreeCompleted, kSegmentAddress + place, bytes);
  }
  /// Blocks of 512 bytes at these places are allocated, the rest is free.
  void state(Nanoseconds time, const std::vector<std::uint64_t>& allocated) {
    trace::AllocatorSegment segment{.address = kSegmentAddress, .bytes = kSegment};
    std::uint64_t next = 0;
    const auto fill = [&](std::uint64_t end) {
      if (next < end)
        segment.blocks.push_back({kSegmentAddress + next, static_cast<Bytes>(end - next), 0, BlockState::kFree});
    };
    for (const std::uint64_t place : allocated) {
      fill(place);
      segment.blocks.push_back({kSegmentAddress + place, 512, 100, BlockState::kAllocated});
      next = place + 512;
    }
    fill(static_cast<std::uint64_t>(kSegment));
    builder_.add_allocator_state({.rank = rank_, .time = time, .segments = {segment}});
  }
  static constexpr std::uint64_t at(std::uint64_t place) { return kSegmentAddress + place; }
  std::vector<Bytes> persistent(Interval steps, const std::unordered_set<std::uint64_t>& of_stages = {}) {
    Diagnostics diagnostics;
    const trace::Trace trace = std::move(builder_).build(diagnostics);
    const auto found = persistent_blocks(trace, rank_, steps, of_stages, diagnostics);
    EXPECT_EQ(diagnostics.count_of("allocator.history_contradicts_state"), 0);
    return found ? found->bytes : std::vector<Bytes>{-1};
  }

 private:
  void add(Nanoseconds time, AllocationAction action, std::uint64_t address, Bytes bytes) {
    trace::AllocationDetail detail{.action = action, .address = address, .bytes = bytes, .stream_handle = 0};
    const bool is_segment = action == AllocationAction::kSegmentAlloc;
    if (!is_segment) detail.requested = bytes;
    builder_.add_allocation({thread_, builder_.intern("[memory]"), time, 0, {}}, detail);
  }

  trace::TraceBuilder builder_;
  trace::RankId rank_;
  trace::LaneId thread_;
};

TEST(PersistentBlocks, AreThoseThatOutliveTheSteps) {
  WholeProgram program;
  program.alloc(10, 0, 101);      // a parameter
  program.alloc(20, 512, 102);    // of the iteration before
  program.alloc(110, 1024, 103);  // of a step
  program.free(120, 512, 102);
  program.alloc(130, 512, 104);  // left from the last step
  program.free(140, 1024, 103);
  program.state(200, {0, 512});
  EXPECT_EQ(program.persistent({100, 150}), (std::vector<Bytes>{100}));
}

TEST(PersistentBlocks, AreNotWhatAStageMadeAndTheRecordingEndsBefore) {
  WholeProgram program;
  program.alloc(10, 0, 101);    // a parameter
  program.alloc(20, 512, 102);  // a batch of the steps, from before them, in use behind them
  program.alloc(110, 1024, 103);
  program.free(140, 1024, 103);
  program.state(200, {0, 512});
  EXPECT_EQ(program.persistent({100, 150}, {WholeProgram::at(512)}), (std::vector<Bytes>{100}));
}

TEST(PersistentBlocks, ComeFromTheStateBehindTheSteps) {
  WholeProgram program;
  program.state(5, {});
  program.alloc(10, 0, 101);
  program.state(200, {0});
  program.free(300, 0, 101);
  program.state(400, {});
  EXPECT_EQ(program.persistent({100, 150}), (std::vector<Bytes>{100}));
}

// A recorder that was stopped early, and one that wrote its state in the middle of the steps.
TEST(PersistentBlocks, AreNotWhatTheStepsGiveBackBehindTheState) {
  for (const Nanoseconds told_at : {90, 115}) {
    WholeProgram program;
    program.alloc(10, 0, 101);
    program.alloc(20, 512, 102);
    program.state(told_at, {0, 512});
    program.free(120, 512, 102);
    EXPECT_EQ(program.persistent({100, 150}), (std::vector<Bytes>{100})) << told_at;
  }
}

}  // namespace
}  // namespace interlace::memory
