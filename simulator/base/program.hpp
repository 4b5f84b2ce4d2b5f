#pragma once

#include <functional>

namespace interlace {

/// Exit statuses of the programs.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

/// Runs the whole of a program, which gives its exit status, and gives that of the process. What escapes it becomes one
/// line on standard error and kFailure, and so does standard output that cannot be written.
[[nodiscard]] int end_of(const std::function<int()>& program);

}  // namespace interlace
