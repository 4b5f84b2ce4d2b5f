#include "simulator/replay/observation.hpp"

#include <algorithm>

#include "simulator/base/statistics.hpp"

namespace interlace::replay {

using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

CollectiveCompany::CollectiveCompany(const Trace& trace, trace::RankId rank, const Arrivals& arrivals) {
  constexpr std::int64_t kMoreThanSms = 4096;  // of any GPU: a damaged recording may say anything
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.kind(op) != OperationKind::kCollective || trace.rank_of(op) != rank) continue;
    const Interval span{trace.start(op), trace.end(op)};
    const auto ctas = static_cast<std::int32_t>(std::min<std::int64_t>(trace.kernel(op)->blocks(), kMoreThanSms));
    const auto found = arrivals.find(op);
    const Nanoseconds arrival = found == arrivals.end() ? span.begin : std::clamp(found->second, span.begin, span.end);
    if (arrival > span.begin) held_.push_back({{span.begin, arrival}, ctas, false});
    if (arrival < span.end) held_.push_back({{arrival, span.end}, ctas, true});
  }
  std::ranges::stable_sort(held_, {}, [](const Held& h) { return h.span.begin; });
  for (const Held& h : held_) longest_ = std::max(longest_, h.span.length());
}

std::vector<contention::HeldSms> CollectiveCompany::beside(Interval span) const {
  std::vector<contention::HeldSms> result;
  auto at = std::ranges::lower_bound(held_, span.begin - longest_, {}, [](const Held& h) { return h.span.begin; });
  for (; at != held_.end() && at->span.begin < span.end; ++at) {
    if (intersection(at->span, span).length() == 0) continue;
    const auto since_begin = [&](Nanoseconds at_ns) { return static_cast<double>(at_ns - span.begin); };
    result.push_back({since_begin(at->span.begin), since_begin(at->span.end), at->ctas, at->moving});
  }
  return result;
}

std::vector<CollectiveCompany> collective_company(const Trace& trace, const Arrivals& arrivals) {
  std::vector<CollectiveCompany> company;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) company.emplace_back(trace, trace::RankId{r}, arrivals);
  return company;
}

DeviceCompany::DeviceCompany(const Trace& trace, trace::RankId rank) : trace_(&trace) {
  constexpr auto kDevice = trace::MemorySpace::kDevice;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.rank_of(op) != rank) continue;
    const trace::CopyDetail* copy = trace.kind(op) == OperationKind::kCopy ? trace.copy(op) : nullptr;
    const bool within_device = copy != nullptr && copy->source == kDevice && copy->destination == kDevice;
    if (trace.kind(op) != OperationKind::kKernel && !within_device) continue;
    works_.push_back(op);
    longest_ = std::max(longest_, trace.duration(op));
  }
}

DeviceCompany::Beside DeviceCompany::beside(OperationId op) const {
  const Interval span{trace_->start(op), trace_->end(op)};
  Beside beside;
  Nanoseconds counted_until = span.begin;
  Nanoseconds later_until = span.begin;
  const auto start = [&](OperationId other) { return trace_->start(other); };
  auto at = std::ranges::lower_bound(works_, span.begin - longest_, {}, start);
  for (; at != works_.end() && trace_->start(*at) < span.end; ++at) {
    if (trace_->lane_of(*at) == trace_->lane_of(op)) continue;
    const Nanoseconds end = std::min(trace_->end(*at), span.end);
    beside.all += std::max<Nanoseconds>(0, end - std::max(trace_->start(*at), counted_until));
    counted_until = std::max(counted_until, end);
    if (trace_->start(*at) <= span.begin) continue;
    beside.came_later += std::max<Nanoseconds>(0, end - std::max(trace_->start(*at), later_until));
    later_until = std::max(later_until, end);
  }
  return beside;
}

Observation observe(const Trace& trace, OperationId op, const CollectiveCompany& company) {
  Observation o;
  const Interval span{trace.start(op), trace.end(op)};
  o.measured_ns = static_cast<double>(span.length());
  o.held = company.beside(span);
  for (const contention::Company& company_then : contention::company_of(o.measured_ns, o.held)) {
    o.covered_ns += company_then.length_ns;
    if (company_then.ctas.moving > 0) o.moving_ns += company_then.length_ns;
    o.ctas = std::max(o.ctas, static_cast<std::int32_t>(company_then.ctas.all()));
  }
  return o;
}

std::vector<double> times_where(const std::vector<Observation>& observations, const std::vector<double>& times,
                                bool (*holds)(const Observation&)) {
  std::vector<double> result;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (holds(observations[i])) result.push_back(times[i]);
  }
  return result;
}

std::vector<double> times_by_itself(const std::vector<Observation>& observations, const std::vector<double>& times) {
  return times_where(observations, times, [](const Observation& o) { return !o.in_company(); });
}

double shortest_time(const std::vector<Observation>& observations, const std::vector<double>& times) {
  constexpr std::size_t kEnough = 3;
  constexpr double kLeastPart = 0.5;
  const std::vector<double> by_itself = times_by_itself(observations, times);
  // By itself for the most part of its time was also one that read overwritten input and took a thousand times as long.
  const double usual =
      by_itself.size() < kEnough ? 0.0 : std::min(statistics::median(by_itself), statistics::median(times));
  const double least = kLeastPart * usual;
  double shortest = *std::ranges::max_element(times);
  for (const double time : times) {
    if (time >= least) shortest = std::min(shortest, time);
  }
  return shortest;
}

double spread_of(const std::vector<double>& values, double most) {
  if (values.size() < 4) return std::min(most, 0.003);
  const double middle = statistics::median(values);
  const double half = (statistics::quantile(values, 0.75) - statistics::quantile(values, 0.25)) / 2.0;
  return middle <= 0 ? 0.0 : std::min(most, half / 0.674 / middle);
}

}  // namespace interlace::replay
