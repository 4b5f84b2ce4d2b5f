#include "simulator/replay/predicted_memory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

namespace interlace::replay {

namespace {

Nanoseconds rounded(double ns) { return static_cast<Nanoseconds>(std::llround(ns)); }

/// The iterations that fill the pipeline, all at time zero: of these the simulation has no calls.
std::vector<memory::PlayedCall> prologue(const Program& program, const RecordedIteration& recorded) {
  std::int32_t depth = 0;
  for (const Instruction& i : program.instructions) depth = std::max(depth, i.batch);
  std::vector<memory::PlayedCall> calls;
  for (std::int32_t iteration = -depth; iteration < 0; ++iteration) {
    for (const Instruction& i : program.instructions) {
      if (i.kind != Instruction::Kind::kCall || iteration + i.batch < 0) continue;
      calls.push_back({recorded.calls[i.call].segment, iteration, iteration + i.batch, i.stream.value, 0, 0});
      calls.back().segment = i.segment;
    }
  }
  return calls;
}

/// What the recorded calls of a rank launch, as far as memory depends on it.
class Launches {
 public:
  Launches(const SiteTable& table, std::uint32_t rank) {
    for (const RecordedIteration& iteration : table.ranks[rank]) {
      for (const RecordedCall& call : iteration.calls) {
        for (std::uint32_t i = call.first_work; call.call && i < call.first_work + call.works; ++i) {
          const Site& site = table.sites[iteration.works[i].site.index()];
          if (site.kind == WorkKind::kCollective) collectives_.insert(call.call->value);
          const bool computes = site.kind == WorkKind::kKernel && site.shape.bound == contention::Bound::kCompute;
          if (computes) multiplications_.insert(call.call->value);
        }
      }
    }
  }

  void note(const std::optional<trace::OperationId>& recorded, memory::PlayedCall& call) const {
    call.multiplies = recorded && multiplications_.contains(recorded->value);
    call.communicates = recorded && collectives_.contains(recorded->value);
  }

 private:
  std::unordered_set<std::uint32_t> multiplications_;
  std::unordered_set<std::uint32_t> collectives_;
};

memory::StreamDrains drains_of(const SimulationResult& result, std::uint32_t rank) {
  memory::StreamDrains drains;
  for (const Work& work : result.works) {
    if (work.rank == rank && work.end_ns) drains.add(work.stream.value, rounded(work.called_ns), rounded(*work.end_ns));
  }
  return drains;
}

}  // namespace

memory::MemoryCourse predicted_memory(const memory::RecordedMemory& recorded, const memory::Lifetimes& lifetimes,
                                      const schedule::Schedule& schedule, const Plan& plan, const SiteTable& table,
                                      const SimulationResult& result, std::uint32_t rank,
                                      const memory::MemoryReplayOptions& options) {
  std::vector<memory::PlayedCall> calls = prologue(plan.programs[rank].front(), table.ranks[rank].front());
  const Launches launches(table, rank);
  for (const HostCall& call : result.calls) {
    if (call.rank != rank || (options.iterations && call.iteration >= *options.iterations)) continue;
    calls.push_back(
        {call.segment, call.iteration, call.batch, call.stream.value, rounded(call.start_ns), rounded(call.end_ns)});
    launches.note(call.recorded, calls.back());
  }
  std::map<stages::SegmentKey, std::optional<memory::StepRun>> runs;
  for (memory::PlayedCall& call : calls) {
    const auto [found, is_new] = runs.try_emplace(call.segment);
    if (is_new) found->second = memory::step_run_of(schedule, call.segment);
    call.run = found->second;
  }
  return memory::replay_memory(recorded, lifetimes, calls, drains_of(result, rank), options);
}

}  // namespace interlace::replay
