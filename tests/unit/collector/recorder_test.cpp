#include "cupti_collector/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/limits.hpp"
#include "tests/support/full_disk.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

bool failing_close = false;

}  // namespace

/// In front of the system's: closes, and says otherwise, as a file of another host may.
extern "C" int close(int descriptor) {
  const auto status = static_cast<int>(syscall(SYS_close, descriptor));
  if (!failing_close) return status;
  errno = EIO;
  return -1;
}

namespace interlace::collector {
namespace {

constexpr std::uint32_t kLaunchCall = 211;

/// A recorder over buffers that the test fills, without threads.
class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    std::vector<std::string> tried;
    cupti_ = load_cupti(FAKE_CUPTI, tried).value();
    recorder_.emplace(&cupti_, pool_, events_, file_);
  }

  template <class... Records>
  void hand_over(const Records&... records) {
    std::uint8_t* buffer = pool_.take();
    std::size_t used = 0;
    const auto add = [&](const auto& record) {
      std::memcpy(buffer + used, &record, sizeof(record));
      used += (sizeof(record) + 7) / 8 * 8;
    };
    (add(records), ...);
    pool_.give_back(buffer, used);
  }

  static CUpti_ActivityAPI call(std::uint32_t correlation) {
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = kLaunchCall;
    call.start = 1'000 + correlation;
    call.end = 1'001 + correlation;
    call.threadId = 9;
    call.correlationId = correlation;
    return call;
  }
  static CUpti_ActivityKernel10 kernel(std::uint32_t correlation, std::uint32_t context = 1) {
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = 2'000 + correlation;
    kernel.end = 2'500 + correlation;
    kernel.contextId = context;
    kernel.streamId = 7;
    kernel.correlationId = correlation;
    kernel.name = "k";
    return kernel;
  }
  /// Device memory that the driver gave.
  static CUpti_ActivityMemory4 memory(std::uint32_t correlation) {
    CUpti_ActivityMemory4 memory{};
    memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory.correlationId = correlation;
    memory.address = 0x1000 * std::uint64_t{correlation};
    memory.bytes = 4096;
    memory.timestamp = 3'000 + correlation;
    memory.contextId = 1;
    memory.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    return memory;
  }
  static CUpti_ActivityDevice5 device() {
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.name = "GPU";
    return device;
  }

  void tell(const hook::Event& event) {
    const std::string_view bytes(reinterpret_cast<const char*>(&event), sizeof(event));
    events_.add(HostEvents::Kind::kAllocator, bytes);
  }

  /// A buffer of so many calls.
  void hand_over_calls(std::uint32_t count) {
    std::uint8_t* buffer = pool_.take();
    for (std::uint32_t i = 0; i < count; ++i) {
      const CUpti_ActivityAPI one = call(++calls_);
      std::memcpy(buffer + i * sizeof(one), &one, sizeof(one));
    }
    pool_.give_back(buffer, count * sizeof(CUpti_ActivityAPI));
  }

  /// What is wrong as the action says; empty where it does not throw.
  static std::string problem_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.problem();
    }
    return {};
  }

  trace::Trace read() { return trace::read_ilt(folder_.path() / "rank0.ilt", diagnostics_); }

  testing::TemporaryFolder folder_;
  CuptiLibrary cupti_;
  static constexpr std::size_t kBufferBytes = 1U << 16U;
  static constexpr std::size_t kPoolBytes = 1U << 24U;
  BufferPool pool_{kBufferBytes, kPoolBytes, 1};
  HostEvents events_;
  RecordingFile file_{{folder_.path(), {}, "run", "test"},
                      {42,
                       [](ApiDomain, std::uint32_t) {
                         return CallTable::Call{"cudaLaunchKernel", CallRole::kLaunch};
                       },
                       [](std::int64_t) { return std::string("main"); }}};
  std::optional<Recorder> recorder_;
  Diagnostics diagnostics_;
  std::uint32_t calls_ = 1;
};

