#include "simulator/replay/plan_queues.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/recorded_works.hpp"

namespace interlace::replay {

namespace {

/// Does the stream of a call run a kernel for it?
bool runs_kernels(const RecordedIteration& recorded, const RecordedCall& call, const SiteTable& table) {
  bool any = false;
  for_each_work_of(recorded, call, [&](const RecordedWork& work) {
    any = any || (!work.on_collective_stream && is_fetched_for_compute(table.sites[work.site.index()].kind));
  });
  return any;
}

/// The streams that run kernels, in the order in which a process of this plan first uses them.
std::vector<StreamIndex> in_order_of_first_use(const SiteTable& table, const Plan& plan) {
  std::vector<StreamIndex> order;
  const RecordedIteration& recorded = table.ranks.front().front();
  for (std::int32_t iteration = -plan.depth; iteration <= 0; ++iteration) {
    for (const Instruction& one : plan.programs.front().front().instructions) {
      if (one.kind != Instruction::Kind::kCall || (one.of_stage && iteration + one.batch < 0)) continue;
      if (!runs_kernels(recorded, recorded.calls[one.call], table)) continue;
      if (std::ranges::find(order, one.stream) == order.end()) order.push_back(one.stream);
    }
  }
  return order;
}

/// visit(instruction, iteration, call) for each recorded call that any rank plays.
template <class Visit>
void for_each_call(const SiteTable& table, const Plan& plan, Visit visit) {
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    for (std::size_t i = 0; i < plan.programs[rank].size(); ++i) {
      const RecordedIteration& recorded = table.ranks[rank][i];
      for (const Instruction& one : plan.programs[rank][i].instructions) {
        if (one.kind == Instruction::Kind::kCall) visit(one, recorded, recorded.calls[one.call]);
      }
    }
  }
}

struct RecordedQueues {
  std::set<StreamIndex> main;                    ///< streams of the optimizer
  std::vector<std::optional<double>> with_main;  ///< by stream
};

/// What the recording tells of the streams of a plan: where stages run that were recorded on side streams, a stream is
/// taken to be that one.
RecordedQueues recorded_queues(const SiteTable& table, const Plan& plan) {
  RecordedQueues queues{{}, std::vector<std::optional<double>>(plan.streams.size())};
  std::vector<std::vector<double>> seen(plan.first_collective_stream);
  for_each_call(table, plan, [&](const Instruction& one, const RecordedIteration& recorded, const RecordedCall& call) {
    if (call.segment.stage == schedule::Stage::kOptimizerStep) queues.main.insert(one.stream);
    for_each_work_of(recorded, call, [&](const RecordedWork& work) {
      const Site& site = table.sites[work.site.index()];
      if (site.with_main && !work.on_collective_stream) seen[one.stream.index()].push_back(*site.with_main);
    });
  });
  for (std::size_t s = 0; s < seen.size(); ++s) {
    if (!seen[s].empty()) queues.with_main[s] = statistics::mean(seen[s]);
  }
  for (const StreamIndex stream : queues.main) queues.with_main[stream.index()] = 1.0;
  for (std::size_t s = plan.first_collective_stream; s < plan.streams.size(); ++s) queues.with_main[s] = 0.0;
  return queues;
}

}  // namespace

void find_queues(const SiteTable& table, Plan& plan) {
  const auto [main, known] = recorded_queues(table, plan);
  for (std::size_t s = 0; s < known.size(); ++s) plan.streams[s].with_main = known[s].value_or(kUnknownQueue);
  std::vector<StreamIndex> side = in_order_of_first_use(table, plan);
  std::erase_if(side, [&main = main](StreamIndex s) { return main.contains(s); });
  const auto told =
      std::ranges::find_if(side, [&known = known](StreamIndex s) { return known[s.index()].has_value(); });
  if (told == side.end()) return;
  for (auto one = side.begin(); one != side.end(); ++one) {
    if (known[one->index()]) continue;
    const double of_told = *known[told->index()];
    plan.streams[one->index()].with_main = std::abs(one - told) % 2 == 0 ? of_told : 1.0 - of_told;
  }
}

}  // namespace interlace::replay
