#include "simulator/graph/waits/inference.hpp"

namespace interlace::graph {

namespace {

/// The stream that PyTorch programs are on outside all stream contexts: the oldest of the rank.
std::optional<trace::LaneId> default_stream(const WaitContext& context, trace::RankId rank) {
  std::optional<trace::LaneId> oldest;
  for (std::uint32_t l = 0; l < context.trace.lanes().size(); ++l) {
    const trace::Lane& lane = context.trace.lane({l});
    if (lane.rank != rank || context.queues.queue({l}).empty()) continue;
    if (!oldest || lane.number < context.trace.lane(*oldest).number) oldest = trace::LaneId{l};
  }
  return oldest;
}

/// The waiting stream from the launches around a wait. The first launch after it is the best witness where it comes
/// from the same outermost function, for that is what had to wait. A function of which the wait is all that is left
/// ("wait_for_batch") or a wait outside all functions is taken to be outside all stream contexts.
std::optional<trace::LaneId> stream_from_launches(const WaitContext& context, const HostCall& call) {
  // Record, wait, communication kernel in one range: c10d's or NCCL's wait of the communication stream.
  if (call.previous && context.call(*call.previous).role == CallRole::kRecord) {
    for (auto at = call.next; at; at = context.call(*at).next) {
      const HostCall& next = context.call(*at);
      const bool near = next.start - call.end < (call.range ? 500 : 50) * kMicrosecond;
      if (!near || next.role == CallRole::kSync) break;
      if (next.role != CallRole::kLaunch) continue;
      const bool held = !call.range || context.trace.end(*call.range) >= next.end;
      if (next.collective && held) return next.stream;
      break;
    }
  }
  const auto stream_of = [&](std::optional<std::uint32_t> launch) {
    return launch ? context.call(*launch).stream : std::nullopt;
  };
  if (call.next_launch) {
    const auto outer = context.nesting.outermost(call.op);
    const auto outer_next = context.nesting.outermost(context.call(*call.next_launch).op);
    if (outer && outer == outer_next) return stream_of(call.next_launch);
  }
  return default_stream(context, call.rank);
}

}  // namespace

void find_waiting_streams(const WaitContext& context, std::span<WaitState> waits) {
  // The first records of a profile may be lost, so only waits after the first with a stream are judged by it.
  std::vector<bool> recorded(context.trace.ranks().size(), false);
  for (WaitState& wait : waits) {
    const HostCall& call = context.call(wait.call);
    ResolvedWait& result = wait.result;
    result.stream = call.stream;
    if (call.stream) {
      recorded[call.rank.index()] = true;
    } else if (!recorded[call.rank.index()]) {
      result.stream = stream_from_launches(context, call);
      result.stream_inferred = result.stream.has_value();
    }
    if (result.stream) result.consumer = context.queues.first_from(*result.stream, call.start);
  }
}

void apply_idle_streams(std::span<WaitState> waits) {
  for (WaitState& wait : waits) {
    if (!wait.open() || wait.result.stream) continue;
    wait.result.evidence = Evidence::kIdleStream;
    wait.result.kind = Producer::kNothing;
  }
}

void apply_recorded(const WaitContext& context, std::span<WaitState> waits) {
  for (WaitState& wait : waits) {
    ResolvedWait& result = wait.result;
    const trace::SyncDetail* sync = context.trace.sync(result.wait);
    // A record that is not in the recording was made before it, or was lost: the stream alone does not tell what of it
    // is waited for.
    if (sync == nullptr || !sync->record) continue;
    result.evidence = Evidence::kRecorded;
    result.record = sync->record;
    if (!sync->record_stream) {
      // Which record is known, but not on which stream: find_producer_streams tells.
      wait.record = context.index_of(*sync->record);
      continue;
    }
    result.producer_stream = sync->record_stream;
    result.producer = context.queues.last_before(*sync->record_stream, context.trace.start(*sync->record));
    result.kind = result.producer ? Producer::kQueuedWork : Producer::kNothing;
  }
}

}  // namespace interlace::graph