TEST_F(RecorderTest, WaitsForTheDeviceBeforeItNamesTheRank) {
  hand_over(call(1), kernel(1));
  recorder_->collect(1);
  EXPECT_FALSE(file_.is_open());
  hand_over(device());
  recorder_->collect(2);
  ASSERT_TRUE(file_.is_open());
  recorder_->close(3);
  const trace::Trace trace = read();
  EXPECT_EQ(trace.size(), 2U);
  ASSERT_EQ(trace.ranks()[0].devices.size(), 1U);
  EXPECT_EQ(trace.ranks()[0].devices[0].name, "GPU");
  EXPECT_EQ(trace.ranks()[0].run_id, "run");
  EXPECT_EQ(trace.ranks()[0].process_id, 42);
}

TEST_F(RecorderTest, DoesNotWaitForADeviceForEver) {
  hand_over(call(1), kernel(1));
  for (int i = 0; i < 20; ++i) recorder_->collect(i);
  EXPECT_TRUE(file_.is_open());
  EXPECT_EQ(read().size(), 2U) << "the file is readable while it is written";
}

TEST_F(RecorderTest, WritesNothingWhereNothingHappened) {
  hand_over(device());
  for (int i = 0; i < 20; ++i) recorder_->collect(i);
  recorder_->close(21);
  EXPECT_FALSE(file_.is_open());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// PyTorch's allocator may hold something before the device has done anything: there is no file yet.
TEST_F(RecorderTest, KeepsWhatAnAllocatorHoldsUntilThereIsAFile) {
  recorder_->follow_allocator("", false, [this] {
    tell({.action = hook::Action::kSnapshot});
    return std::vector<trace::AllocatorState>(1);
  });
  tell({.address = 1 << 20, .bytes = 512});
  recorder_->stopped(1);
  recorder_->collect(2);
  EXPECT_FALSE(file_.is_open());
  recorder_->resumed(3);
  hand_over(device(), call(1), kernel(1));
  recorder_->collect(4);
  recorder_->close(5);
  EXPECT_GE(read().allocator_states().size(), 1U);
}

TEST_F(RecorderTest, KnowsNoTotalsOfAnAllocatorBehindEventsThatWereLost) {
  recorder_->follow_allocator("", true, [] { return std::vector<trace::AllocatorState>(); });
  constexpr std::uint64_t kSegment = 1 << 20;
  tell({.address = kSegment, .bytes = 4096, .action = hook::Action::kSegmentAlloc});
  tell({.address = kSegment, .bytes = 512});
  hand_over(device(), call(1), kernel(1));
  recorder_->collect(recording_time() + kSecond);
  constexpr int kMoreThanARingHolds = 40'000;
  for (int i = 0; i < kMoreThanARingHolds; ++i) {
    tell({.address = kSegment, .stream = 9, .action = hook::Action::kRecordStream});
  }
  recorder_->collect(recording_time());
  tell({.address = kSegment + 512, .bytes = 512});
  recorder_->close(recording_time());
  const trace::Trace trace = read();
  ASSERT_GT(diagnostics_.count_of("record.lost_allocator_events"), 0);
  std::vector<std::optional<Bytes>> reserved;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::AllocationDetail* detail = trace.allocation({i});
    if (detail == nullptr || detail->action != trace::AllocationAction::kAlloc) continue;
    reserved.push_back(detail->total_reserved);
  }
  EXPECT_EQ(reserved, (std::vector<std::optional<Bytes>>{4096, std::nullopt}));
}

// Who holds the allocator's lock may wait for a GPU that hangs: the program's end is not to wait as for a slow disk.
TEST_F(RecorderTest, TellsWhereItIsWhileItAsksAnAllocator) {
  std::atomic<WriterPlace> place = WriterPlace::kAtDisk;
  std::vector<WriterPlace> seen;
  recorder_.emplace(&cupti_, pool_, events_, file_, &place);
  recorder_->follow_allocator("", false, [&] {
    seen.push_back(place);
    return std::vector<trace::AllocatorState>();
  });
  tell({.address = 1 << 20, .bytes = 512});
  recorder_->stopped(1);
  recorder_->resumed(2);
  hand_over(device(), call(1), kernel(1));
  tell({.address = 1 << 21, .bytes = 512});
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  EXPECT_EQ(seen, (std::vector{WriterPlace::kInAllocator, WriterPlace::kInAllocator}));
  EXPECT_EQ(place, WriterPlace::kAtDisk);
}

