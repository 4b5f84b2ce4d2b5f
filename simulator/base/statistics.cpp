#include "simulator/base/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace interlace::statistics {

double quantile(std::vector<double> values, double q) {
  assert(!values.empty() && q >= 0.0 && q <= 1.0);
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double mean(const std::vector<double>& values) {
  assert(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<bool> stalls(const std::vector<double>& times) {
  constexpr std::size_t kEnoughToTell = 4;
  constexpr double kStall = 2.0;
  std::vector<bool> stalled(times.size(), false);
  if (times.size() < kEnoughToTell) return stalled;
  const double usual = median(times);
  for (std::size_t i = 0; i < times.size(); ++i) stalled[i] = times[i] > kStall * usual;
  return stalled;
}

std::vector<double> non_decreasing(const std::vector<double>& values) {
  struct Pool {
    double sum;
    std::size_t count;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    Pool pool{value, 1};
    while (!pools.empty() && pools.back().mean() > pool.mean()) {
      pool = {pool.sum + pools.back().sum, pool.count + pools.back().count};
      pools.pop_back();
    }
    pools.push_back(pool);
  }
  std::vector<double> result;
  for (const Pool& pool : pools) result.insert(result.end(), pool.count, pool.mean());
  return result;
}

}  // namespace interlace::statistics
