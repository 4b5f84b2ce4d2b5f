#include "simulator/trace_check/host_reads.hpp"

#include <algorithm>
#include <optional>

namespace interlace::trace_check {

namespace {

using trace::MemorySpace;
using trace::OperationId;
using trace::OperationKind;
using trace::SyncKind;

/// When the same thread launches work the next time; none where it does not.
std::optional<Nanoseconds> next_launch(const trace::Trace& trace, OperationId call) {
  const auto on_thread = trace.on_lane(trace.lane_of(call));
  const auto start = [&](OperationId op) { return trace.start(op); };
  const auto after = std::ranges::upper_bound(on_thread, trace.start(call), {}, start);
  const auto next =
      std::find_if(after, on_thread.end(), [&](OperationId op) { return !trace.launched_by(op).empty(); });
  return next == on_thread.end() ? std::nullopt : std::optional(trace.start(*next));
}

/// A copy to the host on its way.
struct Pending {
  OperationId copy;
  OperationId call;
  std::optional<Nanoseconds> next_launch;  ///< of the host thread
};

bool is_there_for(const trace::Trace& trace, const graph::StreamQueues& queues, OperationId sync,
                  const Pending& pending) {
  const trace::SyncDetail* detail = trace.sync(sync);
  if (detail == nullptr || trace.start(sync) < trace.start(pending.call)) return false;
  const trace::LaneId stream = trace.lane_of(pending.copy);
  if (detail->record && detail->record_stream == stream) {
    return queues.last_before(stream, trace.start(*detail->record)) == pending.copy;
  }
  const bool of_stream = detail->kind == SyncKind::kStreamSync && detail->stream == stream;
  if (!of_stream && detail->kind != SyncKind::kDeviceSync) return false;
  return !pending.next_launch || trace.start(sync) < *pending.next_launch;
}

}  // namespace

std::vector<Race> find_unfinished_host_reads(const trace::Trace& trace, const StagedWork& staged,
                                             const graph::StreamQueues& queues, trace::RankId rank) {
  std::vector<OperationId> syncs;
  std::vector<OperationId> copies;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.rank_of({i}) != rank) continue;
    if (trace.kind({i}) == OperationKind::kHostSync) syncs.push_back({i});
    if (trace.kind({i}) != OperationKind::kCopy) continue;
    const StageRun* run = staged.run({i});
    const bool to_host = trace.copy({i})->destination != MemorySpace::kDevice;
    if (run != nullptr && run->stage == schedule::Stage::kValidateOutput && to_host) copies.push_back({i});
  }
  std::vector<Race> races;
  for (const OperationId copy : copies) {
    const auto call = trace.launch_of(copy);
    if (!call || trace.end(*call) >= trace.end(copy)) continue;  // the call itself waited
    const Pending pending{copy, *call, next_launch(trace, *call)};
    const bool waited =
        std::ranges::any_of(syncs, [&](OperationId sync) { return is_there_for(trace, queues, sync, pending); });
    if (waited) continue;
    const std::uint32_t run = *staged.run_of[copy.index()];
    races.push_back({check::HazardKind::kUnfinishedHostRead,
                     {schedule::Resource::kHostBatch, staged.runs[run].batch},
                     copy,
                     *call,
                     run,
                     run,
                     trace.end(*call) - trace.end(copy)});
  }
  return races;
}

}  // namespace interlace::trace_check
