#include "cupti_collector/decode.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace interlace::collector {
namespace {

/// Keeps what it is given.
struct Kept : RecordSink {
  void on(const KernelRecord& kernel) override { kernels.push_back(kernel); }
  void on(const CopyRecord& copy) override { copies.push_back(copy); }
  void on(const GraphRecord&) override {}
  void on(const CallRecord& call) override { calls.push_back(call); }
  void on(const EventRecord& event) override { events.push_back(event); }
  void on(const SyncRecord& sync) override { syncs.push_back(sync); }
  void on(const StreamRecord& stream) override { streams.push_back(stream); }
  void on(const ContextRecord&) override {}
  void on(const DeviceRecord&) override {}
  void on(const OverheadRecord&) override {}
  void on(const AllocationRecord& allocation) override { allocations.push_back(allocation); }
  void on(const ExternalRecord& external) override { externals.push_back(external); }

  std::vector<KernelRecord> kernels;
  std::vector<CopyRecord> copies;
  std::vector<CallRecord> calls;
  std::vector<EventRecord> events;
  std::vector<SyncRecord> syncs;
  std::vector<StreamRecord> streams;
  std::vector<AllocationRecord> allocations;
  std::vector<ExternalRecord> externals;
};

/// A buffer of real structs, as CUPTI lays them: one after another, each a multiple of eight bytes.
class RawBuffer {
 public:
  template <class Record>
  void add(const Record& record, std::size_t bytes = sizeof(Record)) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + (bytes + 7) / 8 * 8);
    std::memcpy(&bytes_[at], &record, std::min(bytes, sizeof(record)));
  }
  DecodeResult decode_into(RecordSink& sink) {
    return decode(cupti(), bytes_.data(), bytes_.size(), sink, Reading::kLast);
  }

 private:
  static const CuptiLibrary& cupti() {
    static std::vector<std::string> tried;
    static const CuptiLibrary library = load_cupti(FAKE_CUPTI, tried).value();
    return library;
  }
  std::vector<std::uint8_t> bytes_;
};

class Decode : public ::testing::Test {
 protected:
  ~Decode() override { unsetenv("FAKE_CUDA_VERSION"); }
  RawBuffer buffer_;
  Kept kept_;
};

TEST_F(Decode, FindsTheLibraryThatIsNamed) {
  std::vector<std::string> tried;
  const auto cupti = load_cupti(FAKE_CUPTI, tried);
  ASSERT_TRUE(cupti);
  EXPECT_EQ(cupti->version, 130001U);
  EXPECT_NE(cupti->path.find("libcupti.so"), std::string::npos);
  EXPECT_FALSE(load_cupti("/no/such/libcupti.so", tried));
  EXPECT_EQ(tried, std::vector<std::string>{"/no/such/libcupti.so"});
}

TEST_F(Decode, GivesAKernel) {
  CUpti_ActivityKernel10 raw{};
  raw.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  raw.start = 100;
  raw.end = 250;
  raw.deviceId = 1;
  raw.contextId = 2;
  raw.streamId = 13;
  raw.correlationId = 77;
  raw.name = "name";
  raw.gridX = 3;
  raw.gridY = 4;
  raw.gridZ = 5;
  raw.blockX = 64;
  raw.registersPerThread = 40;
  raw.staticSharedMemory = 10;
  raw.dynamicSharedMemory = 20;
  raw.graphNodeId = 9;
  buffer_.add(raw);
  const DecodeResult result = buffer_.decode_into(kept_);
  EXPECT_TRUE(result.is_whole);
  EXPECT_EQ(result.records, 1);
  ASSERT_EQ(kept_.kernels.size(), 1U);
  const KernelRecord& kernel = kept_.kernels[0];
  EXPECT_EQ(kernel.start, 100U);
  EXPECT_EQ(kernel.end, 250U);
  EXPECT_EQ(kernel.device, 1U);
  EXPECT_EQ(kernel.context, 2U);
  EXPECT_EQ(kernel.stream, 13U);
  EXPECT_EQ(kernel.correlation, 77U);
  EXPECT_EQ(kernel.grid, (std::array{3, 4, 5}));
  EXPECT_EQ(kernel.block[0], 64);
  EXPECT_EQ(kernel.registers, 40);
  EXPECT_EQ(kernel.shared_bytes, 30);
  EXPECT_EQ(kernel.graph_node, 9U);
}