// A program may ask for any amount and go on without it; a damaged record may say any. Readers refuse such files.
TEST_F(RecorderTest, WritesNoAmountsThatReadersRefuse) {
  recorder_->follow_allocator("", false, [] { return std::vector<trace::AllocatorState>(); });
  tell({.bytes = std::uint64_t{1} << 62U, .action = hook::Action::kOutOfMemory});
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.bytes = std::uint64_t{1} << 60U;
  copy.start = 2'000;
  copy.end = 3'000;
  copy.contextId = 1;
  copy.streamId = 7;
  hand_over(device(), copy);
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  const trace::Trace trace = read();
  ASSERT_EQ(trace.size(), 2U);
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::CopyDetail* copied = trace.copy({i});
    EXPECT_EQ(copied == nullptr ? trace.allocation({i})->bytes : copied->bytes, trace::kLargestAmount);
  }
}

// CUPTI says 0 where it could collect no times: rows of them would begin in 1970, and span the whole recording.
TEST_F(RecorderTest, CountsCallsAndMemoryWithoutTimes) {
  CUpti_ActivityAPI without = call(2);
  without.start = without.end = 0;
  CUpti_ActivityAPI backwards = call(3);
  backwards.end = backwards.start - 1;
  CUpti_ActivityMemory4 given = memory(4);
  given.timestamp = 0;
  hand_over(device(), call(1), kernel(1), without, kernel(2), backwards, kernel(3), given, memory(5));
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  const trace::Trace trace = read();
  EXPECT_EQ(diagnostics_.count_of("record.untimed_record"), 3);
  EXPECT_EQ(trace.size(), 5U) << "a call, three kernels, and memory that is given at a time";
  EXPECT_EQ(trace.origin(), 1'001) << "the call's";
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    EXPECT_GE(trace.duration({i}), 0);
    const trace::AllocationDetail* detail = trace.allocation({i});
    EXPECT_TRUE(detail == nullptr || detail->total_reserved == 2 * 4096) << "of both";
  }
  EXPECT_EQ(diagnostics_.count_of("record.undelivered_work"), 0);
  EXPECT_EQ(diagnostics_.count_of("record.pending_work"), 0);
}

// Names are kept for ever, by the writer and in what --last keeps.
TEST_F(RecorderTest, TakesNoMoreDifferentNamesThanAllowed) {
  const auto names_of = [&](std::int64_t most, Bytes most_bytes, const std::filesystem::path& folder) {
    std::filesystem::create_directory(folder);
    TraceRows::Source source{42,
                             [](ApiDomain, std::uint32_t) {
                               return CallTable::Call{"c", CallRole::kLaunch};
                             },
                             [](std::int64_t) { return std::string(); }, most, most_bytes};
    RecordingFile file({folder, {}, "run", "test"}, std::move(source));
    Recorder recorder(nullptr, pool_, events_, file);
    for (const char* name : {"first", "second", "third", "fourth", "first", "second", "k"}) {
      events_.add(HostEvents::Kind::kMark, name);
    }
    recorder.collect(recording_time());
    recorder.close(recording_time());
    diagnostics_ = {};
    const trace::Trace trace = trace::read_ilt(folder / "rank0.ilt", diagnostics_);
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < trace.size(); ++i) names.emplace_back(trace.name({i}));
    return names;
  };
  const std::string other = "(other names)";
  const std::vector<std::string> expected{"first", "second", other, other, "first", "second", other};
  EXPECT_EQ(names_of(2, 100, folder_.path() / "by number"), expected);
  EXPECT_EQ(diagnostics_.count_of("record.other_names"), 3);
  EXPECT_EQ(names_of(100, 11, folder_.path() / "by bytes"), expected) << "of five and six";
  EXPECT_EQ(diagnostics_.count_of("record.other_names"), 3);
}

