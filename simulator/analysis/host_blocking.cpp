#include "simulator/analysis/host_blocking.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>

#include "simulator/graph/blocking_copies.hpp"

namespace interlace::analysis {

using trace::OperationId;
using trace::OperationKind;

std::string_view to_string(BlockKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"stream sync", "event sync", "device sync", "blocking copy",
                                                          "sync"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

BlockKind sync_kind(const trace::Trace& trace, OperationId op) {
  const trace::SyncDetail* detail = trace.sync(op);
  switch (detail == nullptr ? trace::SyncKind::kUnknown : detail->kind) {
    case trace::SyncKind::kStreamSync: return BlockKind::kStreamSync;
    case trace::SyncKind::kEventSync: return BlockKind::kEventSync;
    case trace::SyncKind::kDeviceSync: return BlockKind::kDeviceSync;
    default: return BlockKind::kOtherSync;
  }
}

}  // namespace

std::optional<BlockKind> blocks_host(const trace::Trace& trace, OperationId host_call) {
  if (trace.kind(host_call) == OperationKind::kHostSync) return sync_kind(trace, host_call);
  if (trace.kind(host_call) != OperationKind::kHostCall) return std::nullopt;
  for (const OperationId launched : trace.launched_by(host_call)) {
    if (graph::returned_behind(trace, host_call, launched)) return BlockKind::kBlockingCopy;
  }
  return std::nullopt;
}

std::vector<HostBlock> host_blocking(const trace::Trace& trace, const Annotations& annotations,
                                     std::span<const StepWindow> windows) {
  assert(windows.size() == trace.ranks().size());
  struct Sum {
    double blocked = 0;  // a step, summed over ranks
    double calls = 0;
  };
  std::map<std::pair<std::string_view, BlockKind>, Sum> sums;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    const auto kind = blocks_host(trace, op);
    if (!kind) continue;
    const StepWindow& window = windows[trace.rank_of(op).index()];
    const Interval clipped = intersection({trace.start(op), trace.end(op)}, window.span);
    if (clipped.length() == 0) continue;
    Sum& sum = sums[{annotations.place_of(op), *kind}];
    sum.blocked += static_cast<double>(clipped.length()) / static_cast<double>(window.steps);
    sum.calls += 1.0 / static_cast<double>(window.steps);
  }
  std::vector<HostBlock> result;
  const auto ranks = static_cast<double>(std::max<std::size_t>(1, windows.size()));
  for (const auto& [key, sum] : sums) {
    result.push_back({std::string(key.first), key.second, std::llround(sum.blocked / ranks), sum.calls / ranks});
  }
  std::ranges::stable_sort(result, std::ranges::greater{}, &HostBlock::blocked_ns);
  return result;
}

Nanoseconds total_blocked(std::span<const HostBlock> blocks) {
  Nanoseconds sum = 0;
  for (const HostBlock& block : blocks) sum += block.blocked_ns;
  return sum;
}

}  // namespace interlace::analysis
