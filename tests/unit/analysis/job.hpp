#pragma once

#include <string_view>

#include "simulator/base/interval.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::analysis {

/// Writes small traces: one rank with a main thread, an autograd thread and three streams, more on demand. Every
/// launch takes 1 ns on the host. Times are absolute; an annotation at 0 keeps the trace's origin at 0.
class Job {
 public:
  trace::TraceBuilder builder;
  trace::RankId rank = builder.add_rank({.number = 0, .source = "r0.json"});
  trace::LaneId thread = thread_of(rank, 1);
  trace::LaneId autograd = thread_of(rank, 2);
  trace::LaneId main = stream_of(rank, 7);
  trace::LaneId side = stream_of(rank, 20);
  trace::LaneId copies = stream_of(rank, 24);
  Diagnostics diagnostics;

  trace::LaneId thread_of(trace::RankId of, std::int64_t number) {
    return builder.lane(trace::LaneKind::kHostThread, of, 100, number);
  }
  trace::LaneId stream_of(trace::RankId of, std::int64_t number) {
    return builder.lane(trace::LaneKind::kStream, of, 0, number);
  }
  void annotate(std::string_view name, Nanoseconds begin, Nanoseconds end) { annotate(thread, name, begin, end); }
  void annotate(trace::LaneId on, std::string_view name, Nanoseconds begin, Nanoseconds end) {
    builder.add_range(at(on, name, begin, end), {.kind = trace::RangeKind::kAnnotation});
  }
  /// A kernel on a stream, launched by the main thread at `launch`.
  void kernel(trace::LaneId stream, Nanoseconds launch, Nanoseconds begin, Nanoseconds end,
              std::string_view name = "gemm") {
    kernel_from(thread, stream, launch, begin, end, name);
  }
  void kernel_from(trace::LaneId caller, trace::LaneId stream, Nanoseconds launch, Nanoseconds begin, Nanoseconds end,
                   std::string_view name = "gemm") {
    call(caller, "cudaLaunchKernel", launch, launch + 1);
    builder.add_kernel(at(stream, name, begin, end, correlation_), {});
  }
  void collective(trace::LaneId stream, Nanoseconds launch, Nanoseconds begin, Nanoseconds end,
                  std::optional<trace::CollectiveDetail> detail = {}) {
    call(thread, "cudaLaunchKernelExC", launch, launch + 1);
    builder.add_collective(at(stream, "ncclDevKernel_SendRecv", begin, end, correlation_), {}, detail);
  }
  /// A copy whose call spans [call_begin, call_end) and which runs in [begin, end).
  void copy(trace::LaneId stream, Interval host, Interval device, trace::MemorySpace from, trace::MemorySpace to,
            std::string_view function = "cudaMemcpyAsync") {
    call(thread, function, host.begin, host.end);
    builder.add_copy(at(stream, "Memcpy", device.begin, device.end, correlation_),
                     {.bytes = 1024, .source = from, .destination = to});
  }
  void sync(trace::SyncKind kind, Nanoseconds begin, Nanoseconds end) {
    builder.add_sync(trace::OperationKind::kHostSync, at(thread, "cudaStreamSynchronize", begin, end), {.kind = kind});
  }
  trace::Trace build() { return std::move(builder).build(diagnostics); }

  trace::TraceBuilder::Common at(trace::LaneId lane, std::string_view name, Nanoseconds begin, Nanoseconds end,
                                 std::optional<std::int64_t> correlation = {}) {
    return {lane, builder.intern(name), begin, end - begin, correlation};
  }

 private:
  void call(trace::LaneId caller, std::string_view name, Nanoseconds begin, Nanoseconds end) {
    builder.add_host_call(at(caller, name, begin, end, ++correlation_));
  }

  std::int64_t correlation_ = 0;
};

}  // namespace interlace::analysis
