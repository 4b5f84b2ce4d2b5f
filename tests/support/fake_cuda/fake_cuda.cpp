#include "tests/support/fake_cuda/fake_cuda.hpp"

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "tests/support/fake_cuda/fake_state.hpp"

using namespace interlace::testing::fake_cuda;  // what this plays

extern "C" {

int fake_cuda_init() {
  if (is_set("FAKE_CUDA_HANG_AT_EXIT")) {
    std::atexit([] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  }
  const char* library = setting("CUDA_INJECTION64_PATH");
  if (library == nullptr) return 0;
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) return 0;
  auto* initialize = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection"));
  return initialize == nullptr ? 0 : initialize();
}

namespace {

/// A stream takes no more launches than this ahead of its work, as that of a device.
void wait_for_room(std::uint32_t stream) {
  constexpr std::size_t kMostAhead = 1U << 16U;
  for (;;) {
    {
      const std::lock_guard lock(fake().mutex);
      if (fake().running[stream].size() < kMostAhead) return;
      settle(false);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

std::uint32_t fake_cuda_launch(std::uint32_t stream, const char* kernel, std::uint64_t nanoseconds, int fate) {
  wait_for_room(stream);
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  const std::uint64_t start = now();
  run_kernel(stream, kernel, nanoseconds, fate, correlation, 0);
  add_call(kLaunchCall, correlation, start);
  return correlation;
}

std::uint32_t fake_cuda_launch_by_driver(std::uint32_t stream, const char* kernel, std::uint64_t nanoseconds) {
  const Lock lock;
  const std::uint32_t correlation = fake().next_correlation++;
  const std::uint64_t start = now();
  run_kernel(stream, kernel, nanoseconds, kFakeNormal, correlation, 0);
  add_driver_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, correlation, start);
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

std::uint64_t fake_cuda_stream_handle(std::uint32_t stream) {
  return stream == kNullStream ? 0 : kFirstHandle + stream;
}

void fake_cuda_create_stream(std::uint32_t stream, std::int32_t priority) {
  const bool is_wanted = fake().callbacks.count({CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED}) > 0;
  if (is_wanted) {
    CUpti_ResourceData made{};
    made.resourceHandle.stream = reinterpret_cast<CUstream>(fake_cuda_stream_handle(stream));
    fake().callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, &made);
  }
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

void fake_cuda_push_external(int kind, std::uint64_t id) {
  const Lock lock;
  fake().externals[kind].push_back(id);
}

void fake_cuda_pop_external(int kind) {
  const Lock lock;
  fake().externals[kind].pop_back();
}

void fake_cuda_name_call(int is_of_driver, std::uint32_t function, const char* name) {
  fake().names[{is_of_driver != 0, function}] = name;
}

void fake_cuda_deliver(std::int64_t buffer, const void* record, std::uint64_t bytes) {
  const std::lock_guard lock(fake().mutex);
  append(buffer, record, bytes);
}

void fake_cuda_hand_over(std::uint32_t seed) {
  const std::lock_guard lock(fake().mutex);
  std::vector<Buffer*> buffers;
  for (auto& [number, buffer] : fake().buffers) buffers.push_back(&buffer);
  if (seed != 0) std::shuffle(buffers.begin(), buffers.end(), std::mt19937(seed));
  for (Buffer* buffer : buffers) give_back(*buffer);
}

void fake_cuda_drop() {
  const std::lock_guard lock(fake().mutex);
  ++fake().dropped;
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

}  // extern "C"
