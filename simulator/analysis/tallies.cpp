#include "simulator/analysis/tallies.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "simulator/base/saturating.hpp"

namespace interlace::analysis {

using trace::OperationId;
using trace::OperationKind;

std::array<std::int64_t, trace::kOperationKinds> count_operations(const trace::Trace& trace) {
  std::array<std::int64_t, trace::kOperationKinds> counts{};
  for (const OperationKind kind : trace.kinds()) ++counts[static_cast<std::size_t>(kind)];
  return counts;
}

std::vector<KernelTally> top_kernels(const trace::Trace& trace, std::size_t at_most) {
  std::vector<KernelTally> of_name(trace.strings().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) != OperationKind::kKernel) continue;
    KernelTally& tally = of_name[trace.names()[i].index()];
    const Nanoseconds duration = trace.duration({i});
    tally.shortest_ns = tally.count == 0 ? duration : std::min(tally.shortest_ns, duration);
    tally.longest_ns = std::max(tally.longest_ns, duration);
    tally.total_ns += duration;
    ++tally.count;
  }
  for (std::size_t i = 0; i < of_name.size(); ++i) {
    if (of_name[i].count > 0) of_name[i].name = trace.strings()[i];
  }
  std::erase_if(of_name, [](const KernelTally& tally) { return tally.count == 0; });
  std::ranges::sort(of_name, {}, [](const KernelTally& t) { return std::pair(-t.total_ns, std::string_view(t.name)); });
  if (of_name.size() > at_most) of_name.resize(at_most);
  return of_name;
}

std::vector<CollectiveTally> tally_collectives(const trace::Trace& trace) {
  using Key = std::tuple<trace::CollectiveFunction, std::string_view, std::string_view, std::int32_t>;
  std::map<Key, CollectiveTally> tallies;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.kind(op) != OperationKind::kCollective) continue;
    const trace::CollectiveDetail* detail = trace.collective(op);
    Key key{trace::CollectiveFunction::kUnknown, trace.name(op), {}, 0};
    if (detail != nullptr) {
      const std::string_view name = trace.text(detail->name);
      key = {detail->function, name.empty() ? trace.name(op) : name, trace.text(detail->dtype), detail->group_size};
    }
    CollectiveTally& tally = tallies[key];
    ++tally.count;
    tally.total_ns += trace.duration(op);
    if (detail == nullptr) continue;
    tally.in_bytes = saturating_sum(tally.in_bytes, detail->in_elements * detail->element_bytes);
    tally.out_bytes = saturating_sum(tally.out_bytes, detail->out_elements * detail->element_bytes);
    tally.most_channels = std::max(tally.most_channels, detail->channels);
    if (detail->in_buffer || detail->out_buffer) ++tally.with_buffers;
  }
  std::vector<CollectiveTally> result;
  for (auto& [key, tally] : tallies) {
    tally.function = std::get<0>(key);
    tally.name = std::get<1>(key);
    tally.dtype = std::get<2>(key);
    tally.group_size = std::get<3>(key);
    result.push_back(std::move(tally));
  }
  std::ranges::stable_sort(result, std::ranges::greater{}, &CollectiveTally::total_ns);
  return result;
}

NoteTally tally_notes(const trace::Trace& trace) {
  NoteTally tally;
  std::map<std::string_view, std::int64_t> categories;
  for (const auto& [operation, note] : trace.notes()) {
    if (note.payload) ++tally.payloads;
    if (note.is_open) ++tally.open_ranges;
    if (note.external) ++tally.externals;
    if (note.category) ++categories[trace.text(*note.category)];
  }
  for (const auto& [name, count] : categories) tally.categories.emplace_back(name, count);
  return tally;
}

}  // namespace interlace::analysis
