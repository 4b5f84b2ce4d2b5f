// Copies between host and device that run at once on one GPU, each on a stream of its own: how long each takes beside
// the other, and by itself. A line of JSON a measurement.
//
// usage: copies [REPEATS]      (docs/benchmarks/placement, 13)
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    const cudaError_t error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

namespace {

struct Buffers {
  char* host = nullptr;
  char* device = nullptr;
};

struct Copy {
  std::string direction;  ///< "to device", "to host"
  std::size_t bytes = 0;
  Buffers buffers;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;

  Copy(std::string where, std::size_t size) : direction(std::move(where)), bytes(size) {
    CHECK(cudaMallocHost(&buffers.host, bytes));
    CHECK(cudaMalloc(&buffers.device, bytes));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  void run() const {
    const bool up = direction == "to device";
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaMemcpyAsync(up ? buffers.device : buffers.host, up ? buffers.host : buffers.device, bytes,
                          up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(end, stream));
  }
  void give_back() const {
    CHECK(cudaFreeHost(buffers.host));
    CHECK(cudaFree(buffers.device));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
  }
};

double ms_between(cudaEvent_t a, cudaEvent_t b) {
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, a, b));
  return ms;
}

/// The second is issued right behind the first.
void measure(const Copy& first, const Copy& second, int repeats) {
  const auto alone = [](const Copy& copy) {
    copy.run();
    CHECK(cudaDeviceSynchronize());
    return ms_between(copy.begin, copy.end);
  };
  for (int i = 0; i < repeats; ++i) {
    const double first_alone = alone(first);
    const double second_alone = alone(second);
    first.run();
    second.run();
    CHECK(cudaDeviceSynchronize());
    std::printf(
        "{\"first\": \"%s\", \"first_bytes\": %zu, \"second\": \"%s\", \"second_bytes\": %zu, \"first_alone_ms\": "
        "%.4f, "
        "\"second_alone_ms\": %.4f, \"first_ms\": %.4f, \"second_ms\": %.4f, \"both_ms\": %.4f, "
        "\"second_began_ms\": %.4f}\n",
        first.direction.c_str(), first.bytes, second.direction.c_str(), second.bytes, first_alone, second_alone,
        ms_between(first.begin, first.end), ms_between(second.begin, second.end),
        std::max(ms_between(first.begin, first.end), ms_between(first.begin, second.end)),
        ms_between(first.begin, second.begin));
  }
}

}  // namespace

int main(int count, char** words) {
  const int repeats = count > 1 ? std::atoi(words[1]) : 5;
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"to device", "to device"}, {"to host", "to host"}, {"to device", "to host"}, {"to host", "to device"}}) {
    for (const auto& [large, small] : std::vector<std::pair<std::size_t, std::size_t>>{{512 * kMiB, 512 * kMiB},
                                                                                       {512 * kMiB, 128 * kMiB},
                                                                                       {128 * kMiB, 512 * kMiB},
                                                                                       {512 * kMiB, kMiB},
                                                                                       {512 * kMiB, 64 << 10}}) {
      const Copy first(one, large);
      const Copy second(other, small);
      measure(first, second, repeats);
      first.give_back();
      second.give_back();
    }
  }
  return 0;
}