TEST_F(Decode, TellsNoneFromZero) {
  CUpti_ActivitySynchronization2 sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  sync.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  sync.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  sync.cudaEventSyncId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  buffer_.add(sync);
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  sync.streamId = 0;
  sync.cudaEventId = 0;
  sync.cudaEventSyncId = 0;  // an event that was never recorded
  buffer_.add(sync);
  sync.cudaEventSyncId = 5;
  buffer_.add(sync);
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  buffer_.add(kernel);
  static_cast<void>(buffer_.decode_into(kept_));
  ASSERT_EQ(kept_.syncs.size(), 3U);
  EXPECT_EQ(kept_.syncs[0].stream, std::nullopt);
  EXPECT_EQ(kept_.syncs[0].event, std::nullopt);
  EXPECT_EQ(kept_.syncs[0].number, std::nullopt);
  EXPECT_EQ(kept_.syncs[1].stream, 0U);
  EXPECT_EQ(kept_.syncs[1].event, 0U);
  EXPECT_EQ(kept_.syncs[1].number, std::nullopt);
  EXPECT_EQ(kept_.syncs[2].number, 5U);
  EXPECT_EQ(kept_.kernels.at(0).graph_node, std::nullopt);
}

TEST_F(Decode, ReadsOlderLayoutsByWhatTheyHave) {
  setenv("FAKE_CUDA_VERSION", "24", 1);  // CUDA 12.6
  CUpti_ActivityCudaEvent event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.correlationId = 3;
  event.streamId = 4;
  event.eventId = 5;
  buffer_.add(event);
  CUpti_ActivityKernel9 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.end = 77;  // lies where the event's number would be in newer layouts
  kernel.correlationId = 6;
  kernel.graphNodeId = 7;
  buffer_.add(kernel);
  CUpti_ActivitySynchronization sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  sync.cudaEventId = 5;
  buffer_.add(sync);
  const DecodeResult result = buffer_.decode_into(kept_);
  EXPECT_EQ(result.too_short, 0);
  ASSERT_EQ(kept_.events.size(), 1U);
  EXPECT_EQ(kept_.events[0].event, 5U);
  EXPECT_EQ(kept_.events[0].number, std::nullopt) << "the next record's bytes are not this one's";
  EXPECT_EQ(kept_.events[0].device, std::nullopt);
  EXPECT_EQ(kept_.kernels.at(0).graph_node, 7U);
  EXPECT_EQ(kept_.syncs.at(0).number, std::nullopt);
}

TEST_F(Decode, SaysWhereABufferIsBroken) {
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  buffer_.add(call);
  CUpti_ActivityAPI damaged{};
  damaged.kind = CUPTI_ACTIVITY_KIND_FORCE_INT;
  buffer_.add(damaged);
  const DecodeResult result = buffer_.decode_into(kept_);
  EXPECT_FALSE(result.is_whole);
  EXPECT_EQ(kept_.calls.size(), 1U) << "what stands before is kept";
}

TEST_F(Decode, KeepsNegativePriorities) {
  CUpti_ActivityStream stream{};
  stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
  stream.priority = static_cast<std::uint32_t>(-5);
  stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
  buffer_.add(stream);
  static_cast<void>(buffer_.decode_into(kept_));
  EXPECT_EQ(kept_.streams.at(0).priority, -5);
  EXPECT_EQ(kept_.streams.at(0).flag, StreamFlag::kNull);
}

}  // namespace
}  // namespace interlace::collector
