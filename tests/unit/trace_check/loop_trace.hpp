#pragma once

#include <optional>
#include <string>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace_check {

/// Builds traces of one rank whose stages are named, call by call: each call takes 10 ns of the host.
class LoopTrace {
 public:
  LoopTrace() {
    trace::Rank rank;
    rank.process_id = 1;
    rank_ = builder_.add_rank(rank);
    host_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 1);
  }

  /// Opens a stage of a batch; the one before ends.
  LoopTrace& stage(const std::string& name, std::int64_t batch) {
    close();
    open_ = name + " " + std::to_string(batch);
    opened_ = now_;
    now_ += 10;
    return *this;
  }

  /// Opens a stage within the open one, until back().
  LoopTrace& within(const std::string& name, std::int64_t batch) {
    inner_ = name + " " + std::to_string(batch);
    inner_opened_ = now_;
    now_ += 10;
    return *this;
  }
  LoopTrace& back() {
    annotate(inner_, inner_opened_);
    return *this;
  }

  /// What follows is of another host thread; the open stage stays open on its own.
  LoopTrace& thread(std::int64_t number) {
    host_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, number);
    return *this;
  }
  /// A function of PyTorch's backward, as the profiler records it.
  LoopTrace& backward_node() {
    builder_.add_range(common("autograd::engine::evaluate_function: MmBackward0"), {.kind = trace::RangeKind::kCpuOp});
    return *this;
  }

  /// A kernel on a stream, at a time of the device.
  LoopTrace& kernel(int stream, Nanoseconds start, Nanoseconds duration, bool collective = false) {
    const std::int64_t correlation = next_++;
    call("cudaLaunchKernel", correlation);
    const trace::TraceBuilder::Common common{lane(stream), builder_.intern("kernel"), start, duration, correlation};
    if (collective) {
      builder_.add_collective(common, {}, std::nullopt);
    } else {
      builder_.add_kernel(common, {});
    }
    return *this;
  }

  struct HostCopy {
    std::string call = "cudaMemcpyAsync";
    trace::MemorySpace destination = trace::MemorySpace::kPinned;
    bool call_outlasts_it = false;  ///< as it has to where the call waits, and may by chance
  };
  LoopTrace& copy_to_host(int stream, Nanoseconds start, Nanoseconds duration, const HostCopy& how) {
    const std::int64_t correlation = next_++;
    auto with = common(how.call);
    with.correlation = correlation;
    if (how.call_outlasts_it) {
      with.duration = start + duration - with.start;
      now_ = start + duration + 10;
    }
    builder_.add_host_call(with);
    builder_.add_copy({lane(stream), builder_.intern("Memcpy DtoH"), start, duration, correlation},
                      {.bytes = 8, .source = trace::MemorySpace::kDevice, .destination = how.destination});
    return *this;
  }
  LoopTrace& copy_to_host(int stream, Nanoseconds start, Nanoseconds duration) {
    return copy_to_host(stream, start, duration, HostCopy{});
  }

  /// An event, for host_waits_for_record.
  LoopTrace& record(int stream) {
    record_ = builder_.add_sync(trace::OperationKind::kEventRecord, common("cudaEventRecord"),
                                {.kind = trace::SyncKind::kEventRecord, .stream = lane(stream)});
    return *this;
  }
  LoopTrace& host_waits_for_record(int stream) {
    builder_.add_sync(trace::OperationKind::kHostSync, common("cudaEventSynchronize"),
                      {.kind = trace::SyncKind::kEventSync, .record = record_, .record_stream = lane(stream)});
    return *this;
  }

  /// A wait of the host for an event of which the recording does not tell where it was recorded.
  LoopTrace& host_waits_for_untold_event() {
    builder_.add_sync(trace::OperationKind::kHostSync, common("cudaEventSynchronize"),
                      {.kind = trace::SyncKind::kEventSync});
    return *this;
  }

  LoopTrace& wait(int waiter, int source) {
    const trace::OperationId record =
        builder_.add_sync(trace::OperationKind::kEventRecord, common("cudaEventRecord"),
                          {.kind = trace::SyncKind::kEventRecord, .stream = lane(source)});
    builder_.add_sync(trace::OperationKind::kStreamWait, common("cudaStreamWaitEvent"),
                      {.kind = trace::SyncKind::kStreamWaitEvent,
                       .stream = lane(waiter),
                       .record = record,
                       .record_stream = lane(source)});
    return *this;
  }

  /// A wait of which the recording does not tell what for.
  LoopTrace& unknown_wait(int waiter) {
    builder_.add_sync(trace::OperationKind::kStreamWait, common("cudaStreamWaitEvent"),
                      {.kind = trace::SyncKind::kStreamWaitEvent, .stream = lane(waiter)});
    return *this;
  }

  /// A wait for an event that was recorded on `source` at a time of which the recording does not tell.
  LoopTrace& wait_for_lost_record(int waiter, int source) {
    builder_.add_sync(
        trace::OperationKind::kStreamWait, common("cudaStreamWaitEvent"),
        {.kind = trace::SyncKind::kStreamWaitEvent, .stream = lane(waiter), .record_stream = lane(source)});
    return *this;
  }

  LoopTrace& host_waits_for(int stream) {
    builder_.add_sync(trace::OperationKind::kHostSync, common("cudaStreamSynchronize"),
                      {.kind = trace::SyncKind::kStreamSync, .stream = lane(stream)});
    return *this;
  }

  /// The host does something else until then.
  LoopTrace& until(Nanoseconds time) {
    now_ = time;
    return *this;
  }

  LoopTrace& memory(trace::AllocationAction action, std::uint64_t address, Bytes bytes, int pool) {
    builder_.add_allocation(common("[memory]", 0),
                            {.action = action, .address = address, .bytes = bytes, .stream = lane(pool)});
    return *this;
  }

  [[nodiscard]] trace::Trace build() {
    close();
    Diagnostics none;
    return std::move(builder_).build(none);
  }

 private:
  trace::LaneId lane(int stream) { return builder_.lane(trace::LaneKind::kStream, rank_, 0, stream); }

  trace::TraceBuilder::Common common(const std::string& name, Nanoseconds duration = 10) {
    const trace::TraceBuilder::Common common{host_, builder_.intern(name), now_, duration, {}};
    now_ += 10;
    return common;
  }

  void call(const std::string& name, std::int64_t correlation) {
    auto with = common(name);
    with.correlation = correlation;
    builder_.add_host_call(with);
  }

  void close() {
    if (open_.empty()) return;
    annotate(open_, opened_);
    open_.clear();
  }

  void annotate(const std::string& name, Nanoseconds from) {
    builder_.add_range({host_, builder_.intern(name), from, now_ - from, {}}, {.kind = trace::RangeKind::kAnnotation});
    now_ += 10;
  }

  trace::TraceBuilder builder_;
  trace::RankId rank_;
  trace::LaneId host_;
  Nanoseconds now_ = 0;
  std::int64_t next_ = 1;
  std::optional<trace::OperationId> record_;
  std::string open_;
  Nanoseconds opened_ = 0;
  std::string inner_;
  Nanoseconds inner_opened_ = 0;
};

}  // namespace interlace::trace_check
