// libcudart.so.13 for a machine without a GPU, as far as PyTorch's caching allocator needs it: memory is a number that
// grows, events are done when the program says so. Memory and streams are told to the fake CUPTI.
#include "tests/support/fake_cuda/fake_cudart.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

namespace {

constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;
constexpr std::size_t kMemory = std::size_t{64} << 20;  // of the device

struct Device {
  std::mutex mutex;
  std::uint64_t next = std::uint64_t{1} << 40;
  std::map<std::uint64_t, std::size_t> live;
  std::size_t used = 0;
};

Device& device() {
  static Device the_device;
  return the_device;
}

std::atomic<bool>& done() {
  static std::atomic<bool> is_done{true};
  return is_done;
}

}  // namespace

extern "C" {

void fake_cudart_events_done(bool are_done) { done() = are_done; }

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const std::lock_guard lock(device().mutex);
  if (device().used + bytes > kMemory) return cudaErrorMemoryAllocation;
  const std::uint64_t address = device().next;
  device().next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  device().live[address] = bytes;
  device().used += bytes;
  *pointer = reinterpret_cast<void*>(address);
  fake_cuda_malloc(address, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  const std::lock_guard lock(device().mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto known = device().live.find(address);
  if (known == device().live.end()) return cudaErrorInvalidValue;
  device().used -= known->second;
  device().live.erase(known);
  fake_cuda_free(address);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = kMemory;
  *free = kMemory - device().used;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error of the fake CUDA"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  static std::atomic<std::uintptr_t> next{1};
  *event = reinterpret_cast<cudaEvent_t>(next++);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return done() ? cudaSuccess : cudaErrorNotReady; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  static std::atomic<std::uint32_t> next{20};
  const std::uint32_t number = next++;
  fake_cuda_create_stream(number, priority);
  *stream = reinterpret_cast<cudaStream_t>(fake_cuda_stream_handle(number));
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* facts, int) {
  *facts = {};
  facts->totalGlobalMem = kMemory;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long*, cudaGraph_t*,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
}
