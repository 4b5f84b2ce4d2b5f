#include "tests/support/fake_cuda/fake_cuda.hpp"

#include <cupti.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t kContext = 1;
constexpr std::uint32_t kNullStream = 7;
constexpr CUpti_CallbackId kLaunchCall = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
constexpr CUpti_CallbackId kGraphCall = CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000;
constexpr CUpti_CallbackId kBeginCaptureCall = CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000;
constexpr CUpti_CallbackId kEndCaptureCall = CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000;
constexpr CUpti_CallbackId kMallocCall = CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020;
constexpr CUpti_CallbackId kFreeCall = CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020;
constexpr CUpti_CallbackId kCopyCall = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
constexpr CUpti_CallbackId kRecordCall = CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020;
constexpr CUpti_CallbackId kWaitCall = CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020;
constexpr CUpti_CallbackId kQueryCall = CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020;
constexpr CUpti_CallbackId kSyncCall = CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020;
constexpr CUpti_CallbackId kGetDeviceCall = CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020;

const char* setting(const char* name) { return std::getenv(name); }
bool is_set(const char* name) { return setting(name) != nullptr; }

std::uint32_t version() {
  const char* text = setting("FAKE_CUDA_VERSION");
  return text == nullptr ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::atoi(text));
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(time.tv_nsec);
}

std::size_t align8(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// What a record of this kind takes in a buffer of the version that is played.
std::size_t record_bytes(CUpti_ActivityKind kind) {
  constexpr std::uint32_t kCuda128 = 26;
  constexpr std::uint32_t kCuda130 = 130000;
  const std::uint32_t played = version();
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return align8(played < kCuda130 ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel10));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivityMemcpy5) : sizeof(CUpti_ActivityMemcpy6));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivityCudaEvent) : sizeof(CUpti_ActivityCudaEvent2));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivitySynchronization) : sizeof(CUpti_ActivitySynchronization2));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return align8(sizeof(CUpti_ActivityGraphTrace2));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return align8(played < kCuda128 ? sizeof(CUpti_ActivityMemory3) : sizeof(CUpti_ActivityMemory4));
    case CUPTI_ACTIVITY_KIND_RUNTIME: return align8(sizeof(CUpti_ActivityAPI));
    case CUPTI_ACTIVITY_KIND_STREAM: return align8(sizeof(CUpti_ActivityStream));
    case CUPTI_ACTIVITY_KIND_CONTEXT: return align8(sizeof(CUpti_ActivityContext3));
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
  std::set<std::pair<int, CUpti_CallbackId>> callbacks;
  std::map<std::int64_t, Buffer> buffers;  ///< by thread
  std::map<std::uint32_t, std::uint64_t> stream_free_at;
  std::map<std::uint32_t, std::deque<Running>> running;  ///< by stream
  std::map<std::uint32_t, std::uint64_t> record_of_event;
  std::map<std::uint32_t, std::uint64_t> event_done_at;
  std::vector<std::vector<std::uint8_t>> held;  ///< facts of records, given after those of waits
  bool waits_first = false;
  bool has_context = false;
  std::uint32_t next_correlation = 1;
  std::uint64_t next_record = 1;
  std::size_t dropped = 0;
  std::int64_t out = 0;
  std::int64_t flushes = 0;
};

Fake& fake() {
  static auto* all = new Fake;  // outlives every thread
  return *all;
}

std::int64_t this_thread() { return syscall(SYS_gettid); }

void give_back(Buffer& buffer) {
  if (buffer.data == nullptr) return;
  --fake().out;
  fake().complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
  buffer = {};
}

/// Appends a record to the buffer of this thread.
void append(const void* record, std::size_t bytes) {
  Fake& cuda = fake();
  if (cuda.request == nullptr) return;
  Buffer& buffer = cuda.buffers[this_thread()];
  if (buffer.data != nullptr && buffer.used + bytes > buffer.size) give_back(buffer);
  if (buffer.data == nullptr) {
    std::size_t most_records = 0;
    cuda.request(&buffer.data, &buffer.size, &most_records);
    buffer.used = 0;
    if (buffer.data == nullptr) {
      ++cuda.dropped;
      return;
    }
    ++cuda.out;
    if (std::any_of(buffer.data, buffer.data + buffer.size, [](std::uint8_t byte) { return byte != 0; })) {
      std::abort();  // the collector promised cleared buffers
    }
  }
  std::memcpy(buffer.data + buffer.used, record, bytes);
  buffer.used += bytes;
}

