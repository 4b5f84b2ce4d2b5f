#pragma once

#include <cupti.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_cuda/fake_cuda.hpp"

/// What the fake driver and the fake CUPTI share.
namespace interlace::testing::fake_cuda {

inline constexpr std::uint32_t kContext = 1;
inline constexpr std::uint32_t kNullStream = 7;
inline constexpr std::uint64_t kFirstHandle = 0x5500'0000;
inline constexpr CUpti_CallbackId kLaunchCall = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
inline constexpr CUpti_CallbackId kGraphCall = CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000;
inline constexpr CUpti_CallbackId kBeginCaptureCall = CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000;
inline constexpr CUpti_CallbackId kEndCaptureCall = CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000;
inline constexpr CUpti_CallbackId kMallocCall = CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020;
inline constexpr CUpti_CallbackId kFreeCall = CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020;
inline constexpr CUpti_CallbackId kCopyCall = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
inline constexpr CUpti_CallbackId kRecordCall = CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020;
inline constexpr CUpti_CallbackId kWaitCall = CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020;
inline constexpr CUpti_CallbackId kQueryCall = CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020;
inline constexpr CUpti_CallbackId kSyncCall = CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020;
inline constexpr CUpti_CallbackId kGetDeviceCall = CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020;

inline const char* setting(const char* name) { return std::getenv(name); }
inline bool is_set(const char* name) { return setting(name) != nullptr; }

inline std::uint32_t version() {
  const char* text = setting("FAKE_CUDA_VERSION");
  return text == nullptr ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::atoi(text));
}

inline std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(time.tv_nsec);
}

inline std::size_t align8(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// What a record of this kind takes in a buffer of the version that is played.
inline std::size_t record_bytes(CUpti_ActivityKind kind) {
  constexpr std::uint32_t kCuda128 = 26;
  constexpr std::uint32_t kCuda130 = 130000;
  const std::uint32_t played = version();
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return align8(played < kCuda130 ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel10));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivityMemcpy5) : sizeof(CUpti_ActivityMemcpy6));
    case CUPTI_ACTIVITY_KIND_MEMSET: return align8(sizeof(CUpti_ActivityMemset4));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivityCudaEvent) : sizeof(CUpti_ActivityCudaEvent2));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivitySynchronization) : sizeof(CUpti_ActivitySynchronization2));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return align8(sizeof(CUpti_ActivityGraphTrace2));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivityMemory3) : sizeof(CUpti_ActivityMemory4));
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME: return align8(sizeof(CUpti_ActivityAPI));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return align8(sizeof(CUpti_ActivityExternalCorrelation));
    case CUPTI_ACTIVITY_KIND_STREAM: return align8(sizeof(CUpti_ActivityStream));
    case CUPTI_ACTIVITY_KIND_CONTEXT: return align8(sizeof(CUpti_ActivityContext3));
    case CUPTI_ACTIVITY_KIND_NAME: return align8(sizeof(CUpti_ActivityName));
    case CUPTI_ACTIVITY_KIND_DEVICE: return align8(sizeof(CUpti_ActivityDevice5));
    default: return 0;
  }
}

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

/// A device record that waits for the work to end.
struct Running {
  std::uint64_t end = 0;
  int fate = kFakeNormal;
  std::vector<std::uint8_t> record;
};

struct Fake {
  std::mutex mutex;
  bool is_subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<int> kinds;
  std::set<CUpti_CallbackId> muted;
  std::set<CUpti_CallbackId> chosen;
  std::set<CUpti_CallbackId> chosen_driver;
  std::set<CUpti_CallbackId> muted_driver;
  std::set<std::pair<int, CUpti_CallbackId>> callbacks;
  std::map<std::pair<bool, CUpti_CallbackId>, std::string> names;  ///< of played sessions, by whether of the driver
  std::map<std::int64_t, Buffer> buffers;                          ///< by thread
  std::map<std::uint32_t, std::uint64_t> stream_free_at;
  std::map<std::uint32_t, std::deque<Running>> running;  ///< by stream
  std::map<std::uint32_t, std::uint64_t> record_of_event;
  std::map<std::uint32_t, std::uint64_t> event_done_at;
  std::vector<std::vector<std::uint8_t>> held;          ///< facts of records, given after those of waits
  std::map<int, std::vector<std::uint64_t>> externals;  ///< ids that the program pushed, by kind
  bool waits_first = false;
  bool has_context = false;
  std::uint32_t next_correlation = 1;
  std::uint64_t next_record = 1;
  std::size_t dropped = 0;
  std::int64_t out = 0;
  std::int64_t flushes = 0;
};

