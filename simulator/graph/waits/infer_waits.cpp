#include <algorithm>

#include "simulator/graph/wait_diagnostics.hpp"
#include "simulator/graph/waits/inference.hpp"

namespace interlace::graph {

WaitContext::WaitContext(const trace::Trace& the_trace)
    : trace(the_trace),
      nesting(the_trace),
      sites(the_trace, nesting),
      queues(the_trace),
      calls(host_calls(the_trace, nesting, sites)) {}

std::optional<std::uint32_t> WaitContext::index_of(trace::OperationId op) const {
  const auto at = std::ranges::lower_bound(calls, op, {}, &HostCall::op);
  if (at == calls.end() || at->op != op) return std::nullopt;
  return static_cast<std::uint32_t>(at - calls.begin());
}

namespace {

void count(const WaitContext& context, const WaitState& wait, Diagnostics& diagnostics) {
  const ResolvedWait& result = wait.result;
  const std::string_view place = context.trace.lane(context.call(wait.call).thread).name;
  diagnostics.count(diagnostic_of(result.evidence), place);
  if (result.stream_inferred && result.evidence != Evidence::kNcclInternal) {
    diagnostics.count(kWaitStreamInferred, place);
  }
  if (result.producer_stream_assumed) diagnostics.count(kWaitProducerAssumed, place);
  const HostCall& call = context.call(wait.call);
  const bool after_record = call.previous && context.call(*call.previous).role == CallRole::kRecord;
  if (after_record && result.evidence != Evidence::kRecorded && result.record != context.call(*call.previous).op &&
      wait.record != call.previous) {
    diagnostics.count(kRecordIgnored, context.trace.name(context.call(*call.previous).op));
  }
}

/// What was inferred against the recorded times is taken back.
void drop_contradicted(const WaitContext& context, WaitState& wait, Diagnostics& diagnostics) {
  ResolvedWait& result = wait.result;
  if (!result.producer || result.evidence == Evidence::kRecorded) return;
  if (!contradicts(context.trace, *result.producer, result.consumer)) return;
  diagnostics.count(kInferredWaitViolated, context.trace.name(*result.producer));
  result.kind = Producer::kUnknown;
  result.producer.reset();
  result.producer_stream.reset();
  result.evidence = Evidence::kUnknown;
}

}  // namespace

std::vector<ResolvedWait> infer_waits(const trace::Trace& trace, Diagnostics& diagnostics,
                                      const WaitInferenceOptions& options) {
  const WaitContext context(trace);
  std::vector<WaitState> waits;
  for (std::uint32_t i = 0; i < context.calls.size(); ++i) {
    if (context.call(i).role != CallRole::kWait) continue;
    waits.push_back({.call = i, .record = {}, .result = {.wait = context.call(i).op}});
  }
  find_waiting_streams(context, waits);
  if (options.use_recorded) apply_recorded(context, waits);
  apply_adjacent_records(context, waits);
  apply_idle_streams(waits);
  if (options.use_event_numbers) apply_event_numbers(context, waits);
  if (options.use_watchdog) apply_watchdog_order(context, waits);
  apply_stream_switch(context, waits);
  find_producer_streams(context, waits);
  apply_collective_handles(context, waits, options.use_names);

  std::vector<ResolvedWait> results;
  results.reserve(waits.size());
  for (WaitState& wait : waits) {
    if (wait.open()) wait.record.reset();
    drop_contradicted(context, wait, diagnostics);
    count(context, wait, diagnostics);
    results.push_back(wait.result);
  }
  return results;
}

}  // namespace interlace::graph
