#include "simulator/replay/predicted_memory.hpp"

#include <algorithm>
#include <map>

namespace interlace::replay {

namespace {

/// The calls of all ranks, as they are numbered. What an edit invented is neither a multiplication nor a collective of
/// the program.
std::vector<memory::PlayedCall> played_calls(const SimulationResult& result) {
  std::vector<memory::PlayedCall> calls;
  calls.reserve(result.calls.size());
  for (const HostCall& call : result.calls) {
    calls.push_back(
        {call.segment, call.iteration, call.batch, call.stream.value, rounded(call.start_ns), rounded(call.end_ns)});
  }
  for (const Work& work : result.works) {
    if (!result.calls[work.call].recorded) continue;
    memory::PlayedCall& call = calls[work.call];
    call.communicates = call.communicates || work.kind == WorkKind::kCollective;
    call.multiplies =
        call.multiplies || (work.kind == WorkKind::kKernel && work.active.shape.bound == contention::Bound::kCompute);
  }
  return calls;
}

memory::StreamDrains drains_of(const SimulationResult& result, std::uint32_t rank) {
  memory::StreamDrains drains;
  for (const Work& work : result.works) {
    if (work.rank == rank && work.end_ns) drains.add(work.stream.value, rounded(work.called_ns), rounded(*work.end_ns));
  }
  return drains;
}

}  // namespace

memory::MemoryCourse predicted_memory(const memory::RecordedMemory& recorded, const memory::Lifetimes& lifetimes,
                                      const schedule::Schedule& schedule, const SimulationResult& result,
                                      std::uint32_t rank, const memory::MemoryReplayOptions& options) {
  std::vector<memory::PlayedCall> calls;
  const std::vector<memory::PlayedCall> played = played_calls(result);
  for (std::size_t i = 0; i < played.size(); ++i) {
    if (result.calls[i].rank == rank) calls.push_back(played[i]);
  }
  std::map<stages::SegmentKey, std::optional<memory::StepRun>> runs;
  for (memory::PlayedCall& call : calls) {
    const auto [found, is_new] = runs.try_emplace(call.segment);
    if (is_new) found->second = memory::step_run_of(schedule, call.segment);
    call.run = found->second;
  }
  memory::MemoryReplayOptions of_schedule = options;
  if (const auto main = schedule.stream_named("main")) of_schedule.main_stream = schedule.resolve(*main).value;
  return memory::replay_memory(recorded, lifetimes, calls, drains_of(result, rank), of_schedule);
}

}  // namespace interlace::replay
