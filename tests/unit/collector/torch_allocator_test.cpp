// PyTorch's own caching allocator, recorded over a CUDA runtime without a GPU: what the recording has must be what the
// allocator says of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::AllocationAction;
using trace::AllocationDetail;

Recorded record_torch(const std::string& scenario, const std::string& options = {},
                      const std::string& environment = {}) {
  return record_program(TORCH_PROGRAM " " + scenario, options, environment);
}

struct Told {
  AllocationAction action = AllocationAction::kAlloc;
  std::uint64_t address = 0;
  Bytes bytes = 0;
  std::uint64_t stream = 0;
  bool operator==(const Told&) const = default;
};

/// What torch_program printed.
struct Account {
  std::vector<Told> events;
  std::map<std::uint64_t, Bytes> segments;
  std::vector<trace::AllocatorBlock> blocks;
  std::map<std::string, std::vector<std::uint64_t>> numbers;

  explicit Account(const std::string& text) {
    static const std::map<std::string, AllocationAction> kActions{{"alloc", AllocationAction::kAlloc},
                                                                  {"free_requested", AllocationAction::kFreeRequested},
                                                                  {"free_completed", AllocationAction::kFreeCompleted},
                                                                  {"segment_alloc", AllocationAction::kSegmentAlloc},
                                                                  {"segment_free", AllocationAction::kSegmentFree},
                                                                  {"segment_map", AllocationAction::kSegmentMap},
                                                                  {"segment_unmap", AllocationAction::kSegmentUnmap},
                                                                  {"oom", AllocationAction::kOutOfMemory}};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "event") {
        Told told;
        words >> word >> told.address >> told.bytes >> told.stream;
        told.action = kActions.at(word);
        events.push_back(told);
      } else if (word == "segment") {
        std::uint64_t address = 0;
        words >> address >> segments[address];
      } else if (word == "block") {
        trace::AllocatorBlock block;
        bool is_allocated = false;
        bool is_active = false;
        words >> block.address >> block.bytes >> block.requested >> is_allocated >> is_active;
        const auto unheld = is_active ? trace::BlockState::kPendingFree : trace::BlockState::kFree;
        block.state = is_allocated ? trace::BlockState::kAllocated : unheld;
        blocks.push_back(block);
      } else {
        for (std::uint64_t number = 0; words >> number;) numbers[word].push_back(number);
      }
    }
  }
};

/// Allocation operations on the device, in their order.
std::vector<trace::OperationId> allocations(const trace::Trace& trace) {
  std::vector<trace::OperationId> found;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.allocation({i}) != nullptr) found.push_back({i});
  }
  return found;
}

std::vector<Told> told_by(const trace::Trace& trace) {
  std::vector<Told> events;
  for (const trace::OperationId op : allocations(trace)) {
    const AllocationDetail& detail = *trace.allocation(op);
    if (detail.action == AllocationAction::kRecordStream) continue;
    events.push_back(
        {detail.action, detail.address, detail.requested.value_or(detail.bytes), detail.stream_handle.value_or(99)});
  }
  return events;
}

std::vector<trace::AllocatorBlock> blocks_of(const trace::AllocatorState& state) {
  std::vector<trace::AllocatorBlock> blocks;
  for (const trace::AllocatorSegment& segment : state.segments) {
    blocks.insert(blocks.end(), segment.blocks.begin(), segment.blocks.end());
  }
  return blocks;
}

void by_address(std::vector<trace::AllocatorBlock>& blocks) {
  std::ranges::sort(blocks, {}, &trace::AllocatorBlock::address);
}

/// The state of the recording against the allocator's, and the blocks that lived on against both.
void expect_state(const ReadBack& read, Account& account) {
  ASSERT_EQ(read.trace.allocator_states().size(), 1U);
  const trace::AllocatorState& state = read.trace.allocator_states().front();
  EXPECT_EQ(state.device, 0);
  ASSERT_EQ(state.segments.size(), account.segments.size());
  for (const trace::AllocatorSegment& segment : state.segments) {
    EXPECT_EQ(segment.bytes, account.segments[segment.address]);
  }
  by_address(account.blocks);
  EXPECT_EQ(blocks_of(state), account.blocks);
}

TEST(RecordTorchAllocator, HasWhatTheAllocatorTells) {
  const Recorded run = record_torch("whole");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("name native"), std::string::npos) << "the program sees the allocator as it is";
  EXPECT_EQ(run.err.find("NOT OK"), std::string::npos) << run.err;
  Account account(run.out);
  ASSERT_GT(account.events.size(), 30U);
  const ReadBack read(run.file());
  EXPECT_EQ(told_by(read.trace), account.events);
  expect_state(read, account);
  EXPECT_EQ(read.diagnostics.count_of("record.driver_memory"), 6) << "segments, told by the driver too";
}

