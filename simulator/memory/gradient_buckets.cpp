#include "simulator/memory/gradient_buckets.hpp"

#include <algorithm>
#include <string_view>

#include "simulator/memory/named_ranges.hpp"

namespace interlace::memory {

namespace {

constexpr std::string_view kForward = "DistributedDataParallel.forward";

/// Of the all-reduces that backward sends in an iteration, in order.
std::vector<Bytes> reduced(const trace::Trace& trace, const stages::Iteration& iteration) {
  std::vector<Bytes> sizes;
  for (const stages::Item& item : iteration.items) {
    if (item.segment.stage != schedule::Stage::kBackward) continue;
    for (const trace::OperationId work : trace.launched_by(item.call)) {
      const trace::CollectiveDetail* collective = trace.collective(work);
      if (collective == nullptr || collective->function != trace::CollectiveFunction::kAllReduce) continue;
      sizes.push_back(collective->in_elements * collective->element_bytes);
    }
  }
  return sizes;
}

}  // namespace

std::vector<Bytes> take_gradient_buckets(const trace::Trace& trace, const stages::RankCut& cut,
                                         std::vector<Bytes>& persistent) {
  if (cut.iterations.empty() || named_ranges(trace, cut.rank, kForward).empty()) return {};
  std::vector<Bytes> buckets = reduced(trace, cut.iterations.back());
  std::vector<Bytes> others = persistent;
  for (const Bytes bytes : buckets) {
    const auto found = std::ranges::find(others, bytes);
    if (found == others.end()) return {};
    others.erase(found);
  }
  persistent = std::move(others);
  return buckets;
}

}  // namespace interlace::memory