// Attached in the midst of a program that then only replays graphs: nothing goes through it.
TEST_F(RecorderTest, KeepsTheDriversMemoryWhereAnAllocatorThatWasThereTellsOfNothing) {
  recorder_->follow_allocator("", false, [] { return std::vector<trace::AllocatorState>(); });
  tell({.address = 1 << 20, .action = hook::Action::kRecordStream});  // by the forwarder
  hand_over(device(), call(1), kernel(1), memory(2));
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  EXPECT_EQ(read().size(), 4U) << "the call, the kernel, the driver's memory and record_stream";
  EXPECT_EQ(diagnostics_.count_of("record.silent_allocator"), 1);
  EXPECT_EQ(diagnostics_.count_of("record.driver_memory"), 0);
}

TEST_F(RecorderTest, LeavesTheDriversMemoryOutOnceAnAllocatorTells) {
  recorder_->follow_allocator("", false, [] { return std::vector<trace::AllocatorState>(); });
  hand_over(device(), call(1), kernel(1), memory(2));
  recorder_->collect(recording_time());
  recorder_->collect(recording_time());  // its call is not waited for any more
  tell({.address = 1 << 20, .bytes = 512});
  hand_over(memory(3));
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  EXPECT_EQ(read().size(), 4U) << "the call, the kernel, the driver's first memory and the block";
  EXPECT_EQ(diagnostics_.count_of("record.silent_allocator"), 0);
  EXPECT_EQ(diagnostics_.count_of("record.driver_memory"), 1);
}

TEST_F(RecorderTest, EachCollectedPartIsReadableAtOnce) {
  hand_over(device(), call(1));
  recorder_->collect(1);
  EXPECT_EQ(read().size(), 1U);
  EXPECT_EQ(diagnostics_.count_of("record.pending_work"), 1) << "the launch is told of, its kernel is to come";
  hand_over(kernel(1));
  recorder_->collect(2);
  diagnostics_ = {};
  EXPECT_EQ(read().size(), 2U);
  EXPECT_EQ(diagnostics_.count_of("record.pending_work"), 0);
}

TEST_F(RecorderTest, KeepsStreamsOfTwoContextsApart) {
  hand_over(device(), call(1), call(2), kernel(1, 1), kernel(2, 2));
  recorder_->collect(1);
  recorder_->close(2);
  const trace::Trace trace = read();
  std::int64_t streams = 0;
  for (const trace::Lane& lane : trace.lanes()) streams += lane.kind == trace::LaneKind::kStream ? 1 : 0;
  EXPECT_EQ(streams, 2);
}

TEST_F(RecorderTest, HoldsFactsOfAStreamUntilItsDeviceIsKnown) {
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.contextId = 5;
  wait.streamId = 7;
  wait.correlationId = 3;
  hand_over(device(), call(1), wait);
  recorder_->collect(1);
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 5;
  hand_over(context);
  recorder_->collect(2);
  recorder_->close(3);
  const trace::Trace trace = read();
  bool has_stream = false;
  for (const trace::Lane& lane : trace.lanes()) has_stream = has_stream || lane.number == 7;
  EXPECT_TRUE(has_stream);
}

TEST_F(RecorderTest, GivesRangesThatNobodyEndsNoLength) {
  events_.add(HostEvents::Kind::kPush, "outer");
  events_.add(HostEvents::Kind::kPush, "inner");
  events_.add(HostEvents::Kind::kPop, {});
  events_.add(HostEvents::Kind::kPop, {});
  events_.add(HostEvents::Kind::kPop, {});
  events_.add(HostEvents::Kind::kPush, "open");
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  const trace::Trace trace = read();
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(diagnostics_.count_of("record.open_range"), 1);
  ASSERT_EQ(trace.notes().size(), 1U);
  const auto& [open, note] = trace.notes()[0];
  EXPECT_EQ(trace.name(open), "open");
  EXPECT_TRUE(note.is_open);
  EXPECT_EQ(trace.duration(open), 0);
  EXPECT_EQ(trace.range(open)->kind, trace::RangeKind::kOther) << "it divides nothing";
  EXPECT_EQ(diagnostics_.count_of("record.unmatched_pop"), 1);
  EXPECT_EQ(trace.lanes()[0].name, "main");
}

