// The least that records: what CUPTI itself costs, without a collector. It takes records into buffers that it uses
// again without a look at them. Loaded like a collector, by CUDA_INJECTION64_PATH.
//
// RAW_CUPTI_KINDS: kernels | kernels_runtime | light (kernels, and of the calls those that launch, copy, record, wait
// or synchronise) | all (what `interlace record` takes by default) | none. RAW_CUPTI_FLUSH_MS: flush so often from a
// thread; 0: never. RAW_CUPTI_ZEROED=1: hand out buffers that are cleared already. RAW_CUPTI_PER_THREAD=0: one buffer
// for all threads.
#include <cupti.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20U;

constexpr int kClearedBuffers = 32;

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
  auto* buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, kBufferBytes));
  if (buffer != nullptr) std::memset(buffer, 0, kBufferBytes);
  return buffer;
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *most_records = 0;
  *size = kBufferBytes;
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

void CUPTIAPI on_event(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

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

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

void set_attributes() {
  const auto set = [](CUpti_ActivityAttribute attribute, std::uint8_t value) {
    std::size_t size = sizeof(value);
    cuptiActivitySetAttribute(attribute, &size, &value);
  };
  if (setting("RAW_CUPTI_ZEROED") == "1") {
    pool().is_cleared = true;
    for (int i = 0; i < kClearedBuffers; ++i) pool().free.push_back(new_buffer());
    set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
  }
  if (setting("RAW_CUPTI_PER_THREAD") == "0") set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0);
}

void enable(std::string_view kinds) {
  if (kinds == "none") return;
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (kinds == "kernels") return;
  if (kinds == "kernels_runtime") {
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
    return;
  }
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_CUDA_EVENT,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD}) {
    cuptiActivityEnable(kind);
  }
  cuptiActivityEnableAllSyncRecords(0);
  if (kinds == "light") {
    set_calls(CUPTI_CB_DOMAIN_RUNTIME_API, cuptiActivityEnableRuntimeApi, kOrdering, 1);
    return;
  }
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  set_calls(CUPTI_CB_DOMAIN_RUNTIME_API, cuptiActivityEnableRuntimeApi, kChatty, 0);
  set_calls(CUPTI_CB_DOMAIN_DRIVER_API, cuptiActivityEnableDriverApi, kOrdering, 1);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cuptiSubscribe(&subscriber, on_event, nullptr) != CUPTI_SUCCESS) return 1;
  set_attributes();
  cuptiActivityRegisterCallbacks(request, complete);
  enable(setting("RAW_CUPTI_KINDS"));
  const int period = std::atoi(setting("RAW_CUPTI_FLUSH_MS").c_str());
  if (period > 0) {
    std::thread([period] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(period));
        cuptiActivityFlushAll(0);
      }
    }).detach();
  }
  return 1;
}