template <class Record>
std::vector<std::uint8_t> bytes_of(Record record) {
  const std::size_t bytes = record_bytes(static_cast<CUpti_ActivityKind>(record.kind));
  std::vector<std::uint8_t> copy(bytes, 0);
  std::memcpy(copy.data(), &record, std::min(bytes, sizeof(record)));
  return copy;
}

template <class Record>
void append(const Record& record) {
  const auto bytes = bytes_of(record);
  append(bytes.data(), bytes.size());
}

bool is_on(CUpti_ActivityKind kind) { return fake().kinds.count(kind) > 0; }

bool is_recorded(CUpti_CallbackId call) {
  const Fake& cuda = fake();
  return is_on(CUPTI_ACTIVITY_KIND_RUNTIME) ? cuda.muted.count(call) == 0 : cuda.chosen.count(call) > 0;
}

void add_call(CUpti_CallbackId call, std::uint32_t correlation, std::uint64_t start, std::uint32_t result = 0) {
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

void add_context() {
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
void settle(bool is_forced) {
  const std::uint64_t time = now();
  for (auto& [stream, works] : fake().running) {
    for (; !works.empty() && (is_forced || works.front().end <= time); works.pop_front()) {
      Running& work = works.front();
      if (work.fate == kFakeUndelivered) continue;
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
std::uint64_t enqueue(std::uint32_t stream, std::uint64_t nanoseconds) {
  std::uint64_t& free_at = fake().stream_free_at[stream];
  const std::uint64_t start = std::max(free_at, now());
  free_at = start + nanoseconds;
  return start;
}

void run_kernel(std::uint32_t stream, const char* name, std::uint64_t nanoseconds, int fate, std::uint32_t correlation,
                std::uint64_t node) {
  const std::uint64_t start = enqueue(stream, nanoseconds);
  if (!is_on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return;
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
}

struct Lock : std::lock_guard<std::mutex> {
  Lock() : std::lock_guard<std::mutex>(fake().mutex) { add_context(); }
};

CUptiResult unless_no_driver() { return is_set("FAKE_CUDA_NO_DRIVER") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS; }

void add_sync(CUpti_ActivitySynchronizationType type, std::uint32_t correlation, std::uint32_t stream,
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

}  // namespace

extern "C" {

int fake_cuda_init() {
  const char* library = setting("CUDA_INJECTION64_PATH");
  if (library == nullptr) return 0;
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) return 0;
  auto* initialize = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection"));
  return initialize == nullptr ? 0 : initialize();
}

std::uint32_t fake_cuda_launch(std::uint32_t stream, const char* kernel, std::uint64_t nanoseconds, int fate) {
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  const std::uint64_t start = now();
  run_kernel(stream, kernel, nanoseconds, fate, correlation, 0);
  add_call(kLaunchCall, correlation, start);
  return correlation;
}

std::uint32_t fake_cuda_launch_graph(std::uint32_t stream, std::uint32_t nodes, std::uint64_t nanoseconds) {
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  const std::uint64_t start = now();
  if (is_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    CUpti_ActivityGraphTrace2 graph{};
    graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    graph.start = enqueue(stream, nodes * nanoseconds);
    graph.end = graph.start + nodes * nanoseconds;
    graph.contextId = kContext;
    graph.streamId = stream;
    graph.correlationId = correlation;
    graph.graphId = 3;
    fake().running[stream].push_back({graph.end, kFakeNormal, bytes_of(graph)});
  }
  for (std::uint32_t node = 1; node <= nodes && !is_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE); ++node) {
    run_kernel(stream, "graph_kernel", nanoseconds, kFakeNormal, correlation, node);
  }
  add_call(kGraphCall, correlation, start);
  return correlation;
}

std::uint32_t fake_cuda_capture(std::uint32_t launches) {
  const Lock lock;
  const std::uint64_t start = now();
  add_call(kBeginCaptureCall, fake().next_correlation++, start);
  for (std::uint32_t i = 0; i < launches; ++i) add_call(kLaunchCall, fake().next_correlation++, now());
  const std::uint32_t correlation = fake().next_correlation++;
  add_call(kEndCaptureCall, correlation, now());
  return correlation;
}

std::uint32_t fake_cuda_copy(std::uint32_t stream, std::uint64_t bytes, std::uint64_t nanoseconds) {
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  const std::uint64_t call_start = now();
  const std::uint64_t start = enqueue(stream, nanoseconds);
  if (bytes > 0 && is_on(CUPTI_ACTIVITY_KIND_MEMCPY)) {
    CUpti_ActivityMemcpy6 copy{};
    copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    copy.bytes = bytes;
    copy.start = start;
    copy.end = start + nanoseconds;
    copy.contextId = kContext;
    copy.streamId = stream;
    copy.correlationId = correlation;
    fake().running[stream].push_back({copy.end, kFakeNormal, bytes_of(copy)});
  }
  add_call(kCopyCall, correlation, call_start);
  return correlation;
}

namespace {

std::uint32_t add_memory(CUpti_CallbackId call, CUpti_ActivityMemoryOperationType type, std::uint64_t address,
                         std::uint64_t bytes) {
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  const std::uint64_t start = now();
  if (is_on(CUPTI_ACTIVITY_KIND_MEMORY2)) {
    CUpti_ActivityMemory4 memory{};
    memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    memory.memoryOperationType = type;
    memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory.correlationId = correlation;
    memory.address = address;
    memory.bytes = bytes;
    memory.timestamp = now();
    memory.contextId = kContext;
    memory.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    append(memory);
  }
  add_call(call, correlation, start);
  return correlation;
}

}  // namespace

std::uint32_t fake_cuda_malloc(std::uint64_t address, std::uint64_t bytes) {
  return add_memory(kMallocCall, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, address, bytes);
}

std::uint32_t fake_cuda_free(std::uint64_t address) {
  return add_memory(kFreeCall, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, address, 0);
}

std::uint32_t fake_cuda_event_record(std::uint32_t stream, std::uint32_t event) {
  const Lock lock;
  Fake& cuda = fake();
  const std::uint32_t correlation = cuda.next_correlation++;
  const std::uint64_t start = now();
  cuda.record_of_event[event] = cuda.next_record++;
  cuda.event_done_at[event] = std::max(cuda.stream_free_at[stream], start);
  if (is_on(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) {
    CUpti_ActivityCudaEvent2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
    record.correlationId = correlation;
    record.contextId = kContext;
    record.streamId = stream;
    record.eventId = event;
    record.cudaEventSyncId = cuda.record_of_event[event];
    if (cuda.waits_first) {
      cuda.held.push_back(bytes_of(record));
    } else {
      append(record);
    }
  }
  add_call(kRecordCall, correlation, start);
  return correlation;
}

std::uint32_t fake_cuda_stream_wait(std::uint32_t stream, std::uint32_t event) {
  const Lock lock;
  Fake& cuda = fake();
  const std::uint32_t correlation = cuda.next_correlation++;
  const std::uint64_t start = now();
  cuda.stream_free_at[stream] = std::max(cuda.stream_free_at[stream], cuda.event_done_at[event]);
  add_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, correlation, stream, event,
           cuda.record_of_event[event], start);
  add_call(kWaitCall, correlation, start);
  return correlation;
}

std::uint32_t fake_cuda_event_query(std::uint32_t event) {
  const Lock lock;
  Fake& cuda = fake();
  const std::uint32_t correlation = cuda.next_correlation++;
  const std::uint64_t start = now();
  const bool is_done = cuda.event_done_at[event] <= start;
  if (is_done) {
    add_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, correlation, CUPTI_SYNCHRONIZATION_INVALID_VALUE,
             event, cuda.record_of_event[event], start);
  }
  constexpr std::uint32_t kNotReady = 600;
  add_call(kQueryCall, correlation, start, is_done ? 0 : kNotReady);
  return correlation;
}

std::uint32_t fake_cuda_synchronize() {
  std::uint64_t until = 0;
  std::uint32_t correlation = 0;
  const std::uint64_t start = now();
  {
    const Lock lock;
    correlation = fake().next_correlation++;
    for (const auto& [stream, free_at] : fake().stream_free_at) until = std::max(until, free_at);
  }
  while (now() < until) std::this_thread::sleep_for(std::chrono::microseconds(20));
  const Lock lock;
  add_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, correlation, CUPTI_SYNCHRONIZATION_INVALID_VALUE,
           CUPTI_SYNCHRONIZATION_INVALID_VALUE, CUPTI_SYNCHRONIZATION_INVALID_VALUE, start);
  add_call(kSyncCall, correlation, start);
  return correlation;
}

std::uint32_t fake_cuda_get_device() {
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  add_call(kGetDeviceCall, correlation, now());
  return correlation;
}

void fake_cuda_create_stream(std::uint32_t stream, std::int32_t priority) {
  const Lock lock;
  if (!is_on(CUPTI_ACTIVITY_KIND_STREAM)) return;
  CUpti_ActivityStream record{};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = kContext;
  record.streamId = stream;
  record.priority = static_cast<std::uint32_t>(priority);
  record.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  append(record);
}

void fake_cuda_destroy_context() {
  const bool is_wanted =
      fake().callbacks.count({CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) > 0;
  if (is_wanted) {
    fake().callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, nullptr);
  }
}

void fake_cuda_set_next_correlation(std::uint32_t correlation) {
  const Lock lock;
  fake().next_correlation = correlation;
}

void fake_cuda_deliver_waits_first(int on) {
  const Lock lock;
  fake().waits_first = on != 0;
}

std::int64_t fake_cuda_buffers_out() { return fake().out; }
std::int64_t fake_cuda_flushes() { return fake().flushes; }

CUptiResult cuptiGetVersion(std::uint32_t* value) {
  *value = version();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* value) {
  *value = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "some CUPTI error";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void*) {
  if (is_set("FAKE_CUDA_NO_DRIVER")) return CUPTI_ERROR_UNKNOWN;
  Fake& cuda = fake();
  if (cuda.is_subscribed || is_set("FAKE_CUDA_HOLDER")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cuda.is_subscribed = true;
  cuda.callback = callback;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&cuda);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* data,
                              CUpti_SubscriberParams* params) {
  const CUptiResult status = cuptiSubscribe(subscriber, callback, data);
  if (status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params->oldSubscriberName != nullptr) {
    const char* holder = is_set("FAKE_CUDA_HOLDER") ? setting("FAKE_CUDA_HOLDER") : "somebody";
    std::strncpy(params->oldSubscriberName, holder, params->oldSubscriberSize - 1);
  }
  return status;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  fake().is_subscribed = false;
  return unless_no_driver();
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  if (enable != 0) fake().callbacks.insert({domain, id});
  return unless_no_driver();
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  static const std::map<CUpti_CallbackId, const char*> known{
      {kLaunchCall, "cudaLaunchKernel_v7000"},
      {kGraphCall, "cudaGraphLaunch_v10000"},
      {kBeginCaptureCall, "cudaStreamBeginCapture_v10000"},
      {kEndCaptureCall, "cudaStreamEndCapture_v10000"},
      {kMallocCall, "cudaMalloc_v3020"},
      {kFreeCall, "cudaFree_v3020"},
      {kCopyCall, "cudaMemcpyAsync_v3020"},
      {kRecordCall, "cudaEventRecord_v3020"},
      {kWaitCall, "cudaStreamWaitEvent_v3020"},
      {kQueryCall, "cudaEventQuery_v3020"},
      {kSyncCall, "cudaDeviceSynchronize_v3020"},
      {kGetDeviceCall, "cudaGetDevice_v3020"},
  };
  constexpr std::uint32_t kFunctions = 460;
  if (id == 0 || id > kFunctions || domain != CUPTI_CB_DOMAIN_RUNTIME_API) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto found = known.find(id);
  *name = found == known.end() ? "cudaSomethingElse_v1000" : found->second;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) { return unless_no_driver(); }
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return unless_no_driver(); }
CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t) { return unless_no_driver(); }

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  fake().request = request;
  fake().complete = complete;
  return unless_no_driver();
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(fake().mutex);
  fake().kinds.insert(kind);
  return unless_no_driver();
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(fake().mutex);
  fake().kinds.erase(kind);
  return unless_no_driver();
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  const std::lock_guard lock(fake().mutex);
  if (enable != 0) {
    fake().chosen.insert(id);
    fake().muted.erase(id);
  } else {
    fake().chosen.erase(id);
    fake().muted.insert(id);
  }
  return unless_no_driver();
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) { return unless_no_driver(); }

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<std::uint8_t*>(*record);
    const std::size_t bytes = record_bytes((*record)->kind);
    if (bytes == 0) return CUPTI_ERROR_INVALID_KIND;
    next += bytes;
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (record_bytes(reinterpret_cast<CUpti_Activity*>(next)->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(fake().mutex);
  *dropped = fake().dropped;
  fake().dropped = 0;
  return unless_no_driver();
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  if (flag != 0 && is_set("FAKE_CUDA_HANG")) std::this_thread::sleep_for(std::chrono::hours(1));
  if (is_set("FAKE_CUDA_SLOW_FLUSH")) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::lock_guard lock(fake().mutex);
  Fake& cuda = fake();
  ++cuda.flushes;
  settle(flag != 0);
  for (auto& [thread, buffer] : cuda.buffers) give_back(buffer);
  for (const auto& record : std::exchange(cuda.held, {})) append(record.data(), record.size());
  if (flag != 0) {
    for (auto& [thread, buffer] : cuda.buffers) give_back(buffer);
  }
  return unless_no_driver();
}

}  // extern "C"
