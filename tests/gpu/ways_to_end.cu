// ways_to_end WAY [FILE]: launches kernels for a while, then ends in one of the ways in which programs end.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "cuda_check.hpp"

namespace {

__global__ void short_kernel() {}

__global__ void long_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

void launch(int count) {
  for (int i = 0; i < count; ++i) short_kernel<<<1, 32>>>();
  CHECK(cudaGetLastError());
}

void launch_and_wait(int count) {
  launch(count);
  CHECK(cudaDeviceSynchronize());
}

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Launches until somebody ends the process. The file holds, at each moment, when device work was last known to be
/// done, how many kernels that were, and when they began.
[[noreturn]] void launch_for_ever(const char* file) {
  const int descriptor = open(file, O_RDWR | O_CREAT, 0666);
  constexpr std::size_t kBytes = 4096;
  if (descriptor < 0 || ftruncate(descriptor, kBytes) != 0) std::_Exit(4);
  auto* shared =
      static_cast<volatile std::int64_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
  launch_and_wait(1);
  shared[2] = now();
  for (std::int64_t done = 0;;) {
    constexpr int kBatch = 50;
    launch_and_wait(kBatch);
    done += kBatch;
    shared[1] = done;
    shared[0] = now();
  }
}

int fork_before(const char* program) {
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, "return", nullptr);
    std::_Exit(5);
  }
  launch_and_wait(100);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int fork_after() {
  launch_and_wait(100);
  const pid_t child = fork();
  if (child == 0) {
    // CUDA refuses all of these in a child, and the child goes on.
    void* memory = nullptr;
    cudaMalloc(&memory, 4096);
    cudaFree(memory);
    cudaDeviceSynchronize();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  launch_and_wait(100);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "return") {
    launch_and_wait(200);
    return 0;
  }
  if (way == "running") {
    launch_and_wait(200);
    long_kernel<<<1, 1>>>(20'000'000'000LL);
    return 0;  // while the kernel runs
  }
  if (way == "unsynchronised") {
    launch(200);
    return 0;
  }
  if (way == "fork_before") return fork_before(argv[0]);
  if (way == "fork_after") return fork_after();
  if (way == "device_reset") {
    launch_and_wait(200);
    CHECK(cudaDeviceReset());
    return 0;
  }
  if (way == "run" && argc > 2) launch_for_ever(argv[2]);
  launch_and_wait(200);
  pause(300);  // several flushes
  if (way == "_exit") _exit(7);
  if (way == "abort") std::abort();
  if (way == "exec") execl(argv[0], argv[0], "return", nullptr);
  std::fprintf(stderr, "unknown way\n");
  return 2;
}
