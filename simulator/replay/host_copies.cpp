#include "simulator/replay/host_copies.hpp"

#include <algorithm>
#include <utility>

namespace interlace::replay {

HostCopies host_copies(const trace::Trace& trace, const SiteTable& table, const IntervalSet& transfers) {
  std::vector<Interval> busy;
  HostCopies result;
  for (const Site& site : table.sites) {
    if (site.kind != WorkKind::kHostCopy || site.bytes < kLeastHostCopy) continue;
    for (const trace::OperationId op : site.instances) {
      const Interval span{trace.start(op), trace.end(op)};
      busy.push_back(span);
      const auto bytes = static_cast<double>(trace.copy(op)->bytes);
      if (bytes <= 0 || span.length() <= 0) continue;
      const auto time = static_cast<double>(span.length());
      result.copies.push_back({bytes, time / bytes, static_cast<double>(transfers.covered(span)) / time});
    }
  }
  result.busy = IntervalSet(std::move(busy));
  return result;
}

std::optional<HostCopyCosts> seen_host_copy_costs(const std::vector<HostCopy>& copies) {
  constexpr std::size_t kEnough = 4;
  constexpr double kLeastSpread = 0.15;  // of the parts, as a standard deviation
  if (copies.size() < kEnough) return std::nullopt;
  double bytes = 0;
  double part = 0;
  double pace = 0;  // bytes a ns
  for (const HostCopy& c : copies) {
    bytes += c.bytes;
    part += c.bytes * c.beside;
    pace += c.bytes / c.ns_a_byte;
  }
  part /= bytes;
  pace /= bytes;
  double variance = 0;
  double covariance = 0;
  for (const HostCopy& c : copies) {
    variance += c.bytes / bytes * (c.beside - part) * (c.beside - part);
    covariance += c.bytes / bytes * (c.beside - part) * (1.0 / c.ns_a_byte - pace);
  }
  if (variance < kLeastSpread * kLeastSpread) return std::nullopt;
  const double slope = std::min(0.0, covariance / variance);
  const double alone = pace - slope * part;
  if (alone + slope <= 0) return std::nullopt;
  return HostCopyCosts{1.0 / alone, 1.0 / (alone + slope)};
}

double mean_cost_alone(const std::vector<HostCopy>& copies, double rate) {
  double bytes = 0;
  double cost = 0;
  for (const HostCopy& c : copies) {
    bytes += c.bytes;
    cost += c.bytes * c.ns_a_byte * (1.0 - c.beside + c.beside * rate);
  }
  return cost / bytes;
}

}  // namespace interlace::replay