inline Fake& fake() {
  static auto* all = [] {
    // A forked child goes on with the driver's state as it was, whatever other threads did.
    pthread_atfork([] { fake().mutex.lock(); }, [] { fake().mutex.unlock(); }, [] { fake().mutex.unlock(); });
    return new Fake;  // outlives every thread
  }();
  return *all;
}

inline std::int64_t this_thread() {
  thread_local const std::int64_t id = syscall(SYS_gettid);
  return id;
}

inline void give_back(Buffer& buffer) {
  if (buffer.data == nullptr) return;
  --fake().out;
  fake().complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
  buffer = {};
}

/// Appends a record to the buffer of this number.
inline void append(std::int64_t number, const void* record, std::size_t bytes) {
  Fake& cuda = fake();
  if (cuda.request == nullptr) return;
  Buffer& buffer = cuda.buffers[number];
  if (buffer.data != nullptr && buffer.used + bytes > buffer.size) give_back(buffer);
  if (buffer.data == nullptr) {
    std::size_t most_records = 0;
    cuda.request(&buffer.data, &buffer.size, &most_records);
    buffer.used = 0;
    constexpr std::uint32_t kCuda129 = 27;
    if (buffer.data == nullptr && version() < kCuda129) std::abort();  // older ones write to it
    if (buffer.data == nullptr) {
      ++cuda.dropped;
      return;
    }
    ++cuda.out;
    if (*buffer.data != 0 || std::memcmp(buffer.data, buffer.data + 1, buffer.size - 1) != 0) {
      std::abort();  // the collector promised cleared buffers
    }
  }
  std::memcpy(buffer.data + buffer.used, record, bytes);
  buffer.used += bytes;
}

/// To the buffer of this thread.
inline void append(const void* record, std::size_t bytes) { append(this_thread(), record, bytes); }

template <class Record>
inline std::vector<std::uint8_t> bytes_of(Record record) {
  const std::size_t bytes = record_bytes(static_cast<CUpti_ActivityKind>(record.kind));
  std::vector<std::uint8_t> copy(bytes, 0);
  std::memcpy(copy.data(), &record, std::min(bytes, sizeof(record)));
  return copy;
}

template <class Record>
inline void append(const Record& record) {
  const auto bytes = bytes_of(record);
  append(bytes.data(), bytes.size());
}

inline bool is_on(CUpti_ActivityKind kind) { return fake().kinds.count(kind) > 0; }

inline bool is_recorded(CUpti_CallbackId call) {
  const Fake& cuda = fake();
  return is_on(CUPTI_ACTIVITY_KIND_RUNTIME) ? cuda.muted.count(call) == 0 : cuda.chosen.count(call) > 0;
}

