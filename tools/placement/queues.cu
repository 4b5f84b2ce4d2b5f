// What unfinished work of one stream costs the work of another, with and without copies beside: how long a GPU takes
// from the end of a kernel to the start of the next one queued on its stream, from a kernel to one on another stream
// that waits for it, and from a launch on a stream that stands still until the host sees what the kernel wrote. Prints
// a line of JSON a measurement, for summarise.py. One GPU.
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -o queues queues.cu && ./queues [REPEATS] > queues.jsonl

#include <chrono>
#include <optional>

#include "blocks.cuh"

using namespace placement;

namespace {

__global__ void spin(std::uint64_t ns, Stay* stay) {
  const std::uint64_t from = now_ns();
  while (now_ns() - from < ns) {
  }
  if (stay != nullptr && threadIdx.x == 0) *stay = {from, now_ns()};
}

__global__ void raise(volatile int* flag, int value) {
  *flag = value;
  __threadfence_system();
}

constexpr int kChain = 60;
constexpr std::uint64_t kKernelNs = 4000;
constexpr std::uint64_t kGateNs = 2'500'000;
constexpr std::size_t kCopyBytes = std::size_t{96} << 20;  // 1.8 ms over PCIe 5

enum class Other { kIdle, kWaits, kWaitsForChain, kRuns };
enum class Copy { kNone, kToDevice, kToHost };

struct Bench {
  std::vector<cudaStream_t> streams;  // the first is the default stream
  cudaStream_t gate, copies;
  cudaEvent_t gate_opens, begin;
  cudaEvent_t ends[kChain];
  Stay *spans, *host_spans;
  volatile int* flag;  // in the host's memory
  int raised = 0;
  void *on_device, *pinned;

