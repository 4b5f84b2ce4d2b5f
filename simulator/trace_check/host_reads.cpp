#include "simulator/trace_check/host_reads.hpp"

#include <algorithm>
#include <optional>

namespace interlace::trace_check {

namespace {

using trace::MemorySpace;
using trace::OperationId;
using trace::OperationKind;
using trace::SyncKind;

/// The next work that the same thread launched; none where there is none.
std::optional<Nanoseconds> next_launch(const trace::Trace& trace, OperationId call) {
  for (const OperationId other : trace.on_lane(trace.lane_of(call))) {
    if (trace.start(other) > trace.start(call) && !trace.launched_by(other).empty()) return trace.start(other);
  }
  return std::nullopt;
}

bool is_there_for(const trace::Trace& trace, const graph::StreamQueues& queues, OperationId sync, OperationId copy,
                  OperationId call) {
  const trace::SyncDetail* detail = trace.sync(sync);
  if (detail == nullptr || trace.start(sync) < trace.start(call)) return false;
  if (detail->record && detail->record_stream == trace.lane_of(copy)) {
    return queues.last_before(*detail->record_stream, trace.start(*detail->record)) == copy;
  }
  const bool of_stream = detail->kind == SyncKind::kStreamSync && detail->stream == trace.lane_of(copy);
  if (!of_stream && detail->kind != SyncKind::kDeviceSync) return false;
  const auto next = next_launch(trace, call);
  return !next || trace.start(sync) < *next;
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
    const bool waited =
        std::ranges::any_of(syncs, [&](OperationId sync) { return is_there_for(trace, queues, sync, copy, *call); });
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
