// Plays a recorded session to whoever records this program: replay_program FILE.ilt WAY. Each operation of the
// recording becomes the record that CUPTI made of it, in a buffer of its thread, at the time it had; device work comes
// in the order in which it ended.
//
// WAY: plain; shuffled: buffers come back in any order, the last of a while before the first; late_records: what is
// known of event records comes after all waits for them; wrap: correlations pass the end of 32 bits; drops: of every
// 50th operation of the device CUPTI says that it had no buffer.
#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/trace/ilt/reader.hpp"
#include "tests/support/fake_cuda/fake_cuda.hpp"

namespace {

using namespace interlace;  // what is played here
using trace::OperationId;
using trace::OperationKind;

constexpr std::uint32_t kContext = 1;
constexpr std::uint32_t kNoValue = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
constexpr std::uint32_t kNotReady = 600;
constexpr std::int64_t kDeviceThread = 0;  ///< records of device work have a buffer of their own
constexpr std::size_t kDropEach = 50;
/// Buffers come back after so many records; the shuffled way holds so many rounds of them.
constexpr std::size_t kRecordsABuffer = 200;
constexpr std::size_t kRoundsHeld = 8;

/// A record, and when and from where CUPTI would have it.
struct Record {
  std::int64_t time = 0;
  std::int64_t thread = kDeviceThread;
  bool is_of_event_record = false;
  std::vector<std::uint8_t> bytes;
};

class Session {
 public:
  Session(const trace::Trace& session, bool wraps) : session_(session) {
    constexpr std::uint32_t kAll = 0xFFFFFFFF;
    first_correlation_ = wraps ? kAll - static_cast<std::uint32_t>(session.size()) / 2 : 1;
    name_calls();
  }

  [[nodiscard]] std::vector<Record> records() {
    add_places();
    for (std::uint32_t i = 0; i < session_.size(); ++i) add({i});
    std::ranges::stable_sort(records_, {}, &Record::time);
    return std::move(records_);
  }

 private:
  [[nodiscard]] std::uint32_t correlation(OperationId op) const { return first_correlation_ + op.value; }
  [[nodiscard]] std::uint64_t start(OperationId op) const {
    return static_cast<std::uint64_t>(session_.start(op) + session_.origin());
  }
  [[nodiscard]] std::uint64_t end(OperationId op) const {
    return static_cast<std::uint64_t>(session_.end(op) + session_.origin());
  }
  [[nodiscard]] std::uint32_t number_of(trace::LaneId lane) const {
    return static_cast<std::uint32_t>(session_.lane(lane).number);
  }
  [[nodiscard]] static bool is_of_driver(std::string_view name) { return !name.starts_with("cuda"); }

  /// The fake CUPTI names functions as the session does.
  void name_calls() {
    for (std::uint32_t i = 0; i < session_.size(); ++i) {
      const OperationKind kind = session_.kind({i});
      if (kind < OperationKind::kHostCall || kind > OperationKind::kHostSync) continue;
      const std::string name(session_.name({i}));
      const auto next = static_cast<std::uint32_t>(functions_.size() + 1);
      if (!functions_.try_emplace(name, next).second) continue;
      fake_cuda_name_call(is_of_driver(name) ? 1 : 0, next, name.c_str());
    }
  }

  template <class Raw>
  void put(const Raw& raw, std::int64_t time, std::int64_t thread, bool is_of_event_record = false) {
    Record record{time, thread, is_of_event_record, std::vector<std::uint8_t>(sizeof(raw))};
    std::memcpy(record.bytes.data(), &raw, sizeof(raw));
    records_.push_back(std::move(record));
  }

  void add_places() {
    for (const trace::Device& facts : session_.ranks()[0].devices) {
      CUpti_ActivityDevice5 device{};
      device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
      device.id = static_cast<std::uint32_t>(facts.ordinal);
      device.name = facts.name.c_str();
      device.numMultiprocessors = static_cast<std::uint32_t>(facts.sm_count);
      put(device, 0, kDeviceThread);
    }
    for (const trace::Lane& lane : session_.lanes()) {
      if (lane.kind != trace::LaneKind::kStream) continue;
      CUpti_ActivityContext3 context{};
      context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
      context.contextId = kContext;
      context.deviceId = static_cast<std::uint32_t>(lane.process);
      put(context, 0, kDeviceThread);
      CUpti_ActivityStream stream{};
      stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
      stream.contextId = kContext;
      stream.streamId = static_cast<std::uint32_t>(lane.number);
      stream.priority = static_cast<std::uint32_t>(lane.priority.value_or(0));
      stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
      if (lane.name == "default") stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
      if (lane.name == "non-blocking") stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
      put(stream, 0, kDeviceThread);
    }
  }

