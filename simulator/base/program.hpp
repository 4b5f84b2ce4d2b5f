#pragma once

#include <functional>

#include "simulator/base/error.hpp"

namespace interlace {

inline constexpr ErrorCode kOutputLost{"program.output_lost"};
inline constexpr ErrorCode kOutOfMemory{"program.out_of_memory"};
inline constexpr ErrorCode kUnforeseen{"program.unforeseen"};

/// Exit statuses of the programs.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

/// Runs the whole of a program, which gives its exit status, and gives that of the process. What escapes it becomes one
/// line on standard error and `failure`, and so does standard output that cannot be written. `failure` is read when it
/// is needed: the program may choose it.
[[nodiscard]] int end_of(const std::function<int()>& program, const int& failure = kFailure);

}  // namespace interlace
