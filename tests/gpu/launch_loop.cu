// launch_loop MODE COUNT: work that spends its time in the launches, to see what recording adds to each. Prints one
// line of JSON with the nanoseconds of each of COUNT operations.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cuda_check.hpp"

namespace {

constexpr int kThreads = 4;
constexpr int kCrowd = 24;  ///< more threads than buffers, where --buffers is small
constexpr int kGraphNodes = 1000;
/// About 200 us on an H200 at full clock.
constexpr int kBusyTurns = 90'000;

__global__ void empty_kernel() {}

__global__ void busy_kernel(float* out, int turns) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < turns; ++i) value = value * 0.999F + 0.5F;
  if (value < 0) out[0] = value;
}

double nanoseconds_of(const std::function<void()>& work) {
  CHECK(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  work();
  CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

void launch_empty(std::int64_t count, cudaStream_t stream) {
  for (std::int64_t i = 0; i < count; ++i) empty_kernel<<<1, 32, 0, stream>>>();
  CHECK(cudaGetLastError());
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

double empty(std::int64_t count) {
  const cudaStream_t stream = new_stream();
  launch_empty(20'000, stream);
  return nanoseconds_of([&] { launch_empty(count, stream); });
}

/// A launch, an event record and a wait for it on another stream each.
double events(std::int64_t count) {
  const cudaStream_t first = new_stream();
  const cudaStream_t second = new_stream();
  std::vector<cudaEvent_t> ring(16);
  for (cudaEvent_t& event : ring) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const auto run = [&](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) {
      cudaEvent_t event = ring[static_cast<std::size_t>(i) % ring.size()];
      empty_kernel<<<1, 32, 0, first>>>();
      CHECK(cudaEventRecord(event, first));
      CHECK(cudaStreamWaitEvent(second, event, 0));
    }
  };
  run(5'000);
  return nanoseconds_of([&] { run(count); });
}

double by_threads(int threads, std::int64_t count) {
  CHECK(cudaFree(nullptr));
  return nanoseconds_of([&] {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([&] { launch_empty(count / threads, new_stream()); });
    for (std::thread& one : all) one.join();
  });
}

double threads(std::int64_t count) { return by_threads(kThreads, count); }

double crowd(std::int64_t count) { return by_threads(kCrowd, count); }

/// Graphs of empty kernels, one after the other; count is in nodes.
double graph(std::int64_t count) {
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch_empty(kGraphNodes, stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  const auto run = [&](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) CHECK(cudaGraphLaunch(executable, stream));
  };
  run(20);
  return nanoseconds_of([&] { run(count / kGraphNodes); });
}

/// Long kernels that fill the GPU: the host waits for them, so that recording should cost nothing.
double busy(std::int64_t count) {
  const cudaStream_t stream = new_stream();
  const auto run = [&](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) busy_kernel<<<264, 512, 0, stream>>>(nullptr, kBusyTurns);
    CHECK(cudaGetLastError());
  };
  run(2'000);
  return nanoseconds_of([&] { run(count); });
}

/// Launches at a steady rate of 100,000 a second for COUNT seconds, as far as the launches allow it.
double steady(std::int64_t count) {
  constexpr std::int64_t kRate = 100'000;
  constexpr std::int64_t kBatch = 100;
  const cudaStream_t stream = new_stream();
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t done = 0; done < count * kRate; done += kBatch) {
    launch_empty(kBatch, stream);
    std::this_thread::sleep_until(begin + std::chrono::nanoseconds(done * (1'000'000'000 / kRate)));
  }
  CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(kRate);
}

/// What CUPTI leaves behind, under libraw_cupti.so that attaches late: nanoseconds of a launch before, while it
/// records, after its kinds were turned off, and after it was taken out of the process; of COUNT launches each.
int left_behind(std::int64_t count) {
  const cudaStream_t stream = new_stream();
  void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (library == nullptr) return 4;
  const auto each = [&] {
    launch_empty(20'000, stream);
    return nanoseconds_of([&] { launch_empty(count, stream); }) / static_cast<double>(count);
  };
  const double before = each();
  reinterpret_cast<void (*)()>(dlsym(library, "raw_cupti_attach"))();
  const double recording = each();
  reinterpret_cast<void (*)(const char*)>(dlsym(library, "raw_cupti_configure"))("");
  const double stopped = each();
  const int status = reinterpret_cast<int (*)()>(dlsym(library, "raw_cupti_finalize"))();
  const double finalized = each();
  std::printf(
      "{\"before\": %.1f, \"recording\": %.1f, \"stopped\": %.1f, \"finalized\": %.1f, \"finalize_status\": %d}\n",
      before, recording, stopped, finalized, status);
  return 0;
}

/// For SECONDS, the nanoseconds of a launch again and again, with the time since the beginning of each.
int phases(std::int64_t seconds) {
  constexpr std::int64_t kEach = 50'000;
  const cudaStream_t stream = new_stream();
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const char* separator = "{\"blocks\": [";
  launch_empty(20'000, stream);
  for (double now = since(); now < static_cast<double>(seconds); now = since()) {
    const double each = nanoseconds_of([&] { launch_empty(kEach, stream); }) / static_cast<double>(kEach);
    std::printf("%s[%.3f, %.1f]", separator, now, each);
    separator = ", ";
  }
  std::printf("]}\n");
  return 0;
}

/// With the kinds that raw_cupti_configure takes, joined by semicolons in LAUNCH_LOOP_KINDS: launches under each, in
/// turn, and prints the nanoseconds of each as JSON.
int compare_kinds(std::int64_t count) {
  const cudaStream_t stream = new_stream();
  launch_empty(20'000, stream);
  void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  auto* configure =
      library == nullptr ? nullptr : reinterpret_cast<void (*)(const char*)>(dlsym(library, "raw_cupti_configure"));
  if (configure == nullptr) return 4;
  std::vector<std::string> all;
  std::istringstream kinds(std::getenv("LAUNCH_LOOP_KINDS"));
  for (std::string one; std::getline(kinds, one, ';');) all.push_back(one);
  std::map<std::string, std::vector<double>> found;
  for (int round = 0; round < 7; ++round) {
    for (const std::string& one : all) {
      configure(one.c_str());
      launch_empty(2'000, stream);
      found[one].push_back(nanoseconds_of([&] { launch_empty(count, stream); }) / static_cast<double>(count));
    }
  }
  const char* separator = "{";
  for (auto& [name, values] : found) {
    std::sort(values.begin(), values.end());
    std::printf("%s\"%s\": %.1f", separator, name.c_str(), values[values.size() / 2]);
    separator = ", ";
  }
  std::printf("}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<double(std::int64_t)>> modes{
      {"empty", empty}, {"events", events}, {"threads", threads}, {"crowd", crowd},
      {"graph", graph}, {"busy", busy},     {"steady", steady}};
  if (argc == 3 && std::string(argv[1]) == "kinds") return compare_kinds(std::atoll(argv[2]));
  if (argc == 3 && std::string(argv[1]) == "left_behind") return left_behind(std::atoll(argv[2]));
  if (argc == 3 && std::string(argv[1]) == "phases") return phases(std::atoll(argv[2]));
  const auto mode = argc == 3 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) {
    std::fprintf(stderr, "launch_loop empty|events|threads|crowd|graph|busy|steady|kinds|left_behind|phases COUNT\n");
    return 2;
  }
  const std::int64_t count = std::atoll(argv[2]);
  const double total = mode->second(count);
  std::printf("{\"mode\": \"%s\", \"count\": %lld, \"ns_each\": %.2f}\n", argv[1], static_cast<long long>(count),
              total / static_cast<double>(count));
  return 0;
}
