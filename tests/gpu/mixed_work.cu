// mixed_work: some of everything that a recording has to hold, in known numbers, printed as one line of JSON.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "cuda_check.hpp"

namespace {

constexpr std::size_t kFloats = 1U << 20U;
constexpr std::size_t kBytes = kFloats * sizeof(float);
constexpr int kRounds = 10;
constexpr int kThreads = 3;
constexpr int kGraphLaunches = 7;
constexpr int kGraphKernels = 5;

/// What was done, to be found again in the recording.
struct Counts {
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t memsets = 0;
  std::int64_t event_records = 0;
  std::int64_t stream_waits = 0;
  std::int64_t launches = 0;  ///< calls that device work follows: kernels, graphs, copies, memsets
  std::int64_t mallocs = 0;   ///< of device memory
};

__global__ void scale(float* data, float factor, std::size_t count) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) data[i] *= factor;
}

__global__ void add_one(float* data) { data[threadIdx.x] += 1.0F; }

void launch_scale(float* data, cudaStream_t stream, Counts& counts) {
  scale<<<kFloats / 256, 256, 0, stream>>>(data, 1.5F, kFloats);
  CHECK(cudaGetLastError());
  ++counts.kernels;
  ++counts.launches;
}

/// Copies on a stream of their own, kernels on another, joined by events; the same event is recorded again each round.
void copy_and_compute(float* device, float* pinned, Counts& counts) {
  int least = 0;
  int greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t copies = nullptr;
  cudaStream_t compute = nullptr;
  CHECK(cudaStreamCreateWithPriority(&copies, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreate(&compute));
  cudaEvent_t copied = nullptr;
  cudaEvent_t computed = nullptr;
  CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&computed));
  for (int i = 0; i < kRounds; ++i) {
    const nvtxRangeId_t whole = nvtxRangeStartA("round");
    nvtxRangePushA("copy");
    CHECK(cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, copies));
    CHECK(cudaEventRecord(copied, copies));
    nvtxRangePop();
    nvtxRangePushA("compute");
    CHECK(cudaStreamWaitEvent(compute, copied, 0));
    launch_scale(device, compute, counts);
    CHECK(cudaEventRecord(computed, compute));
    nvtxRangePop();
    CHECK(cudaStreamWaitEvent(copies, computed, 0));
    CHECK(cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, copies));
    CHECK(cudaMemsetAsync(device, 0, kBytes, copies));
    static_cast<void>(cudaEventQuery(computed));
    CHECK(cudaStreamSynchronize(copies));
    nvtxRangeEnd(whole);
    counts.copies += 2;
    ++counts.memsets;
    counts.launches += 3;
    counts.event_records += 2;
    counts.stream_waits += 2;
  }
  CHECK(cudaEventSynchronize(computed));
  CHECK(cudaEventDestroy(copied));
  CHECK(cudaEventDestroy(computed));
  CHECK(cudaStreamDestroy(copies));
  CHECK(cudaStreamDestroy(compute));
}

void capture_and_launch(float* device, Counts& counts) {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  // Launches while capturing build the graph and run nothing.
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kGraphKernels; ++i) add_one<<<1, 32, 0, stream>>>(device);
  CHECK(cudaMemsetAsync(device, 0, kBytes, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < kGraphLaunches; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  counts.kernels += kGraphLaunches * kGraphKernels;
  counts.memsets += kGraphLaunches;
  counts.launches += kGraphLaunches;
}

void on_threads(Counts& counts) {
  std::vector<Counts> each(kThreads);
  std::vector<std::thread> all;
  for (Counts& mine : each) {
    all.emplace_back([&mine] {
      cudaStream_t stream = nullptr;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      float* data = nullptr;
      CHECK(cudaMallocAsync(reinterpret_cast<void**>(&data), kBytes, stream));
      ++mine.mallocs;
      for (int i = 0; i < 100; ++i) launch_scale(data, stream, mine);
      CHECK(cudaFreeAsync(data, stream));
      CHECK(cudaStreamSynchronize(stream));
    });
  }
  for (std::thread& one : all) one.join();
  for (const Counts& mine : each) {
    counts.kernels += mine.kernels;
    counts.launches += mine.launches;
    counts.mallocs += mine.mallocs;
  }
}

void marks() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("mixed");
  const nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = registered;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = 42;
  nvtxDomainNameCategoryA(domain, 5, "io");
  attributes.category = 5;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
  nvtxMarkA("mark");
  nvtxNameCategoryA(7, "loss");
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "loss";
  attributes.category = 7;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 0.25;
  nvtxMarkEx(&attributes);
  static_cast<void>(nvtxRangePushA("never ended"));
}

}  // namespace

int main() {
  Counts counts;
  float* device = nullptr;
  float* pinned = nullptr;
  CHECK(cudaMalloc(reinterpret_cast<void**>(&device), kBytes));
  ++counts.mallocs;
  CHECK(cudaMallocHost(reinterpret_cast<void**>(&pinned), kBytes));
  std::vector<float> pageable(kFloats, 1.0F);
  CHECK(cudaMemcpy(device, pageable.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device, device + kFloats / 2, kBytes / 2, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpyAsync(device, pinned, 0, cudaMemcpyHostToDevice, nullptr));  // a copy of nothing
  counts.copies += 2;
  counts.launches += 2;
  launch_scale(device, nullptr, counts);
  marks();
  copy_and_compute(device, pinned, counts);
  capture_and_launch(device, counts);
  on_threads(counts);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
  std::printf(
      "{\"kernels\": %lld, \"copies\": %lld, \"memsets\": %lld, \"event_records\": %lld, \"stream_waits\": %lld, "
      "\"launches\": %lld, \"mallocs\": %lld, \"rounds\": %d}\n",
      static_cast<long long>(counts.kernels), static_cast<long long>(counts.copies),
      static_cast<long long>(counts.memsets), static_cast<long long>(counts.event_records),
      static_cast<long long>(counts.stream_waits), static_cast<long long>(counts.launches),
      static_cast<long long>(counts.mallocs), kRounds);
  return 0;
}
