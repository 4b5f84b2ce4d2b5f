// How urgent kernels come in beside kernels that follow indices. Prints a line of JSON for each repetition of each
// scene, for summarise.py. One GPU of compute capability 9.0.
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -o urgent urgent.cu && ./urgent REPEATS > urgent.jsonl

#include "blocks.cuh"

using namespace placement;

namespace {

// As the engine's row updates: 16 lanes a row of 256 bytes, rows dealt out to the groups of all blocks in turn; sums
// kUses rows from anywhere and adds them to one. kLive registers stay alive, which decides how many blocks fit.
template <int kLive, int kUses>
__global__ void __launch_bounds__(256) gather(Stay* stays, std::uint64_t rows, float seed, float* memory) {
  const std::uint64_t from = now_ns();
  auto* table = reinterpret_cast<float4*>(memory);
  constexpr std::uint64_t kRows = kTableBytes / 256 / 2;
  float live[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) live[i] = seed * static_cast<float>(i + threadIdx.x);
  const std::uint64_t groups = gridDim.x * std::uint64_t{16};
  const int lane = threadIdx.x % 16;
  for (std::uint64_t r = blockIdx.x * std::uint64_t{16} + threadIdx.x / 16; r < rows; r += groups) {
    float4 sum = {0, 0, 0, 0};
#pragma unroll 2
    for (int u = 0; u < kUses; ++u) {
      const std::uint64_t hash = (r * kUses + u + 1) * kScatter;
      const float4 v = table[(hash >> 20) % (kRows / 16) * 16 + lane];
      sum.x += v.x;
      sum.y += v.y;
      sum.z += v.z;
      sum.w += v.w;
    }
    float4* to = table + (kRows + (r * kScatter >> 24) % kRows) * 16 + lane;
    float4 old = *to;
    old.x += seed * sum.x;
    old.y += seed * sum.y;
    old.z += seed * sum.z;
    old.w += seed * sum.w;
    *to = old;
#pragma unroll
    for (int i = 0; i < kLive; ++i) live[i] = fmaf(live[i], seed, live[(i + 1) % kLive]);
  }
  use(live, memory);
  write_down(stays, from);
}

constexpr int kBlocks = 1056;
constexpr double kRowCount = 3.0e6;  // two milliseconds

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 3;
  const Shape by_registers4{"4 on an SM, by registers", gather<36, 8>, 256, 0, 1};
  const Shape by_registers2{"2 on an SM, by registers", gather<80, 8>, 256, 0, 1};
  const Shape by_shared4{"4 on an SM, by shared memory", gather<2, 8>, 256, 50 << 10, 1};
  const Shape no_shared{"stay, no shared memory", stay<256, 14>, 256, 0, 1};
  const Shape little_shared{"stay, 80 B of shared memory", stay<256, 14>, 256, 80, 1};
  const Shape much_shared{"stay, 20 KiB of shared memory", stay<256, 14>, 256, 20 << 10, 1};
  Stage stage;
  const auto urgent = [&](const Shape& shape, int blocks) {
    if (shape.kernel == kStream.kernel) {
      stage.launch(4, shape, blocks, 40, "urgent");
    } else {
      stage.stay_us(4, shape, blocks, 150, "urgent");
    }
  };
  stage.gate(10);  // the first launches load code
  for (const Shape* s : {&by_registers4, &by_registers2, &by_shared4}) stage.launch(1, *s, 132, 2000, s->name);
  for (const Shape* s : {&no_shared, &little_shared, &much_shared, &kNccl}) stage.stay_us(1, *s, 4, 1, s->name);
  stage.launch(1, kStream, 8, 2, "stream");
  stage.print("warm-up", number("repeat", 0));

  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const Shape* kernel : {&by_registers4, &by_registers2, &by_shared4}) {
      const std::string base = setting("gather", kernel->name) + "," + number("repeat", repeat);
      stage.gate(60);
      stage.launch(1, *kernel, kBlocks, kRowCount, "gather");
      stage.print("gather", base);
      for (const int ctas : {4, 32}) {
        for (const double us : {1000.0, 20000.0}) {
          stage.gate(60);
          stage.stay_us(2, kNccl, ctas, us, "nccl");
          stage.stay_us(4, kDelay, 1, 30, "delay");
          stage.wait(1, stage.record(4));
          stage.launch(1, *kernel, kBlocks, kRowCount, "gather");
          stage.print("gather beside nccl", base + "," + number("ctas", ctas) + "," + number("us", us));
        }
      }
      for (const Shape* shape : {&no_shared, &little_shared, &much_shared, &kStream}) {
        for (const int blocks : {320, 2560}) {
          // The delay has its place before the kernel comes: else it would wait for a round to end, too.
          stage.gate(60);
          stage.stay_us(5, kDelay, 1, 500, "delay");
          stage.wait(4, stage.record(5));
          stage.stay_us(6, kDelay, 1, 30, "head start");
          stage.wait(1, stage.record(6));
          stage.launch(1, *kernel, kBlocks, kRowCount, "gather");
          urgent(*shape, blocks);
          stage.print("urgent", base + "," + setting("urgent", shape->name) + "," + number("asked", blocks));
        }
      }
    }
    for (const Shape* shape : {&no_shared, &little_shared, &much_shared, &kStream}) {
      for (const int blocks : {320, 2560}) {
        stage.gate(60);
        urgent(*shape, blocks);
        stage.print("urgent alone",
                    setting("urgent", shape->name) + "," + number("asked", blocks) + "," + number("repeat", repeat));
      }
    }
  }
  return 0;
}