TEST(RecordTorchAllocator, KnowsTheSizeOfBlocksAndTotals) {
  const Recorded run = record_torch("whole");
  Account account(run.out);
  const ReadBack read(run.file());
  std::map<std::uint64_t, Bytes> live;
  std::optional<Bytes> allocated;
  std::optional<Bytes> reserved;
  for (const trace::OperationId op : allocations(read.trace)) {
    const AllocationDetail& detail = *read.trace.allocation(op);
    EXPECT_TRUE(detail.knows_block);
    if (detail.action == AllocationAction::kAlloc) live[detail.address] = detail.bytes;
    if (detail.action == AllocationAction::kFreeCompleted) live.erase(detail.address);
    ASSERT_TRUE(detail.total_allocated && detail.total_reserved);
    allocated = detail.total_allocated;
    reserved = detail.total_reserved;
  }
  std::map<std::uint64_t, Bytes> expected;
  for (const trace::AllocatorBlock& block : account.blocks) {
    if (block.state != trace::BlockState::kFree) expected[block.address] = block.bytes;
  }
  EXPECT_EQ(live, expected);
  EXPECT_EQ(allocated, static_cast<Bytes>(account.numbers["allocated"].at(0)));
  EXPECT_EQ(reserved, static_cast<Bytes>(account.numbers["reserved"].at(0)));
}

TEST(RecordTorchAllocator, HasRecordStreamAndTheLateFree) {
  const Recorded run = record_torch("whole");
  Account account(run.out);
  const ReadBack read(run.file());
  const std::uint64_t address = account.numbers["shared"].at(0);
  const std::uint64_t side = account.numbers["shared"].at(1);
  std::vector<AllocationAction> life;
  for (const trace::OperationId op : allocations(read.trace)) {
    const AllocationDetail& detail = *read.trace.allocation(op);
    if (detail.address != address || life.size() == 4) continue;
    life.push_back(detail.action);
    if (detail.action != AllocationAction::kRecordStream) continue;
    EXPECT_EQ(detail.bytes, 40 * 1024);
    EXPECT_EQ(detail.stream_handle, side);
    ASSERT_TRUE(detail.stream);
    EXPECT_EQ(read.trace.lane(*detail.stream).handle, side);
  }
  using enum AllocationAction;
  EXPECT_EQ(life, (std::vector{kAlloc, kRecordStream, kFreeRequested, kFreeCompleted}));
}

TEST(RecordTorchAllocator, NamesThreadsAndTheDefaultStream) {
  const Recorded run = record_torch("whole");
  const ReadBack read(run.file());
  std::map<trace::LaneId, int> lanes;
  for (const trace::OperationId op : allocations(read.trace)) {
    ++lanes[read.trace.lane_of(op)];
    const AllocationDetail& detail = *read.trace.allocation(op);
    if (detail.stream_handle != 0U || detail.action == AllocationAction::kOutOfMemory) continue;
    ASSERT_TRUE(detail.stream);
    EXPECT_EQ(read.trace.lane(*detail.stream).number, 7);
  }
  EXPECT_EQ(lanes.size(), 2U) << "a thread allocated too";
}

TEST(RecordTorchAllocator, AttachesToAnAllocatorThatIsThere) {
  const Recorded run = record_torch("late");
  ASSERT_EQ(run.status, 0) << run.err;
  Account account(run.out);
  const ReadBack read(run.file());
  EXPECT_EQ(told_by(read.trace), account.events);
  expect_state(read, account);
  for (const trace::OperationId op : allocations(read.trace)) {
    EXPECT_FALSE(read.trace.allocation(op)->total_allocated) << "what was there before is not known";
  }
}

TEST(RecordTorchAllocator, LeavesOutWhatHappensWhileStopped) {
  const Recorded run = record_torch("part");
  ASSERT_EQ(run.status, 0) << run.err;
  Account account(run.out);
  const ReadBack read(run.file());
  std::vector<Bytes> requested;
  for (const Told& told : told_by(read.trace)) {
    if (told.action == AllocationAction::kAlloc) requested.push_back(told.bytes);
  }
  EXPECT_EQ(requested, (std::vector<Bytes>{7 << 20, 1000}));
  // The state after each part.
  ASSERT_EQ(read.trace.allocator_states().size(), 2U);
  const trace::AllocatorState& last = read.trace.allocator_states().back();
  by_address(account.blocks);
  EXPECT_EQ(blocks_of(last), account.blocks) << "blocks of unseen allocations are in it";
}

TEST(RecordTorchAllocator, IsLeftAloneInALightRecording) {
  const Recorded run = record_torch("whole", "--light");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(allocations(ReadBack(run.file()).trace).empty());
}

TEST(RecordTorchAllocator, LeavesOtherBackendsAlone) {
  const Recorded run = record_torch("launch", {}, "PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("PyTorch's allocator is not recorded: PyTorch uses the allocator 'cudaMallocAsync'"),
            std::string::npos)
      << run.err;
}

/// The collector with this beside it.
Recorded record_with(const std::string& hook) {
  const testing::TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::copy(COLLECTOR_LIBRARY, folder.path() / "libinterlace_collector.so");
  if (!hook.empty()) fs::copy(hook, folder.path() / "libinterlace_torch_allocator.so");
  return record_torch("whole", "--library " + (folder.path() / "libinterlace_collector.so").string());
}

TEST(RecordTorchAllocator, LeavesAnotherVersionAlone) {
  const Recorded run = record_with(OTHER_HOOK);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("PyTorch's allocator is not recorded: built for PyTorch 0.0.0"), std::string::npos) << run.err;
  // The driver's own account of memory is there then.
  const ReadBack read(run.file());
  const auto ops = allocations(read.trace);
  EXPECT_EQ(ops.size(), 6U);
  EXPECT_TRUE(read.trace.allocator_states().empty());
}

TEST(RecordTorchAllocator, SaysWhereItsLibraryIsMissing) {
  const Recorded run = record_with("");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("libinterlace_torch_allocator.so is not beside the collector"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace interlace::collector
