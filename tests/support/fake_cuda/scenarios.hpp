#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "tests/support/fake_cuda/fake_cuda.hpp"

/// What fake_program can do, and what its scenarios are made of.
namespace interlace::testing {

/// By name; each takes a number.
using Scenarios = std::map<std::string, std::function<void(int)>>;

[[nodiscard]] Scenarios collective_scenarios();
/// Of what comes when recording has begun: libraries and children.
[[nodiscard]] Scenarios late_scenarios();

inline constexpr std::uint32_t kCompute = 7;
inline constexpr const char* kKernel = "_Z3addPfS_i";

inline void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

inline void launches(int count, int fate = kFakeNormal) {
  for (int i = 0; i < count; ++i) fake_cuda_launch(kCompute, kKernel, 1'000, fate);
}

}  // namespace interlace::testing
