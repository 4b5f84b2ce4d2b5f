#include <fmt/format.h>

#include "simulator/graph/wait_diagnostics.hpp"
#include "simulator/graph/waits.hpp"

namespace interlace::graph {

std::string_view to_string(Evidence evidence) {
  static constexpr std::array<std::string_view, kEvidences> kNames{
      "recorded",     "idle_stream",    "nccl_internal", "nccl_input",        "adjacent_record",
      "event_number", "watchdog_order", "stream_switch", "collective_handle", "unknown"};
  return kNames[static_cast<std::size_t>(evidence)];
}

const DiagnosticKind& diagnostic_of(Evidence evidence) {
  static constexpr std::array<const DiagnosticKind*, kEvidences> kKinds{
      &kWaitRecorded,    &kWaitIdleStream,    &kWaitNcclInternal, &kWaitNcclInput,        &kWaitAdjacentRecord,
      &kWaitEventNumber, &kWaitWatchdogOrder, &kWaitStreamSwitch, &kWaitCollectiveHandle, &kWaitUnknown};
  return *kKinds[static_cast<std::size_t>(evidence)];
}

namespace {

std::string what_is_waited_for(const trace::Trace& trace, const ResolvedWait& wait) {
  switch (wait.kind) {
    case Producer::kNothing: return "for no recorded work";
    case Producer::kUnknown: return "for something unknown";
    case Producer::kCollective: return fmt::format("for the collective {}", trace.name(*wait.producer));
    case Producer::kQueuedWork:
      return fmt::format("for the work queued on stream {}, last {}", trace.lane(*wait.producer_stream).number,
                         trace.name(*wait.producer));
  }
  return {};
}

std::string_view how_known(Evidence evidence) {
  static constexpr std::array<std::string_view, kEvidences> kHow{
      "the recording says so",
      "the recording tells the stream of other waits but not of this one",
      "NCCL records and waits so between its own streams around a launch",
      "the record and the wait stand directly before a communication kernel",
      "the event was recorded by the call directly before, in the same function",
      "event ids count the creation of events, and this is the record with that number",
      "NCCL's watchdog polls events in the order of issue, and this id has that place in it",
      "the thread recorded an event, moved to another stream and waited there",
      "collectives of one call site are waited for at one call site, first in, first out",
      "no rule applies"};
  return kHow[static_cast<std::size_t>(evidence)];
}

}  // namespace

std::string explain(const trace::Trace& trace, const ResolvedWait& wait) {
  std::string who = "A stream that is not recorded";
  if (wait.stream) {
    who = fmt::format("Stream {}{}", trace.lane(*wait.stream).number,
                      wait.stream_inferred ? " (told by the launches around the call)" : "");
  }
  return fmt::format("{} waits {}: {}{}.", who, what_is_waited_for(trace, wait), how_known(wait.evidence),
                     wait.producer_stream_assumed ? "; other streams fit the recorded times as well" : "");
}

}  // namespace interlace::graph