/// CUPTI tells of them for every call, recorded or not, before it tells of the call.
inline void add_externals(std::uint32_t correlation) {
  if (!is_on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  for (const auto& [kind, ids] : fake().externals) {
    if (ids.empty()) continue;
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    record.externalId = ids.back();
    record.correlationId = correlation;
    append(record);
  }
}

inline void add_call(CUpti_CallbackId call, std::uint32_t correlation, std::uint64_t start, std::uint32_t result = 0) {
  add_externals(correlation);
  if (!is_recorded(call)) return;
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = call;
  record.start = start;
  record.end = now();
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = static_cast<std::uint32_t>(this_thread());
  record.correlationId = correlation;
  record.returnValue = result;
  append(record);
}

/// A call of the driver that the program makes itself; those within calls of the runtime are not told of.
inline void add_driver_call(CUpti_CallbackId call, std::uint32_t correlation, std::uint64_t start) {
  const Fake& cuda = fake();
  const bool is_of_all = is_on(CUPTI_ACTIVITY_KIND_DRIVER) && cuda.muted_driver.count(call) == 0;
  if (!is_of_all && cuda.chosen_driver.count(call) == 0) return;
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = call;
  record.start = start;
  record.end = now();
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = static_cast<std::uint32_t>(this_thread());
  record.correlationId = correlation;
  append(record);
}

inline void add_context() {
  Fake& cuda = fake();
  if (cuda.has_context) return;
  cuda.has_context = true;
  if (is_on(CUPTI_ACTIVITY_KIND_DEVICE)) {
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.id = 0;
    device.name = "Fake GPU";
    device.computeCapabilityMajor = 9;
    device.numMultiprocessors = 132;
    device.numThreadsPerWarp = 32;
    device.maxWarpsPerMultiprocessor = 64;
    device.globalMemorySize = std::uint64_t{141} << 30U;
    append(device);
  }
  if (is_on(CUPTI_ACTIVITY_KIND_CONTEXT)) {
    CUpti_ActivityContext3 context{};
    context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
    context.contextId = kContext;
    context.nullStreamId = kNullStream;
    append(context);
  }
}

/// Gives the records of work that has ended by now; all of it, unfinished, where forced.
inline void settle(bool is_forced) {
  const std::uint64_t time = now();
  for (auto& [stream, works] : fake().running) {
    for (; !works.empty() && (is_forced || works.front().end <= time); works.pop_front()) {
      Running& work = works.front();
      if (work.fate == kFakeUndelivered) continue;
      // Work that was launched before is recorded where it ends after its kind was turned on, as CUPTI does.
      if (!is_forced && !is_on(reinterpret_cast<CUpti_Activity*>(work.record.data())->kind)) continue;
      if (work.fate == kFakeUntimed || work.end > time) {
        // Kernels and copies have their times at different places; both are found by kind.
        auto* kernel = reinterpret_cast<CUpti_ActivityKernel10*>(work.record.data());
        auto* copy = reinterpret_cast<CUpti_ActivityMemcpy6*>(work.record.data());
        const bool is_kernel = kernel->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        (is_kernel ? kernel->end : copy->end) = 0;
      }
      append(work.record.data(), work.record.size());
    }
  }
}

/// When work of so many nanoseconds begins on the stream.
inline std::uint64_t enqueue(std::uint32_t stream, std::uint64_t nanoseconds) {
  std::uint64_t& free_at = fake().stream_free_at[stream];
  const std::uint64_t start = std::max(free_at, now());
  free_at = start + nanoseconds;
  return start;
}

inline void run_kernel(std::uint32_t stream, const char* name, std::uint64_t nanoseconds, int fate,
                       std::uint32_t correlation, std::uint64_t node) {
  const std::uint64_t start = enqueue(stream, nanoseconds);
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = start;
  kernel.end = start + nanoseconds;
  kernel.contextId = kContext;
  kernel.streamId = stream;
  kernel.gridX = 4;
  kernel.gridY = kernel.gridZ = 1;
  kernel.blockX = 128;
  kernel.blockY = kernel.blockZ = 1;
  kernel.registersPerThread = 32;
  kernel.staticSharedMemory = 1024;
  kernel.dynamicSharedMemory = 512;
  kernel.correlationId = correlation;
  kernel.name = name;
  kernel.graphNodeId = node;
  fake().running[stream].push_back({kernel.end, fate, bytes_of(kernel)});
  // As CUPTI does, so that what has ended does not pile up where nobody flushes.
  constexpr std::size_t kMostRunning = 4096;
  if (fake().running[stream].size() > kMostRunning) settle(false);
}

struct Lock : std::lock_guard<std::mutex> {
  Lock() : std::lock_guard<std::mutex>(fake().mutex) { add_context(); }
};

inline CUptiResult unless_no_driver() { return is_set("FAKE_CUDA_NO_DRIVER") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS; }

inline void add_sync(CUpti_ActivitySynchronizationType type, std::uint32_t correlation, std::uint32_t stream,
                     std::uint32_t event, std::uint64_t number, std::uint64_t start) {
  if (!is_on(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  sync.type = type;
  sync.start = start;
  sync.end = now();
  sync.correlationId = correlation;
  sync.contextId = kContext;
  sync.streamId = stream;
  sync.cudaEventId = event;
  sync.cudaEventSyncId = number;
  append(sync);
}

}  // namespace interlace::testing::fake_cuda
