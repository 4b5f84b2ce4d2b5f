#pragma once

#include <vector>

namespace interlace::statistics {

/// The q-quantile (0 <= q <= 1) by linear interpolation between the two nearest of the sorted values.
/// REQUIRES: values is not empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double mean(const std::vector<double>& values);

/// Which of the times of equal steps were stalls, in which something stood still for once: those of more than two
/// medians. None of fewer than four, which tell no usual time.
[[nodiscard]] std::vector<bool> stalls(const std::vector<double>& times);

/// The non-decreasing sequence nearest to this one in the mean of squares (pool adjacent violators).
[[nodiscard]] std::vector<double> non_decreasing(const std::vector<double>& values);

}  // namespace interlace::statistics
