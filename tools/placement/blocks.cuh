#pragma once

// Kernels whose blocks write down where and when they ran, and scenes made of them.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace placement {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "placement: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

struct Stay {
  std::uint64_t from_ns;
  std::uint64_t to_ns;
  std::uint32_t sm;
};

__device__ std::uint64_t now_ns() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

// Where the block ran, from `from` until its last thread is here.
__device__ void write_down(Stay* stays, std::uint64_t from) {
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    stays[blockIdx.x] = {from, now_ns(), sm};
  }
}

// Keeps the compiler from leaving out what these come from.
template <int kCount>
__device__ void use(const float (&values)[kCount], float* out) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum += values[i];
  if (sum == 1.2345F) *out = sum;
}

constexpr std::uint64_t kScatter = 0x9E3779B97F4A7C15ULL;  // a multiplicative hash

constexpr std::uint64_t kUneven = std::uint64_t{1} << 62;  // blocks stay half as long as told to one and a half times

// Occupies registers as asked (kLive values that are alive throughout) and stays for `ns`; long reads of a clock in
// between, so that it takes few issue slots.
template <int kThreads, int kLive>
__global__ void __launch_bounds__(kThreads) stay(Stay* stays, std::uint64_t ns, float seed, float* out) {
  const std::uint64_t from = now_ns();
  if (ns & kUneven) {
    const std::uint64_t hash = (blockIdx.x + from) * kScatter;
    ns = (ns & ~kUneven) / 2 + (ns & ~kUneven) * (hash >> 40) / (1 << 24);
  }
  float live[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) live[i] = seed * static_cast<float>(i + threadIdx.x);
  while (now_ns() - from < ns) {
#pragma unroll
    for (int i = 0; i < kLive; ++i) live[i] = fmaf(live[i], seed, live[(i + 1) % kLive]);
    __nanosleep(200);
  }
  use(live, out);
  write_down(stays, from);
}

constexpr std::uint64_t kTableBytes = std::uint64_t{16} << 30;
constexpr std::uint64_t kRowFloats4 = 32;  // 512 bytes, a warp's

// Each warp reads `rows` rows anywhere in the first half of a table and adds them to rows anywhere in the second: few
// accesses under way for each warp, as in lookups and updates of rows.
__global__ void __launch_bounds__(256) update_rows(Stay* stays, std::uint64_t rows, float seed, float* memory) {
  const std::uint64_t from = now_ns();
  auto* table = reinterpret_cast<float4*>(memory);
  constexpr std::uint64_t kRows = kTableBytes / 512 / 2;
  const std::uint64_t warp = blockIdx.x * std::uint64_t{8} + threadIdx.x / 32;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t hash = (warp * rows + r + 1) * kScatter;
    const float4 value = table[(hash >> 20) % kRows * kRowFloats4 + threadIdx.x % 32];
    float4* to = table + (kRows + (hash >> 24) % kRows) * kRowFloats4 + threadIdx.x % 32;
    float4 old = *to;
    old.x += seed * value.x;
    old.y += seed * value.y;
    old.z += seed * value.z;
    old.w += seed * value.w;
    *to = old;
  }
  write_down(stays, from);
}

// Each block copies `chunks` pieces of 4 KiB from the first half of the memory to the second.
__global__ void __launch_bounds__(256) stream(Stay* stays, std::uint64_t chunks, float, float* memory) {
  const std::uint64_t from = now_ns();
  auto* all = reinterpret_cast<float4*>(memory);
  constexpr std::uint64_t kHalf = kTableBytes / 16 / 2;
  for (std::uint64_t c = 0; c < chunks; ++c) {
    const std::uint64_t at = ((blockIdx.x * chunks + c) * 256 + threadIdx.x) % kHalf;
    all[kHalf + at] = all[at];
  }
  write_down(stays, from);
}

// `rounds` times 64 multiplications and additions of each thread, eight at a time.
__global__ void __launch_bounds__(256) multiply(Stay* stays, std::uint64_t rounds, float seed, float* out) {
  const std::uint64_t from = now_ns();
  float v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = static_cast<float>(threadIdx.x + i);
  for (std::uint64_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
#pragma unroll
      for (int i = 0; i < 8; ++i) v[i] = fmaf(v[i], seed, 1.0F);
    }
  }
  use(v, out);
  write_down(stays, from);
}

using Kernel = void (*)(Stay*, std::uint64_t, float, float*);

