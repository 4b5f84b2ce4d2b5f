#include <set>
#include <tuple>

#include "simulator/graph/waits/inference.hpp"

namespace interlace::graph {

namespace {

/// Within one function a record and its wait lie a few microseconds apart (more where the profiler is slow); where no
/// ranges were recorded, only a wait that follows at once is taken for adjacent.
constexpr Nanoseconds kMaxGapInRange = 50 * kMicrosecond;
constexpr Nanoseconds kMaxGapWithoutRanges = 10 * kMicrosecond;

bool adjacent(const HostCall& first, const HostCall& second) {
  const Nanoseconds limit = first.range ? kMaxGapInRange : kMaxGapWithoutRanges;
  return first.range == second.range && second.start - first.end <= limit;
}

/// The record before a wait need not be what it waits for: two events may be recorded before either is waited for.
bool of_another_event(const HostCall& record, const HostCall& wait) {
  return record.event && wait.event && record.event != wait.event;
}

/// NCCL ends a launch with a record on its launch stream and a wait of its device stream, inside the range of the
/// collective.
bool is_after_collective(const WaitContext& context, const HostCall& record) {
  if (!record.previous) return false;
  const HostCall& before = context.call(*record.previous);
  return before.collective && record.range && before.range == record.range && adjacent(before, record);
}

/// Whether an earlier wait since the last launch of the thread made the same stream wait: the first such wait is
/// c10d's for the inputs, the next is NCCL's between its own streams.
bool is_second_before_launch(const WaitContext& context, const WaitState& wait, std::span<const WaitState> waits,
                             const std::vector<std::optional<std::uint32_t>>& wait_of_call) {
  for (auto at = context.call(wait.call).previous; at; at = context.call(*at).previous) {
    const HostCall& call = context.call(*at);
    if (call.role == CallRole::kLaunch || call.role == CallRole::kSync) return false;
    if (call.role == CallRole::kWait && waits[*wait_of_call[*at]].result.stream == wait.result.stream) return true;
  }
  return false;
}

}  // namespace

void apply_adjacent_records(const WaitContext& context, std::span<WaitState> waits) {
  std::vector<std::optional<std::uint32_t>> wait_of_call(context.calls.size());
  for (std::uint32_t w = 0; w < waits.size(); ++w) wait_of_call[waits[w].call] = w;

  for (WaitState& wait : waits) {
    if (!wait.open()) continue;
    const HostCall& call = context.call(wait.call);
    if (!call.previous) continue;
    const HostCall& before = context.call(*call.previous);
    if (!adjacent(before, call)) continue;
    if (before.role == CallRole::kWait) {
      // One event, waited for by several streams in a row.
      const WaitState& other = waits[*wait_of_call[*call.previous]];
      if (other.result.evidence == Evidence::kAdjacentRecord && call.event && call.event == before.event) {
        wait.record = other.record;
        wait.result.evidence = Evidence::kAdjacentRecord;
      }
      continue;
    }
    if (before.role != CallRole::kRecord || of_another_event(before, call)) continue;
    const bool on_communication = wait.result.stream && context.queues.is_communication(*wait.result.stream);
    if (is_after_collective(context, before)) {
      wait.result.evidence = Evidence::kNcclInternal;
      wait.result.kind = Producer::kNothing;
      // The stream is NCCL's own and runs nothing that is recorded.
      if (wait.result.stream_inferred) {
        wait.result.stream.reset();
        wait.result.consumer.reset();
        wait.result.stream_inferred = false;
      }
    } else if (!wait.result.stream) {
      continue;
    } else if (!on_communication) {
      wait.result.evidence = Evidence::kAdjacentRecord;
    } else if (is_second_before_launch(context, wait, waits, wait_of_call)) {
      wait.result.evidence = Evidence::kNcclInternal;
      wait.result.kind = Producer::kNothing;
    } else {
      wait.result.evidence = Evidence::kNcclInput;
    }
    wait.record = call.previous;
  }
}

namespace {

/// The last record before `call` on its thread that no wait has claimed, made while another stream than the waiting one
/// was in use.
std::optional<std::uint32_t> record_on_other_stream(const WaitContext& context, const WaitState& wait,
                                                    const std::vector<bool>& claimed) {
  static constexpr int kFarthest = 256;
  int steps = 0;
  for (auto at = context.call(wait.call).previous; at && steps < kFarthest; at = context.call(*at).previous, ++steps) {
    const HostCall& call = context.call(*at);
    if (call.role != CallRole::kRecord || claimed[*at] || !call.previous_launch) continue;
    if (of_another_event(call, context.call(wait.call))) continue;
    if (context.call(*call.previous_launch).stream != wait.result.stream) return at;
  }
  return std::nullopt;
}

}  // namespace

void apply_stream_switch(const WaitContext& context, std::span<WaitState> waits) {
  static constexpr Nanoseconds kMaxGap = 30 * kMicrosecond;
  using SiteOnStream = std::tuple<trace::LaneId, SiteId, trace::LaneId>;
  std::set<SiteOnStream> switching;
  std::vector<bool> claimed(context.calls.size(), false);
  for (const WaitState& wait : waits) {
    if (wait.record && !wait.open()) claimed[*wait.record] = true;
  }
  for (WaitState& wait : waits) {
    if (!wait.open() || !wait.result.stream) continue;
    const HostCall& call = context.call(wait.call);
    if (!call.previous) continue;
    const HostCall& record = context.call(*call.previous);
    if (record.role != CallRole::kRecord || call.start - record.end > kMaxGap || of_another_event(record, call))
      continue;
    if (!record.previous_launch || !call.next_launch) continue;
    if (context.call(*record.previous_launch).stream == wait.result.stream) continue;
    if (context.call(*call.next_launch).stream != wait.result.stream) continue;
    wait.record = call.previous;
    wait.result.evidence = Evidence::kStreamSwitch;
    switching.emplace(call.thread, call.site, *wait.result.stream);
  }
  // Where a site switches streams once, its other waits on that stream are of the same kind: autograd records at the
  // end of the function that made a gradient and waits, maybe much later, at the start of the one that uses it.
  for (WaitState& wait : waits) {
    if (!wait.open() || !wait.result.stream) continue;
    const HostCall& call = context.call(wait.call);
    if (!switching.contains({call.thread, call.site, *wait.result.stream})) continue;
    wait.record = record_on_other_stream(context, wait, claimed);
    if (wait.record) wait.result.evidence = Evidence::kStreamSwitch;
  }
}

}  // namespace interlace::graph
