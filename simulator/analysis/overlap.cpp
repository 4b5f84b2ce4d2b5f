#include "simulator/analysis/overlap.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace interlace::analysis {

namespace {

using trace::OperationId;

constexpr std::array<std::string_view, 2> kLookupStages{"embedding_lookup", "data_parallel_lookup"};
constexpr std::array<std::string_view, 3> kDenseStages{"dense_forward", "backward", "optimizer_step"};

template <std::size_t N>
bool is_any(std::string_view label, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return is_stage(label, word); });
}

std::optional<double> ratio(Nanoseconds part, Nanoseconds whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void OverlapCount::add(Interval work, DeviceClass kind, std::optional<std::string_view> stage) {
  const Interval clipped = intersection(work, window_.span);
  if (clipped.length() == 0) return;
  of_class_[static_cast<std::size_t>(kind)].push_back(clipped);
  if (kind != DeviceClass::kCompute || !stage) return;
  if (is_any(*stage, kLookupStages)) lookup_.push_back(clipped);
  if (is_any(*stage, kDenseStages)) dense_.push_back(clipped);
}

OverlapSummary OverlapCount::summary() && {
  const auto set_of = [&](DeviceClass kind) {
    return IntervalSet(std::move(of_class_[static_cast<std::size_t>(kind)]));
  };
  const IntervalSet compute = set_of(DeviceClass::kCompute);
  const IntervalSet communication = set_of(DeviceClass::kCommunication);
  const IntervalSet copies = set_of(DeviceClass::kCopy);
  std::vector<Interval> all;
  for (const IntervalSet* of_class : {&compute, &communication, &copies}) {
    all.insert(all.end(), of_class->intervals().begin(), of_class->intervals().end());
  }
  const IntervalSet busy(std::move(all));

  const auto a_step = [&](Nanoseconds total) { return divided(total, window_.steps); };
  OverlapSummary summary;
  summary.step_ns = a_step(window_.span.length());
  summary.compute_ns = a_step(compute.length());
  summary.communication_ns = a_step(communication.length());
  summary.copy_ns = a_step(copies.length());
  summary.exposed_communication_ns = a_step(difference(communication, compute).length());
  // Taken as a remainder, so that hidden and exposed add up to the whole also after rounding.
  summary.communication_hidden_ns = summary.communication_ns - summary.exposed_communication_ns;
  summary.copy_hidden_ns = a_step(intersection(copies, compute).length());
  summary.exposed_copy_ns = a_step(difference(difference(copies, compute), communication).length());
  summary.idle_ns = summary.step_ns - a_step(busy.length());
  if (!lookup_.empty()) {
    const IntervalSet lookup(std::move(lookup_));
    summary.lookup_ns = a_step(lookup.length());
    summary.lookup_hidden_ns = a_step(intersection(lookup, IntervalSet(std::move(dense_))).length());
  }
  return summary;
}

std::optional<double> OverlapSummary::communication_hidden_ratio() const {
  return ratio(communication_hidden_ns, communication_ns);
}
std::optional<double> OverlapSummary::copy_hidden_ratio() const { return ratio(copy_hidden_ns, copy_ns); }
std::optional<double> OverlapSummary::busy_ratio() const { return ratio(step_ns - idle_ns, step_ns); }

OverlapSummary mean_of(std::span<const OverlapSummary> summaries) {
  OverlapSummary mean;
  if (summaries.empty()) return mean;
  const auto count = static_cast<std::int64_t>(summaries.size());
  const auto average = [&](Nanoseconds OverlapSummary::*field) {
    Nanoseconds sum = 0;
    for (const OverlapSummary& one : summaries) sum += one.*field;
    mean.*field = divided(sum, count);
  };
  for (const auto field :
       {&OverlapSummary::step_ns, &OverlapSummary::compute_ns, &OverlapSummary::communication_ns,
        &OverlapSummary::copy_ns, &OverlapSummary::communication_hidden_ns, &OverlapSummary::exposed_communication_ns,
        &OverlapSummary::copy_hidden_ns, &OverlapSummary::exposed_copy_ns, &OverlapSummary::idle_ns}) {
    average(field);
  }
  const auto average_known = [&](std::optional<Nanoseconds> OverlapSummary::*field) {
    Nanoseconds sum = 0;
    std::int64_t known = 0;
    for (const OverlapSummary& one : summaries) {
      if (!(one.*field)) continue;
      sum += *(one.*field);
      ++known;
    }
    if (known > 0) mean.*field = divided(sum, known);
  };
  average_known(&OverlapSummary::lookup_ns);
  average_known(&OverlapSummary::lookup_hidden_ns);
  return mean;
}

OverlapOfRanks overlap(const trace::Trace& trace, const Annotations& annotations, std::span<const StepWindow> windows) {
  assert(windows.size() == trace.ranks().size());
  std::vector<OverlapCount> counts(windows.begin(), windows.end());
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (lane.kind != trace::LaneKind::kStream) continue;
    for (const OperationId op : trace.on_lane({i})) {
      if (!trace::is_device_work(trace.kind(op))) continue;
      const auto label = annotations.stage_of(op);
      counts[lane.rank.index()].add({trace.start(op), trace.end(op)}, device_class(trace, op),
                                    label ? std::optional(label->stage) : std::nullopt);
    }
  }
  OverlapOfRanks result;
  for (OverlapCount& count : counts) result.ranks.push_back(std::move(count).summary());
  result.mean = mean_of(result.ranks);
  return result;
}

}  // namespace interlace::analysis
