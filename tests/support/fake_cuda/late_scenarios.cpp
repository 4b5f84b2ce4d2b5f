#include <dlfcn.h>

#include <cstdlib>
#include <iostream>

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

}  // namespace

Scenarios late_scenarios() { return {{"late_torch", late_torch}}; }

}  // namespace interlace::testing
