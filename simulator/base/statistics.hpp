#pragma once

#include <vector>

namespace interlace::statistics {

/// The q-quantile (0 <= q <= 1) by linear interpolation between the two nearest of the sorted values.
/// REQUIRES: values is not empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double mean(const std::vector<double>& values);

}  // namespace interlace::statistics