  explicit Bench(int count) {
    check(cudaStreamCreateWithPriority(&gate, cudaStreamNonBlocking, 0), "stream");
    check(cudaStreamCreateWithPriority(&copies, cudaStreamNonBlocking, -1), "stream");
    streams.push_back(nullptr);
    for (int i = 0; i < count; ++i) {
      // As PyTorch's pools: one stream of each of four priorities, again and again.
      cudaStream_t stream;
      check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -(i % 4)), "stream");
      streams.push_back(stream);
    }
    check(cudaEventCreateWithFlags(&gate_opens, cudaEventDisableTiming), "event");
    check(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming), "event");
    for (cudaEvent_t& end : ends) check(cudaEventCreateWithFlags(&end, cudaEventDisableTiming), "event");
    check(cudaMallocHost(const_cast<int**>(&flag), sizeof(int)), "memory");
    *flag = 0;
    check(cudaMalloc(&spans, sizeof(Stay) * kChain), "memory");
    check(cudaMallocHost(&host_spans, sizeof(Stay) * kChain), "memory");
    check(cudaMalloc(&on_device, kCopyBytes), "memory");
    check(cudaMallocHost(&pinned, kCopyBytes), "memory");
  }

  // Median gap within the chain of kernels on stream `a`, in ns.
  double gap(int a, int b, Other other, Copy copy, bool gate_runs, std::vector<double>* all = nullptr) {
    check(cudaDeviceSynchronize(), "synchronize");
    // Nothing begins before the host has queued it all.
    spin<<<1, 32, 0, streams[a]>>>(400'000, nullptr);
    check(cudaEventRecord(begin, streams[a]), "event");
    if (gate_runs) {
      check(cudaStreamWaitEvent(gate, begin), "wait");
      spin<<<1, 32, 0, gate>>>(kGateNs, nullptr);
      check(cudaEventRecord(gate_opens, gate), "event");
    }
    start_copy(copy);
    if (other == Other::kWaits) {
      check(cudaStreamWaitEvent(streams[b], gate_opens), "wait");
      spin<<<1, 32, 0, streams[b]>>>(1000, nullptr);
    }
    for (int i = 0; i < kChain; ++i) spin<<<1, 32, 0, streams[a]>>>(kKernelNs, spans + i);
    if (other == Other::kWaitsForChain) {
      check(cudaEventRecord(begin, streams[a]), "event");
      check(cudaStreamWaitEvent(streams[b], begin), "wait");
      spin<<<1, 32, 0, streams[b]>>>(1000, nullptr);
    }
    if (other == Other::kRuns) {
      check(cudaStreamWaitEvent(streams[b], begin), "wait");
      for (int i = 0; i < 2 * kChain; ++i) spin<<<1, 32, 0, streams[b]>>>(kKernelNs, nullptr);
    }
    return median_gap(all);
  }

  void start_copy(Copy copy) {
    if (copy == Copy::kNone) return;
    check(cudaStreamWaitEvent(copies, begin), "wait");
    check(copy == Copy::kToDevice ? cudaMemcpyAsync(on_device, pinned, kCopyBytes, cudaMemcpyHostToDevice, copies)
                                  : cudaMemcpyAsync(pinned, on_device, kCopyBytes, cudaMemcpyDeviceToHost, copies),
          "copy");
  }

  double median_gap(std::vector<double>* all) {
    check(cudaDeviceSynchronize(), "synchronize");
    check(cudaMemcpy(host_spans, spans, sizeof(Stay) * kChain, cudaMemcpyDeviceToHost), "copy");
    std::vector<double> gaps;
    for (int i = 10; i + 1 < kChain; ++i) {
      gaps.push_back(static_cast<double>(host_spans[i + 1].from_ns) - static_cast<double>(host_spans[i].to_ns));
    }
    std::sort(gaps.begin(), gaps.end());
    if (all != nullptr) *all = gaps;
    return gaps[gaps.size() / 2];
  }

  // Median time from the end of a kernel to the start of one on another stream that waits for it, in ns.
  double wait(int a, int b, std::optional<int> waiting, Copy copy) {
    check(cudaDeviceSynchronize(), "synchronize");
    spin<<<1, 32, 0, streams[a]>>>(400'000, nullptr);
    check(cudaEventRecord(begin, streams[a]), "event");
    start_copy(copy);
    if (waiting) {
      check(cudaStreamWaitEvent(gate, begin), "wait");
      spin<<<1, 32, 0, gate>>>(kGateNs, nullptr);
      check(cudaEventRecord(gate_opens, gate), "event");
      check(cudaStreamWaitEvent(streams[*waiting], gate_opens), "wait");
      spin<<<1, 32, 0, streams[*waiting]>>>(1000, nullptr);
    }
    for (int i = 0; i < kChain; ++i) {
      const cudaStream_t stream = streams[i % 2 == 0 ? a : b];
      if (i > 0) check(cudaStreamWaitEvent(stream, ends[i - 1]), "wait");
      spin<<<1, 32, 0, stream>>>(kKernelNs, spans + i);
      check(cudaEventRecord(ends[i], stream), "event");
    }
    return median_gap(nullptr);
  }

  // Median time from before a launch call to when the host sees what the kernel, on a stream that stands still, writes.
  double launch(int a, std::optional<int> waiting, Copy copy) {
    check(cudaDeviceSynchronize(), "synchronize");
    if (waiting) {
      spin<<<1, 32, 0, gate>>>(2 * kGateNs, nullptr);
      check(cudaEventRecord(gate_opens, gate), "event");
      check(cudaStreamWaitEvent(streams[*waiting], gate_opens), "wait");
      spin<<<1, 32, 0, streams[*waiting]>>>(1000, nullptr);
    }
    if (copy != Copy::kNone) {
      check(cudaEventRecord(begin, nullptr), "event");
      start_copy(copy);
    }
    std::vector<double> took;
    for (int i = 0; i < kChain; ++i) {
      const auto from = std::chrono::steady_clock::now();
      raise<<<1, 1, 0, streams[a]>>>(flag, ++raised);
      while (*flag != raised) {
      }
      took.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count());
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
      while (std::chrono::steady_clock::now() < until) {
      }
    }
    check(cudaDeviceSynchronize(), "synchronize");
    std::sort(took.begin(), took.end());
    return took[took.size() / 2];
  }
};

