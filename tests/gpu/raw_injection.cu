// The least that records: what CUPTI itself costs, without a collector. It takes records into buffers that it uses
// again without a look at them. Loaded like a collector, by CUDA_INJECTION64_PATH.
//
// RAW_CUPTI_KINDS, and raw_cupti_configure in a running program, name what is recorded, joined by commas: kernels,
// copies, places (devices, contexts, streams), waits (event records and synchronisation), memory, overhead; runtime and
// driver (all calls), runtime_quiet (all but the chattiest), runtime_ordering and driver_ordering (each call that
// launches, copies, records, waits or synchronises, chosen one by one), runtime_muted and driver_muted (the same calls:
// all are on, and the others muted). RAW_CUPTI_FLUSH_MS: flush so often from a thread; 0: never.
// RAW_CUPTI_ZEROED=1: hand out buffers that are cleared already. RAW_CUPTI_PER_THREAD=0: one buffer for all threads.
// To look for what makes a kernel's record cheaper: RAW_CUPTI_BUFFER_KIB: size of the buffers. RAW_CUPTI_PINNED=1: the
// device's buffers in pinned host memory. RAW_CUPTI_DEVICE_BUFFER_MIB: their size. RAW_CUPTI_DEVICE_BUFFERS: made
// ahead. RAW_CUPTI_SERIAL=1: kernels one at a time (CUPTI_ACTIVITY_KIND_KERNEL). RAW_CUPTI_HARDWARE=1: times by the
// hardware's events (Blackwell). RAW_CUPTI_SUBSCRIBE=0: without a subscriber. RAW_CUPTI_LATE=1: attach when
// raw_cupti_attach is called. RAW_CUPTI_LATENCY=1: kernels with the times at which they were queued and submitted.
// RAW_CUPTI_CALLBACKS=1: a callback at both ends of each call of the runtime that launches; 2: that also notes the call
// with its times, as a recorder would have to.
#include <cupti.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::size_t buffer_bytes() {
  static const std::size_t bytes = [] {
    const char* text = std::getenv("RAW_CUPTI_BUFFER_KIB");
    return (text == nullptr ? std::size_t{8192} : std::strtoul(text, nullptr, 10)) << 10U;
  }();
  return bytes;
}

constexpr std::size_t kClearedBytes = std::size_t{256} << 20U;

struct Pool {
  std::mutex mutex;
  std::vector<std::uint8_t*> free;
  bool is_cleared = false;  ///< then no buffer is used twice
};

Pool& pool() {
  static auto* one = new Pool;  // CUPTI uses it to the last moment
  return *one;
}

std::uint8_t* new_buffer() {
  auto* buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, buffer_bytes()));
  if (buffer != nullptr) std::memset(buffer, 0, buffer_bytes());
  return buffer;
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *most_records = 0;
  *size = buffer_bytes();
  const std::lock_guard lock(pool().mutex);
  if (pool().free.empty()) {
    *buffer = new_buffer();
    return;
  }
  *buffer = pool().free.back();
  pool().free.pop_back();
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  const std::lock_guard lock(pool().mutex);
  if (!pool().is_cleared) pool().free.push_back(buffer);
}

/// What a recorder would keep of a call.
struct Call {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t function;
};

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(time.tv_nsec);
}

bool notes_calls = false;

void CUPTIAPI on_event(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (!notes_calls || domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
  constexpr std::size_t kRing = 1U << 15U;
  thread_local std::array<Call, kRing>* ring = new std::array<Call, kRing>;
  thread_local std::size_t next = 0;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = now();
  } else {
    (*ring)[next++ % kRing] = {*call.correlationData, now(), call.correlationId, id};
  }
}

constexpr std::array<std::string_view, 9> kOrdering{"Launch",           "GraphLaunch",       "Memcpy",
                                                    "Memset",           "EventRecord",       "StreamWaitEvent",
                                                    "EventSynchronize", "StreamSynchronize", "DeviceSynchronize"};
constexpr std::array<std::string_view, 4> kChatty{"GetDevice", "SetDevice", "GetLastError", "PeekAtLastError"};

template <std::size_t Count>
bool begins(std::string_view name, const std::array<std::string_view, Count>& words) {
  name.remove_prefix(name.substr(0, 4) == "cuda" ? 4 : 2);
  for (const std::string_view word : words) {
    if (name.substr(0, word.size()) == word) return true;
  }
  return false;
}

template <class Enable, class Words>
void set_calls(CUpti_CallbackDomain domain, Enable enable, const Words& words, std::uint8_t on) {
  constexpr std::uint32_t kMost = 2'000;
  for (std::uint32_t number = 1; number < kMost; ++number) {
    const char* name = nullptr;
    if (cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (begins(name, words)) enable(number, on);
  }
}

/// Those whose names begin with none of the words.
template <class Enable>
void mute_others(CUpti_CallbackDomain domain, Enable enable) {
  constexpr std::uint32_t kMost = 2'000;
  for (std::uint32_t number = 1; number < kMost; ++number) {
    const char* name = nullptr;
    if (cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (!begins(name, kOrdering)) enable(number, 0);
  }
}

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

void set_attributes() {
  const auto set = [](CUpti_ActivityAttribute attribute, auto value) {
    std::size_t size = sizeof(value);
    cuptiActivitySetAttribute(attribute, &size, &value);
  };
  if (setting("RAW_CUPTI_ZEROED") == "1") {
    pool().is_cleared = true;
    for (std::size_t i = 0; i < kClearedBytes / buffer_bytes(); ++i) pool().free.push_back(new_buffer());
    set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, std::uint8_t{1});
  }
  if (setting("RAW_CUPTI_PER_THREAD") == "0") set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, std::uint8_t{0});
  if (setting("RAW_CUPTI_PINNED") == "1") {
    set(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, std::uint8_t{1});
  }
  const auto number = [](const char* name) { return std::strtoul(setting(name).c_str(), nullptr, 10); };
  if (const std::size_t mib = number("RAW_CUPTI_DEVICE_BUFFER_MIB")) {
    set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, std::size_t{mib << 20U});
  }
  if (const std::size_t count = number("RAW_CUPTI_DEVICE_BUFFERS")) {
    set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, count);
  }
  if (setting("RAW_CUPTI_HARDWARE") == "1") {
    std::fprintf(stderr, "hardware events: %d\n", static_cast<int>(cuptiActivityEnableHWTrace(1)));
  }
}

