#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::graph {

/// Writes small recordings by hand, in microseconds, as a profiler would have made them. Operations are named by the
/// test and found again by name.
class RecordedJob {
 public:
  static constexpr Nanoseconds kUs = 1'000;

  trace::RankId add_rank() { return builder.add_rank({.number = static_cast<std::int32_t>(ranks_++)}); }
  trace::LaneId thread(trace::RankId rank, std::int64_t number = 1) {
    return builder.lane(trace::LaneKind::kHostThread, rank, 100, number);
  }
  trace::LaneId stream(trace::RankId rank, std::int64_t number) {
    return builder.lane(trace::LaneKind::kStream, rank, 0, number);
  }

  void range(trace::LaneId thread, std::string_view name, Nanoseconds start, Nanoseconds end) {
    builder.add_range(at(thread, name, start, end), {.kind = trace::RangeKind::kAnnotation});
  }
  /// A call of 2 us at `call` and the kernel that it launched.
  void launch(trace::LaneId thread, Nanoseconds call, trace::LaneId stream, std::string_view name, Nanoseconds start,
              Nanoseconds end) {
    call_of(thread, "cudaLaunchKernel", call);
    builder.add_kernel(at(stream, name, start, end, correlation_), {});
  }
  void collective(trace::LaneId thread, Nanoseconds call, trace::LaneId stream, std::string_view name,
                  Nanoseconds start, Nanoseconds end, const trace::CollectiveDetail& detail = {}) {
    call_of(thread, "cuLaunchKernelEx", call);
    builder.add_collective(at(stream, name, start, end, correlation_), {}, detail);
  }
  /// The copy's call lasts until `call_end`.
  void copy(trace::LaneId thread, Nanoseconds call, Nanoseconds call_end, trace::LaneId stream, std::string_view name,
            Nanoseconds start, Nanoseconds end, trace::MemorySpace source, trace::MemorySpace destination,
            Bytes bytes = 8) {
    ++correlation_;
    builder.add_host_call(at(thread, "cudaMemcpyAsync", call, call_end, correlation_));
    builder.add_copy(at(stream, name, start, end, correlation_),
                     {.bytes = bytes, .source = source, .destination = destination});
  }
  /// One call that launches so many kernels of 20 us, which follow each other.
  void launch_of(trace::LaneId thread, std::string_view call, Nanoseconds call_start, Nanoseconds call_end,
                 trace::LaneId stream, Nanoseconds start, int kernels) {
    ++correlation_;
    builder.add_host_call(at(thread, call, call_start, call_end, correlation_));
    for (int k = 0; k < kernels; ++k) {
      builder.add_kernel(at(stream, "node", start + 20 * k, start + 20 * (k + 1), correlation_), {});
    }
  }
  trace::OperationId record(trace::LaneId thread, Nanoseconds start, std::string_view name = "cudaEventRecord") {
    return builder.add_sync(trace::OperationKind::kEventRecord, at(thread, name, start, start + 1),
                            {.kind = trace::SyncKind::kEventRecord});
  }
  /// Without a stream: as a profiler without cuda_sync records would tell it.
  trace::OperationId wait(trace::LaneId thread, Nanoseconds start, std::string_view name,
                          std::optional<trace::LaneId> stream, std::optional<std::int64_t> event = {}) {
    return builder.add_sync(trace::OperationKind::kStreamWait, at(thread, name, start, start + 1),
                            {.kind = trace::SyncKind::kStreamWaitEvent, .stream = stream, .event = event});
  }
  void sync(trace::LaneId thread, Nanoseconds start, Nanoseconds end, std::string_view name,
            const trace::SyncDetail& detail) {
    builder.add_sync(trace::OperationKind::kHostSync, at(thread, name, start, end), detail);
  }
  void poll(trace::LaneId thread, Nanoseconds start, std::int64_t event) {
    builder.add_sync(trace::OperationKind::kHostCall, at(thread, "cudaEventQuery", start, start + 1),
                     {.kind = trace::SyncKind::kEventQuery, .event = event});
  }
  void call_of(trace::LaneId thread, std::string_view name, Nanoseconds start) {
    ++correlation_;
    builder.add_host_call(at(thread, name, start, start + 2, correlation_));
  }

  [[nodiscard]] trace::Trace build() {
    Diagnostics none;
    return std::move(builder).build(none);
  }

  trace::TraceBuilder builder;

 private:
  trace::TraceBuilder::Common at(trace::LaneId lane, std::string_view name, Nanoseconds start, Nanoseconds end,
                                 std::optional<std::int64_t> correlation = {}) {
    return {lane, builder.intern(name), start * kUs, (end - start) * kUs, correlation};
  }

  std::int64_t correlation_ = 0;
  std::uint32_t ranks_ = 0;
};

/// The only operation of this name.
[[nodiscard]] inline trace::OperationId named(const trace::Trace& trace, std::string_view name) {
  std::optional<trace::OperationId> found;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.name({i}) != name) continue;
    if (found) throw std::logic_error("two operations are named " + std::string(name));
    found = trace::OperationId{i};
  }
  if (!found) throw std::logic_error("no operation is named " + std::string(name));
  return *found;
}

}  // namespace interlace::graph
