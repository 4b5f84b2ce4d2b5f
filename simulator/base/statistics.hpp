#pragma once

#include <vector>

namespace interlace::statistics {

/// The q-quantile (0 <= q <= 1) by linear interpolation between the two nearest of the sorted values.
/// REQUIRES: values is not empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double mean(const std::vector<double>& values);

/// The non-decreasing sequence nearest to this one in the mean of squares (pool adjacent violators).
[[nodiscard]] std::vector<double> non_decreasing(const std::vector<double>& values);

}  // namespace interlace::statistics
