#include "simulator/analysis/stage_overlap.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "simulator/analysis/device_class.hpp"

namespace interlace::analysis {

namespace {

using trace::OperationId;

struct Edge {
  Nanoseconds at;
  std::int32_t change;     // -1 before +1 at one instant, so that work back to back does not count as overlapping
  std::uint32_t instance;  // position in RankSweep::labels

  auto operator<=>(const Edge&) const = default;
};

StagePairKey pair_of(const StageLabel& a, const StageLabel& b) {
  if (!a.batch || !b.batch) return {std::min(a.stage, b.stage), std::max(a.stage, b.stage), {}};
  if (*a.batch == *b.batch) return {std::min(a.stage, b.stage), std::max(a.stage, b.stage), 0};
  const bool a_is_later = *a.batch > *b.batch;
  return a_is_later ? StagePairKey{a.stage, b.stage, *a.batch - *b.batch}
                    : StagePairKey{b.stage, a.stage, *b.batch - *a.batch};
}

struct Sums {
  std::map<std::string_view, std::pair<double, double>> stages;  // device, hidden
  std::map<StagePairKey, double> pairs;
};

/// The device work of one rank, each operation labelled with its stage and batch.
struct RankSweep {
  std::vector<StageLabel> labels;
  std::map<StageLabel, std::uint32_t> known;
  std::vector<Edge> edges;

  void add(const StageLabel& label, Interval span) {
    const auto [at, is_new] = known.try_emplace(label, static_cast<std::uint32_t>(labels.size()));
    if (is_new) labels.push_back(label);
    edges.push_back({span.begin, +1, at->second});
    edges.push_back({span.end, -1, at->second});
  }

  void sum_up(std::int64_t steps, Sums& sums) {
    std::ranges::sort(edges);
    std::vector<std::int32_t> running(labels.size(), 0);
    std::vector<std::uint32_t> active;  // sorted; few at any time
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      running[edge.instance] += edge.change;
      const auto place = std::ranges::lower_bound(active, edge.instance);
      const bool listed = place != active.end() && *place == edge.instance;
      if (running[edge.instance] > 0 && !listed) active.insert(place, edge.instance);
      if (running[edge.instance] == 0 && listed) active.erase(place);
      if (i + 1 == edges.size() || edges[i + 1].at == edge.at) continue;
      count(active, static_cast<double>(edges[i + 1].at - edge.at) / static_cast<double>(steps), sums);
    }
  }

  void count(const std::vector<std::uint32_t>& active, double length, Sums& sums) const {
    for (std::size_t a = 0; a < active.size(); ++a) {
      auto& [device, hidden] = sums.stages[labels[active[a]].stage];
      device += length;
      if (active.size() > 1) hidden += length;
      for (std::size_t b = a + 1; b < active.size(); ++b) {
        sums.pairs[pair_of(labels[active[a]], labels[active[b]])] += length;
      }
    }
  }
};

std::vector<RankSweep> gather(const trace::Trace& trace, const Annotations& annotations,
                              std::span<const StepWindow> windows) {
  std::vector<RankSweep> sweeps(windows.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (!trace::is_device_work(trace.kind(op)) || device_class(trace, op) == DeviceClass::kCopy) continue;
    const std::size_t rank = trace.rank_of(op).index();
    const Interval clipped = intersection({trace.start(op), trace.end(op)}, windows[rank].span);
    if (clipped.length() == 0) continue;
    if (const auto label = annotations.stage_of(op)) sweeps[rank].add(*label, clipped);
  }
  return sweeps;
}

}  // namespace

StageOverlap stage_overlap(const trace::Trace& trace, const Annotations& annotations,
                           std::span<const StepWindow> windows) {
  assert(windows.size() == trace.ranks().size());
  Sums sums;
  std::vector<RankSweep> sweeps = gather(trace, annotations, windows);
  for (std::size_t rank = 0; rank < sweeps.size(); ++rank) sweeps[rank].sum_up(windows[rank].steps, sums);

  StageOverlap result;
  const auto ranks = static_cast<double>(std::max<std::size_t>(1, windows.size()));
  for (const auto& [stage, times] : sums.stages) {
    result.stages.push_back(
        {std::string(stage), std::llround(times.first / ranks), std::llround(times.second / ranks)});
  }
  for (const auto& [key, length] : sums.pairs) {
    result.pairs.push_back(
        {std::string(key.later), std::string(key.earlier), key.batches_apart, std::llround(length / ranks)});
  }
  std::ranges::stable_sort(result.stages, std::ranges::greater{}, &StageTime::device_ns);
  std::ranges::stable_sort(result.pairs, std::ranges::greater{}, &StagePair::overlap_ns);
  return result;
}

}  // namespace interlace::analysis