struct Shape {
  const char* name;
  Kernel kernel;
  int threads;
  int shared_bytes;  // dynamic
  int cluster;
  bool uneven = false;  // blocks stay for unequal times
};

inline Shape uneven(Shape shape) {
  shape.uneven = true;
  return shape;
}

// Registers and shared memory as in recordings: a CTA of NCCL (640 threads, 96 registers, 103,808 bytes) needs nearly
// an SM, matrix multiplications (256 threads, 202 registers, or 128 and 255) fit once or twice, row updates (256
// threads, 118 or 64) two or four times, elementwise kernels (256 threads, 32) eight times.
inline const Shape kNccl{"nccl", stay<640, 80>, 640, 103'808, 4};
inline const Shape kNcclAlone{"nccl without clusters", stay<640, 80>, 640, 103'808, 1};
inline const Shape kMultiply1{"multiply, 1 on an SM", stay<256, 180>, 256, 49'152, 1};
inline const Shape kMultiply2{"multiply, 2 on an SM", stay<128, 220>, 128, 33'792, 1};
inline const Shape kUpdate2{"update, 2 on an SM", stay<256, 100>, 256, 0, 1};
inline const Shape kUpdate4{"update, 4 on an SM", stay<256, 48>, 256, 0, 1};
inline const Shape kElementwise{"elementwise, 8 on an SM", stay<256, 14>, 256, 0, 1};
inline const Shape kDelay{"delay", stay<32, 1>, 32, 0, 1};

// Shared memory says how many fit on an SM.
inline const Shape kRows2{"rows, 2 on an SM", update_rows, 256, 100 << 10, 1};
inline const Shape kRows4{"rows, 4 on an SM", update_rows, 256, 50 << 10, 1};
inline const Shape kRows8{"rows, 8 on an SM", update_rows, 256, 0, 1};
inline const Shape kStream{"stream, 8 on an SM", stream, 256, 0, 1};
inline const Shape kFma2{"multiply-add, 2 on an SM", multiply, 256, 100 << 10, 1};

inline int fits(const Shape& shape) {
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(shape.kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shape.shared_bytes),
        "shared memory");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shape.kernel, shape.threads, shape.shared_bytes),
        "occupancy");
  return blocks;
}

// `amount`: nanoseconds, or what the kernel says. `stays` has room for `blocks`; `out` is what the kernel works on.
inline cudaError_t launch(cudaStream_t stream, const Shape& shape, int blocks, double amount, Stay* stays, float* out) {
  fits(shape);  // sets the shared memory that it may have
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  config.attrs = &cluster;
  config.numAttrs = shape.cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, shape.kernel, stays,
                            static_cast<std::uint64_t>(amount) | (shape.uneven ? kUneven : 0), 0.5F, out);
}

constexpr int kMostBlocks = 1 << 16;

struct Launched {
  std::string name;
  int blocks;
  std::size_t first;  // of its stays
};

// When blocks started or ended, sorted, every twentieth part.
inline void print_twentieths(const char* name, std::vector<std::int64_t> times) {
  std::sort(times.begin(), times.end());
  std::printf(",\"%s\":[", name);
  for (std::size_t i = 0; i <= 20; ++i) {
    std::printf("%s%lld", i ? "," : "", (long long)times[std::min(times.size() - 1, i * times.size() / 20)]);
  }
  std::printf("]");
}

