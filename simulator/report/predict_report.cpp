#include "simulator/report/predict_report.hpp"

#include <algorithm>
#include <numeric>

namespace interlace::report {

std::vector<std::size_t> by_step_time(const PredictReport& report) {
  std::vector<std::size_t> order(report.predictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return report.predictions[i].step_time_ns; });
  return order;
}

std::optional<std::size_t> fastest(const PredictReport& report) {
  const auto order = by_step_time(report);
  return order.empty() ? std::nullopt : std::optional(order.front());
}

}  // namespace interlace::report