  void add(OperationId op) {
    switch (session_.kind(op)) {
      case OperationKind::kKernel:
      case OperationKind::kCollective: add_kernel(op); break;
      case OperationKind::kCopy: add_copy(op); break;
      case OperationKind::kMemset: add_memset(op); break;
      case OperationKind::kHostCall:
      case OperationKind::kEventRecord:
      case OperationKind::kStreamWait:
      case OperationKind::kHostSync: add_call(op); break;
      default: break;  // not of CUPTI
    }
  }

  /// What all device work has.
  template <class Raw>
  Raw device_work(OperationId op, CUpti_ActivityKind kind) const {
    Raw raw{};
    raw.kind = kind;
    raw.start = start(op);
    raw.end = end(op);
    raw.deviceId = static_cast<std::uint32_t>(session_.lane(session_.lane_of(op)).process);
    raw.contextId = kContext;
    raw.streamId = number_of(session_.lane_of(op));
    raw.correlationId = correlation(session_.launch_of(op).value_or(op));
    return raw;
  }

  void add_kernel(OperationId op) {
    const trace::KernelDetail& detail = *session_.kernel(op);
    auto raw = device_work<CUpti_ActivityKernel10>(op, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    raw.name = session_.text(session_.names()[op.index()]).data();  // ends with a zero: it is a whole string
    raw.gridX = detail.grid[0];
    raw.gridY = detail.grid[1];
    raw.gridZ = detail.grid[2];
    raw.blockX = detail.block[0];
    raw.blockY = detail.block[1];
    raw.blockZ = detail.block[2];
    raw.registersPerThread = static_cast<std::uint16_t>(detail.registers_per_thread);
    raw.staticSharedMemory = static_cast<std::int32_t>(detail.shared_memory);
    raw.graphNodeId = static_cast<std::uint64_t>(detail.graph_node.value_or(0));
    put(raw, static_cast<std::int64_t>(raw.end), kDeviceThread);
  }

  [[nodiscard]] static std::uint8_t memory_kind(trace::MemorySpace space) {
    switch (space) {
      case trace::MemorySpace::kDevice: return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
      case trace::MemorySpace::kPinned: return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
      case trace::MemorySpace::kPageable: return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
      case trace::MemorySpace::kManaged: return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
      case trace::MemorySpace::kUnknown: break;
    }
    return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
  }

  void add_copy(OperationId op) {
    const trace::CopyDetail& detail = *session_.copy(op);
    auto raw = device_work<CUpti_ActivityMemcpy6>(op, CUPTI_ACTIVITY_KIND_MEMCPY);
    static const std::map<std::string_view, std::uint8_t> directions{{"HtoD", CUPTI_ACTIVITY_MEMCPY_KIND_HTOD},
                                                                     {"DtoH", CUPTI_ACTIVITY_MEMCPY_KIND_DTOH},
                                                                     {"DtoD", CUPTI_ACTIVITY_MEMCPY_KIND_DTOD},
                                                                     {"HtoH", CUPTI_ACTIVITY_MEMCPY_KIND_HTOH},
                                                                     {"PtoP", CUPTI_ACTIVITY_MEMCPY_KIND_PTOP}};
    raw.copyKind = directions.at(session_.name(op).substr(std::string_view("Memcpy ").size(), 4));
    raw.srcKind = memory_kind(detail.source);
    raw.dstKind = memory_kind(detail.destination);
    raw.bytes = static_cast<std::uint64_t>(detail.bytes);
    put(raw, static_cast<std::int64_t>(raw.end), kDeviceThread);
  }

  void add_memset(OperationId op) {
    auto raw = device_work<CUpti_ActivityMemset4>(op, CUPTI_ACTIVITY_KIND_MEMSET);
    raw.bytes = static_cast<std::uint64_t>(session_.copy(op)->bytes);
    raw.memoryKind = memory_kind(session_.copy(op)->destination);
    put(raw, static_cast<std::int64_t>(raw.end), kDeviceThread);
  }

  void add_call(OperationId op) {
    const std::int64_t thread = session_.lane(session_.lane_of(op)).number;
    const auto time = static_cast<std::int64_t>(end(op));
    const trace::SyncDetail* sync = session_.sync(op);
    if (sync != nullptr && (sync->stream || sync->event)) add_fact(op, *sync, time, thread);
    CUpti_ActivityAPI raw{};
    raw.kind = is_of_driver(session_.name(op)) ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
    raw.cbid = functions_.at(std::string(session_.name(op)));
    raw.start = start(op);
    raw.end = end(op);
    raw.threadId = static_cast<std::uint32_t>(thread);
    raw.correlationId = correlation(op);
    const bool is_query = session_.name(op).find("Query") != std::string_view::npos;
    if (is_query && sync == nullptr) raw.returnValue = kNotReady;
    put(raw, time, thread);
  }

  void add_fact(OperationId op, const trace::SyncDetail& detail, std::int64_t time, std::int64_t thread) {
    if (detail.kind == trace::SyncKind::kEventRecord) {
      if (!detail.stream) return;
      CUpti_ActivityCudaEvent2 raw{};
      raw.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
      raw.correlationId = correlation(op);
      raw.contextId = kContext;
      raw.streamId = number_of(*detail.stream);
      raw.eventId = static_cast<std::uint32_t>(detail.event.value_or(kNoValue));
      raw.deviceId = static_cast<std::uint32_t>(session_.lane(*detail.stream).process);
      raw.cudaEventSyncId = op.value + 1;
      put(raw, time, thread, true);
      return;
    }
    static const std::map<trace::SyncKind, CUpti_ActivitySynchronizationType> types{
        {trace::SyncKind::kStreamWaitEvent, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT},
        {trace::SyncKind::kStreamSync, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE},
        {trace::SyncKind::kEventSync, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE},
        {trace::SyncKind::kEventQuery, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE}};
    const auto type = types.find(detail.kind);
    if (type == types.end()) return;
    CUpti_ActivitySynchronization2 raw{};
    raw.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    raw.type = type->second;
    raw.correlationId = correlation(op);
    raw.contextId = kContext;
    raw.streamId = detail.stream ? number_of(*detail.stream) : kNoValue;
    raw.cudaEventId = static_cast<std::uint32_t>(detail.event.value_or(kNoValue));
    raw.cudaEventSyncId = detail.record ? detail.record->value + 1 : 0;
    put(raw, time, thread);
  }

  const trace::Trace& session_;
  std::uint32_t first_correlation_ = 1;
  std::map<std::string, std::uint32_t> functions_;
  std::vector<Record> records_;
};

void play(const std::vector<Record>& records, const std::string& way) {
  const bool shuffles = way == "shuffled";
  std::uint32_t seed = 0;  // the same orders in each run
  std::size_t in_buffers = 0;
  std::size_t rounds = 0;
  std::size_t of_device = 0;
  for (const Record& record : records) {
    const bool is_of_device = record.thread == kDeviceThread && record.time > 0;
    if (is_of_device && way == "drops" && ++of_device % kDropEach == 0) {
      fake_cuda_drop();
      continue;
    }
    // In the shuffled way a thread has several buffers under way at once.
    const std::int64_t buffer = record.thread * static_cast<std::int64_t>(kRoundsHeld) +
                                static_cast<std::int64_t>(shuffles ? rounds % kRoundsHeld : 0);
    fake_cuda_deliver(buffer, record.bytes.data(), record.bytes.size());
    if (++in_buffers % kRecordsABuffer != 0) continue;
    ++rounds;
    if (!shuffles || rounds % kRoundsHeld == 0) fake_cuda_hand_over(shuffles ? ++seed : 0);
  }
  fake_cuda_hand_over(shuffles ? ++seed : 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string way = argv[2];
  Diagnostics diagnostics;
  // Left to the end of the process: names in records are read until then, as those of CUPTI can be.
  const auto* session = new trace::Trace(trace::read_ilt(std::filesystem::path(argv[1]), diagnostics));
  Session player(*session, way == "wrap");
  std::vector<Record> records = player.records();
  if (way == "late_records")
    std::ranges::stable_partition(records, [](const Record& r) { return !r.is_of_event_record; });
  std::cout << "injected " << fake_cuda_init() << std::endl;
  play(records, way);
  std::cout << "played " << records.size() << std::endl;
  return 0;
}