class Stage {
 public:
  Stage() {
    check(cudaMalloc(&stays_, kMostBlocks * sizeof(Stay)), "memory");
    check(cudaMalloc(&out_, kTableBytes), "memory");
    check(cudaMemset(out_, 0, kTableBytes), "memory");
    int least = 0;
    int greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities");
    for (int i = 0; i < 4; ++i) check(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "stream");
    for (int i = 4; i < 8; ++i) {
      check(cudaStreamCreateWithPriority(&streams_[i], cudaStreamNonBlocking, greatest), "stream");
    }
    for (cudaEvent_t& e : events_) check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "event");
  }

  // As above. Streams 0 to 3 are of one priority, 4 to 7 more urgent.
  void launch(int stream, const Shape& shape, int blocks, double amount, const std::string& name) {
    if (next_ + blocks > kMostBlocks) std::exit(2);
    check(placement::launch(streams_[stream], shape, blocks, amount, stays_ + next_, out_), "launch");
    launched_.push_back({name, blocks, next_});
    next_ += blocks;
  }

  cudaStream_t stream(int stream) const { return streams_[stream]; }

  int record(int stream) {
    const int event = next_event_++;
    check(cudaEventRecord(events_[event], streams_[stream]), "record");
    return event;
  }
  void stay_us(int stream, const Shape& shape, int blocks, double us, const std::string& name) {
    launch(stream, shape, blocks, us * 1000, name);
  }
  void wait(int stream, int event) { check(cudaStreamWaitEvent(streams_[stream], events_[event], 0), "wait"); }

  // Lets the host issue all of a scene before any of it runs; ends streams 0 to 7 behind it.
  void gate(double us) {
    launch(0, kDelay, 1, us * 1000, "gate");
    const int event = record(0);
    for (int s = 1; s < 8; ++s) wait(s, event);
  }

  void print(const std::string& scene, const std::string& settings) {
    check(cudaDeviceSynchronize(), "scene");
    std::vector<Stay> stays(next_);
    check(cudaMemcpy(stays.data(), stays_, next_ * sizeof(Stay), cudaMemcpyDeviceToHost), "copy");
    const std::uint64_t zero = stays[0].to_ns;  // the gate's end
    std::printf("{\"scene\":\"%s\",%s,\"kernels\":[", scene.c_str(), settings.c_str());
    for (std::size_t k = 0; k < launched_.size(); ++k) {
      const Launched& l = launched_[k];
      std::vector<std::int64_t> from;
      std::vector<std::int64_t> to;
      std::map<std::uint32_t, int> first_round;
      std::set<std::uint32_t> sms;
      double stayed = 0;
      for (int b = 0; b < l.blocks; ++b) {
        const Stay& s = stays[l.first + b];
        from.push_back(static_cast<std::int64_t>(s.from_ns - zero));
        to.push_back(static_cast<std::int64_t>(s.to_ns - zero));
        sms.insert(s.sm);
        stayed += static_cast<double>(s.to_ns - s.from_ns) / l.blocks;
      }
      const std::int64_t start = *std::min_element(from.begin(), from.end());
      const std::int64_t first_end = *std::min_element(to.begin(), to.end());
      for (int b = 0; b < l.blocks; ++b) {
        if (from[b] < first_end) ++first_round[stays[l.first + b].sm];
      }
      std::map<int, int> density;  // of the first round: blocks on an SM -> SMs
      for (const auto& [sm, count] : first_round) ++density[count];
      std::set<std::uint32_t> at_first;  // SMs on which blocks ran within 20 us of the first
      for (int b = 0; b < l.blocks; ++b) {
        if (from[b] < start + 20'000) at_first.insert(stays[l.first + b].sm);
      }
      std::printf(
          "%s{\"name\":\"%s\",\"blocks\":%d,\"first_start\":%lld,\"last_start\":%lld,\"first_end\":%lld,"
          "\"last_end\":%lld,\"stayed\":%.0f,\"sms\":%zu,\"sms_at_first\":%zu,\"density\":{",
          k ? "," : "", l.name.c_str(), l.blocks, (long long)start,
          (long long)*std::max_element(from.begin(), from.end()), (long long)first_end,
          (long long)*std::max_element(to.begin(), to.end()), stayed, sms.size(), at_first.size());
      bool comma = false;
      for (const auto& [blocks, count] : density) {
        std::printf("%s\"%d\":%d", comma ? "," : "", blocks, count);
        comma = true;
      }
      std::printf("}");
      if (l.name.starts_with("nccl")) {
        std::printf(",\"starts\":[");
        for (int b = 0; b < l.blocks; ++b) std::printf("%s%lld", b ? "," : "", (long long)from[b]);
        std::printf("],\"on\":[");
        for (int b = 0; b < l.blocks; ++b) std::printf("%s%u", b ? "," : "", stays[l.first + b].sm);
        std::printf("]");
      } else if (l.blocks <= 3000) {
        print_twentieths("deciles", from);
        print_twentieths("ends", to);
      }
      std::printf("}");
    }
    std::printf("]}\n");
    launched_.clear();
    next_ = 0;
    next_event_ = 0;
  }

 private:
  Stay* stays_ = nullptr;
  float* out_ = nullptr;
  cudaStream_t streams_[8];
  cudaEvent_t events_[32];
  std::size_t next_ = 0;
  int next_event_ = 0;
  std::vector<Launched> launched_;
};

inline std::string setting(const char* name, const char* value) {
  return std::string("\"") + name + "\":\"" + value + "\"";
}
inline std::string number(const char* name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "\"%s\":%g", name, value);
  return text;
}

}  // namespace placement