const char* name_of(Other other) {
  switch (other) {
    case Other::kIdle: return "idle";
    case Other::kWaits: return "waits";
    case Other::kWaitsForChain: return "waits for this one";
    case Other::kRuns: return "runs";
  }
  return "";
}

const char* name_of(Copy copy) {
  return copy == Copy::kNone ? "none" : copy == Copy::kToDevice ? "to device" : "to host";
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 3;
  const int count = argc > 2 ? std::atoi(argv[2]) : 24;
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "device");
  int low = 0, high = 0;
  check(cudaDeviceGetStreamPriorityRange(&low, &high), "priorities");
  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  std::printf("{\"device\":\"%s\",\"priorities\":[%d,%d],\"connections\":\"%s\"}\n", device.name, low, high,
              connections != nullptr ? connections : "");
  Bench bench(count);
  bench.gap(0, 1, Other::kWaits, Copy::kToDevice, true);
  const int streams = static_cast<int>(bench.streams.size());
  const auto measure = [&](int a, int b, Other other, Copy copy, bool gate_runs) {
    for (int r = 0; r < repeats; ++r) {
      std::vector<double> all;
      const double ns = bench.gap(a, b, other, copy, gate_runs, &all);
      std::printf(
          "{\"on\":%d,\"other\":%d,\"does\":\"%s\",\"copy\":\"%s\",\"gate\":%s,\"repeat\":%d,\"ns\":%.0f,\"p10\":%.0f,"
          "\"p90\":%.0f}\n",
          a, b, name_of(other), name_of(copy), gate_runs ? "true" : "false", r, ns, all[all.size() / 10],
          all[all.size() * 9 / 10]);
    }
  };
  for (const int a : {0, 1, 2, 3, 5, 6}) {
    for (const Copy copy : {Copy::kNone, Copy::kToDevice, Copy::kToHost}) {
      for (const bool gate : {false, true}) measure(a, a, Other::kIdle, copy, gate);
    }
  }
  const auto print = [&](const char* what, int a, int b, std::optional<int> waiting, Copy copy, double ns) {
    std::printf("{\"%s\":%.0f,\"on\":%d,\"other\":%d,\"waiting\":%d,\"copy\":\"%s\"}\n", what, ns, a, b,
                waiting.value_or(-1), name_of(copy));
  };
  for (int r = 0; r < repeats; ++r) {
    for (const Copy copy : {Copy::kNone, Copy::kToDevice, Copy::kToHost}) {
      for (const int b : {1, 2, 6}) print("wait_ns", 0, b, {}, copy, bench.wait(0, b, {}, copy));
      for (const int waiting : {4, 5, 8, 9}) print("wait_ns", 0, 2, waiting, copy, bench.wait(0, 2, waiting, copy));
      for (const int a : {0, 2}) {
        print("launch_ns", a, a, {}, copy, bench.launch(a, {}, copy));
        for (const int waiting : {4, 5, 8, 9}) print("launch_ns", a, a, waiting, copy, bench.launch(a, waiting, copy));
      }
    }
  }
  for (int a = 0; a < streams; ++a) {
    for (int b = 0; b < streams; ++b) {
      if (a == b || (a > 8 && b > 8)) continue;
      for (const Copy copy : {Copy::kNone, Copy::kToDevice, Copy::kToHost}) {
        if (copy == Copy::kToHost && a > 6) continue;
        measure(a, b, Other::kWaits, copy, true);
        if (a < 7) {
          measure(a, b, Other::kWaitsForChain, copy, false);
          measure(a, b, Other::kRuns, copy, false);
        }
      }
    }
  }
  return 0;
}
