#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "simulator/explain/explain.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::explain {

/// A loop of one rank that the tests describe and this executes: a host that queues work, streams in first-in
/// first-out order, waits between them. Times in ns; work starts when its launch, its stream and its waits allow.
class TrainingRun {
 public:
  explicit TrainingRun(std::int32_t number = 0) {
    trace::Rank rank;
    rank.number = number;
    rank.process_id = 1;
    rank.source = "run";
    rank_ = builder_.add_rank(rank);
    host_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 1);
  }

  void stage(const std::string& name, int batch) {
    close();
    open_ = name + " " + std::to_string(batch);
    opened_ = now_;
  }
  void begin_iteration(int number) {
    close();
    iteration_ = "iteration " + std::to_string(number);
    iteration_began_ = now_;
    now_ += 1;
  }
  void end_iteration() {
    close();
    builder_.add_range({host_, builder_.intern(iteration_), iteration_began_, now_ - iteration_began_, {}},
                       {.kind = trace::RangeKind::kAnnotation});
    now_ += 1;
  }
  /// The host does something else for so long.
  void think(Nanoseconds time) { now_ += time; }

  void kernel(int stream, const std::string& name, Nanoseconds duration) {
    const std::int64_t correlation = next_++;
    builder_.add_host_call({host_, builder_.intern("cudaLaunchKernel"), now_, kCall, correlation});
    Nanoseconds& free = free_[static_cast<std::size_t>(stream)];
    const Nanoseconds start = std::max(now_, free);
    builder_.add_kernel({lane(stream), builder_.intern(name), start, duration, correlation}, {});
    free = start + duration;
    now_ += kCall;
  }
  void wait(int waiter, int source) {
    const auto call = [&](const char* name) {
      return trace::TraceBuilder::Common{host_, builder_.intern(name), now_, 0, {}};
    };
    const auto record = builder_.add_sync(trace::OperationKind::kEventRecord, call("cudaEventRecord"),
                                          {.kind = trace::SyncKind::kEventRecord, .stream = lane(source)});
    builder_.add_sync(trace::OperationKind::kStreamWait, call("cudaStreamWaitEvent"),
                      {.kind = trace::SyncKind::kStreamWaitEvent,
                       .stream = lane(waiter),
                       .record = record,
                       .record_stream = lane(source)});
    now_ += 1;
    Nanoseconds& free = free_[static_cast<std::size_t>(waiter)];
    free = std::max(free, free_[static_cast<std::size_t>(source)]);
  }
  /// The host waits until the stream is drained.
  void synchronise(int stream) {
    const Nanoseconds until = std::max(now_, free_[static_cast<std::size_t>(stream)]) + kCall;
    builder_.add_sync(trace::OperationKind::kHostSync,
                      {host_, builder_.intern("cudaStreamSynchronize"), now_, until - now_, {}},
                      {.kind = trace::SyncKind::kStreamSync, .stream = lane(stream)});
    now_ = until;
  }

  [[nodiscard]] trace::Trace build() {
    close();
    Diagnostics none;
    return std::move(builder_).build(none);
  }

  static constexpr Nanoseconds kCall = 10;

 private:
  trace::LaneId lane(int stream) { return builder_.lane(trace::LaneKind::kStream, rank_, 0, stream); }
  void close() {
    if (open_.empty()) return;
    builder_.add_range({host_, builder_.intern(open_), opened_, now_ - opened_, {}},
                       {.kind = trace::RangeKind::kAnnotation});
    open_.clear();
    now_ += 1;
  }

  trace::TraceBuilder builder_;
  trace::RankId rank_;
  trace::LaneId host_;
  Nanoseconds now_ = 0;
  std::int64_t next_ = 1;
  std::vector<Nanoseconds> free_ = std::vector<Nanoseconds>(4, 0);
  std::string open_;
  Nanoseconds opened_ = 0;
  std::string iteration_;
  Nanoseconds iteration_began_ = 0;
};

/// A trace with what explain needs of it.
struct ExplainedRun {
  explicit ExplainedRun(trace::Trace of) : trace(std::move(of)), staged(trace_check::staged_by_names(trace)) {}
  [[nodiscard]] Run run() const { return run_of(trace, staged); }

  trace::Trace trace;
  trace_check::StagedWork staged;
};

}  // namespace interlace::explain
