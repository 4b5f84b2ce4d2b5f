// The functions of CUPTI that the collector uses.
#include <cupti.h>

#include <array>
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/support/fake_cuda/fake_state.hpp"

using namespace interlace::testing::fake_cuda;  // what this plays

extern "C" {

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
  static const std::map<CUpti_CallbackId, const char*> known_of_driver{
      {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
      {CUPTI_DRIVER_TRACE_CBID_cuDeviceGet, "cuDeviceGet"},
  };
  const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  const std::uint32_t functions = is_driver ? 790 : 460;
  if (id == 0 || id > functions || (!is_driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (const auto played = fake().names.find({is_driver, id}); played != fake().names.end()) {
    *name = played->second.c_str();
    return CUPTI_SUCCESS;
  }
  const auto& table = is_driver ? known_of_driver : known;
  const auto found = table.find(id);
  *name = found == table.end() ? "cudaSomethingElse_v1000" : found->second;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext, std::uint32_t* id) {
  *id = kContext;
  return unless_no_driver();
}

CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  *id = handle == 0 ? kNullStream : static_cast<std::uint32_t>(handle - kFirstHandle);
  return unless_no_driver();
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

namespace {

/// Of CUPTI itself: who turns kinds on and off waits for who hands records over.
std::mutex& inner_lock() {
  static auto* lock = new std::mutex;  // outlives every thread
  return *lock;
}

}  // namespace

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard inner(inner_lock());
  const std::lock_guard lock(fake().mutex);
  settle(false);  // what has ended by now is not recorded
  fake().kinds.insert(kind);
  return unless_no_driver();
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard inner(inner_lock());
  // As CUDA 13.0 did before its first update.
  const bool hangs = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && is_set("FAKE_CUDA_HANG_DISABLE");
  if (hangs) std::this_thread::sleep_for(std::chrono::hours(1));
  const std::lock_guard lock(fake().mutex);
  settle(false);
  fake().kinds.erase(kind);
  return unless_no_driver();
}

namespace {

/// As in CUPTI, a call that is chosen after the first context, with its kind off, is not told of.
void choose(CUpti_CallbackId id, bool on, CUpti_ActivityKind kind, std::set<CUpti_CallbackId>& chosen,
            std::set<CUpti_CallbackId>& muted) {
  const std::lock_guard lock(fake().mutex);
  if (!on) {
    chosen.erase(id);
    muted.insert(id);
    return;
  }
  if (!fake().has_context || is_on(kind)) chosen.insert(id);
  muted.erase(id);
}

}  // namespace

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  choose(id, enable != 0, CUPTI_ACTIVITY_KIND_RUNTIME, fake().chosen, fake().muted);
  return unless_no_driver();
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t enable) {
  choose(id, enable != 0, CUPTI_ACTIVITY_KIND_DRIVER, fake().chosen_driver, fake().muted_driver);
  return unless_no_driver();
}

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
  if (is_set("FAKE_CUDA_HANG_FLUSH")) {
    const std::lock_guard inner(inner_lock());
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
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