struct Kind {
  std::string_view name;
  std::vector<CUpti_ActivityKind> kinds;
};

const std::vector<Kind>& known_kinds() {
  static const std::vector<Kind> known{
      {"kernels", {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}},
      {"copies", {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET}},
      {"places", {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM}},
      {"waits", {CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}},
      {"memory", {CUPTI_ACTIVITY_KIND_MEMORY2}},
      {"overhead", {CUPTI_ACTIVITY_KIND_OVERHEAD}},
      {"runtime", {CUPTI_ACTIVITY_KIND_RUNTIME}},
      {"runtime_quiet", {CUPTI_ACTIVITY_KIND_RUNTIME}},
      {"runtime_muted", {CUPTI_ACTIVITY_KIND_RUNTIME}},
      {"driver_muted", {CUPTI_ACTIVITY_KIND_DRIVER}},
      {"driver", {CUPTI_ACTIVITY_KIND_DRIVER}},
  };
  return known;
}

void set_ordering(std::uint8_t on, bool of_runtime) {
  if (of_runtime) {
    set_calls(CUPTI_CB_DOMAIN_RUNTIME_API, cuptiActivityEnableRuntimeApi, kOrdering, on);
  } else {
    set_calls(CUPTI_CB_DOMAIN_DRIVER_API, cuptiActivityEnableDriverApi, kOrdering, on);
  }
}

void enable(std::string_view name) {
  for (const Kind& known : known_kinds()) {
    for (const CUpti_ActivityKind kind : known.kinds) {
      if (known.name != name) continue;
      const bool is_serial = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && setting("RAW_CUPTI_SERIAL") == "1";
      cuptiActivityEnable(is_serial ? CUPTI_ACTIVITY_KIND_KERNEL : kind);
    }
  }
  if (name == "runtime_quiet") set_calls(CUPTI_CB_DOMAIN_RUNTIME_API, cuptiActivityEnableRuntimeApi, kChatty, 0);
  if (name == "runtime_muted") mute_others(CUPTI_CB_DOMAIN_RUNTIME_API, cuptiActivityEnableRuntimeApi);
  if (name == "driver_muted") mute_others(CUPTI_CB_DOMAIN_DRIVER_API, cuptiActivityEnableDriverApi);
  if (name == "runtime_ordering") set_ordering(1, true);
  if (name == "driver_ordering") set_ordering(1, false);
}

void disable_all() {
  set_ordering(0, true);
  set_ordering(0, false);
  for (const Kind& known : known_kinds()) {
    for (const CUpti_ActivityKind kind : known.kinds) cuptiActivityDisable(kind);
  }
}

void configure(std::string_view names) {
  cuptiActivityEnableAllSyncRecords(0);
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    enable(names.substr(0, comma));
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
}

CUpti_SubscriberHandle subscriber = nullptr;

void enable_callbacks() {
  notes_calls = setting("RAW_CUPTI_CALLBACKS") == "2";
  set_calls(
      CUPTI_CB_DOMAIN_RUNTIME_API,
      [](std::uint32_t number, std::uint8_t on) {
        cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, number);
        return CUPTI_SUCCESS;
      },
      std::array<std::string_view, 2>{"LaunchKernel", "GraphLaunch"}, 1);
}

void attach() {
  if (setting("RAW_CUPTI_LATENCY") == "1") cuptiActivityEnableLatencyTimestamps(1);
  const bool is_subscribed = setting("RAW_CUPTI_SUBSCRIBE") != "0";
  if (is_subscribed && cuptiSubscribe(&subscriber, on_event, nullptr) != CUPTI_SUCCESS) return;
  set_attributes();
  cuptiActivityRegisterCallbacks(request, complete);
  configure(setting("RAW_CUPTI_KINDS"));
  if (!setting("RAW_CUPTI_CALLBACKS").empty()) enable_callbacks();
  const int period = std::atoi(setting("RAW_CUPTI_FLUSH_MS").c_str());
  if (period > 0) {
    std::thread([period] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(period));
        cuptiActivityFlushAll(0);
      }
    }).detach();
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (setting("RAW_CUPTI_LATE") != "1") attach();
  return 1;
}

/// With RAW_CUPTI_LATE=1: not before.
extern "C" __attribute__((visibility("default"))) void raw_cupti_attach() { attach(); }

/// Records these kinds from now on, and no others.
extern "C" __attribute__((visibility("default"))) void raw_cupti_configure(const char* names) {
  disable_all();
  cuptiActivityFlushAll(0);
  configure(names);
}

/// Takes CUPTI out of the process. REQUIRES: no other thread is in a call of CUDA.
extern "C" __attribute__((visibility("default"))) int raw_cupti_finalize() {
  disable_all();
  cuptiActivityFlushAll(1);
  cuptiUnsubscribe(subscriber);
  return cuptiFinalize();
}
