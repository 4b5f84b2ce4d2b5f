#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "cupti_collector/collector.hpp"
#include "tests/support/fake_cuda/scenarios.hpp"

namespace interlace::testing {

namespace {

/// Loads PyTorch, which FAKE_TORCH names, when CUDA has begun and is recorded.
void late_torch(int) {
  launches(1);
  fake_cuda_synchronize();
  std::cout << "loaded " << (dlopen(std::getenv("FAKE_TORCH"), RTLD_NOW) != nullptr ? 1 : 0) << std::endl;
  pause(1'000);  // the recorder looks for it four times a second
}

/// Of address space, MiB.
std::int64_t mapped() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096 >> 20;
}

/// Forks a child, as a loader of data does, which marks in so many threads, one after the other.
void marks_in_child(int threads) {
  launches(1);
  fake_cuda_synchronize();
  const pid_t child = fork();
  if (child == 0) {
    std::int64_t before = 0;
    for (int i = 0; i < threads; ++i) {
      if (i == 20) before = mapped();  // stacks are kept
      std::thread([] { interlace::collector::mark("in the child"); }).join();
    }
    std::cout << "the child took " << (mapped() - before > threads / 2 ? "much" : "little") << std::endl;
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

Scenarios late_scenarios() { return {{"late_torch", late_torch}, {"marks_in_child", marks_in_child}}; }

}  // namespace interlace::testing
