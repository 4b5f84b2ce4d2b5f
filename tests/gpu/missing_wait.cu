// A pipeline that copies the next batch while it computes on the present one: missing_wait [repaired]. Its stages are
// NVTX ranges "<stage> <batch>". As it stands, what computes does not wait for the copy of its batch, and the copy into
// a buffer not for the computation that still reads it; `repaired` has both waits.
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_check.hpp"

namespace {

constexpr int kElements = 1 << 20;
constexpr int kBatches = 24;

__global__ void scale(const float* batch, float* result) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kElements) result[i] = batch[i] * 2.0F;
}

__global__ void update(float* weights, const float* result) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kElements) weights[i] += result[i] * 1e-3F;
}

struct Stage {
  Stage(const char* name, int batch) { nvtxRangePushA((std::string(name) + " " + std::to_string(batch)).c_str()); }
  ~Stage() { nvtxRangePop(); }
};

}  // namespace

int main(int argc, char** argv) {
  const bool is_repaired = argc > 1 && std::strcmp(argv[1], "repaired") == 0;
  cudaStream_t copies = nullptr;
  cudaStream_t main_stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
  std::array<float*, 2> batches{};
  std::array<cudaEvent_t, 2> copied{};
  std::array<cudaEvent_t, 2> read{};
  float* source = nullptr;
  float* result = nullptr;
  float* weights = nullptr;
  CHECK(cudaMallocHost(&source, kElements * sizeof(float)));
  CHECK(cudaMalloc(&result, kElements * sizeof(float)));
  CHECK(cudaMalloc(&weights, kElements * sizeof(float)));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMalloc(&batches[i], kElements * sizeof(float)));
    CHECK(cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&read[i], cudaEventDisableTiming));
  }
  const auto copy = [&](int batch) {
    const Stage stage("copy_batch_to_gpu", batch);
    const int slot = batch % 2;
    if (is_repaired && batch >= 2) CHECK(cudaStreamWaitEvent(copies, read[slot], 0));
    CHECK(cudaMemcpyAsync(batches[slot], source, kElements * sizeof(float), cudaMemcpyHostToDevice, copies));
    CHECK(cudaEventRecord(copied[slot], copies));
  };
  copy(0);
  for (int batch = 0; batch < kBatches; ++batch) {
    nvtxRangePushA("step");
    const int slot = batch % 2;
    {
      const Stage stage("dense_forward", batch);
      if (is_repaired) CHECK(cudaStreamWaitEvent(main_stream, copied[slot], 0));
      scale<<<kElements / 256, 256, 0, main_stream>>>(batches[slot], result);
      CHECK(cudaEventRecord(read[slot], main_stream));
    }
    {
      const Stage stage("optimizer_step", batch);
      update<<<kElements / 256, 256, 0, main_stream>>>(weights, result);
    }
    copy(batch + 1);
    nvtxRangePop();
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("%d batches, %s\n", kBatches, is_repaired ? "repaired" : "without its waits");
  return 0;
}