TEST_F(RecorderTest, KeepsTheNewestOfWhatIsSaidLongBeforeDeviceWork) {
  constexpr std::int64_t kKept = 100'000;
  constexpr std::int64_t kMarks = kKept + 20'000;
  for (std::int64_t i = 0; i < kMarks; ++i) {
    events_.add(HostEvents::Kind::kMark, "m");
    if (i % 10'000 == 0) recorder_->collect(recording_time());
  }
  hand_over(device(), call(1), kernel(1));
  recorder_->collect(recording_time());
  recorder_->close(recording_time());
  EXPECT_EQ(static_cast<std::int64_t>(read().size()), kKept + 2);
  EXPECT_EQ(diagnostics_.count_of("record.left_out_early"), kMarks - kKept);
  EXPECT_EQ(diagnostics_.count_of("record.lost_marks"), 0);
}

TEST_F(RecorderTest, CountsRecordsOfKindsThatItDidNotAskFor) {
  CUpti_ActivityName name{};
  name.kind = CUPTI_ACTIVITY_KIND_NAME;
  hand_over(device(), call(1), name, kernel(1));
  recorder_->collect(1);
  recorder_->close(2);
  EXPECT_EQ(read().size(), 2U);
  EXPECT_EQ(diagnostics_.count_of("record.unknown_record"), 1);
}

// The writer writes 65,536 rows at once: in the midst of the batch.
TEST_F(RecorderTest, GivesEachBufferBackOnceWhereWritingFails) {
  constexpr std::int64_t kBuffers = 70;
  constexpr std::int64_t kCalls = 1'000;
  constexpr std::int64_t kWritten = 65'536 / kCalls;  // whole ones, before the one in which writing fails
  static_assert(sizeof(CUpti_ActivityAPI) % 8 == 0 && kCalls * sizeof(CUpti_ActivityAPI) <= kBufferBytes);
  hand_over(device(), call(1));
  recorder_->collect(1);
  for (std::int64_t i = 0; i < kBuffers; ++i) hand_over_calls(kCalls);
  {
    const testing::FullDisk limit(std::filesystem::file_size(file_.path()));
    EXPECT_EQ(problem_of([&] { recorder_->collect(2); }), "writing failed: File too large");
  }
  recorder_->discard();
  EXPECT_EQ(recorder_->discarded_buffers(), kBuffers - kWritten);
  std::set<std::uint8_t*> lent;
  while (std::uint8_t* buffer = pool_.take()) {
    ASSERT_TRUE(lent.insert(buffer).second) << "lent twice";
  }
  EXPECT_EQ(lent.size(), kPoolBytes / kBufferBytes);
  for (std::uint8_t* buffer : lent) pool_.give_back(buffer, 0);
}

TEST_F(RecorderTest, SaysWhereClosingTheFileFailed) {
  hand_over(device(), call(1));
  recorder_->collect(1);
  failing_close = true;
  EXPECT_EQ(problem_of([&] { recorder_->close(2); }), "closing it failed: Input/output error");
  failing_close = false;
}

TEST_F(RecorderTest, CountsBrokenBuffers) {
  hand_over(device(), call(1), kernel(1));
  CUpti_ActivityAPI damaged = call(2);
  damaged.kind = CUPTI_ACTIVITY_KIND_FORCE_INT;
  hand_over(call(3), damaged);
  recorder_->collect(1);
  recorder_->close(2);
  EXPECT_EQ(read().size(), 3U);
  EXPECT_EQ(diagnostics_.count_of("record.broken_buffer"), 1);
}

}  // namespace
}  // namespace interlace::collector
