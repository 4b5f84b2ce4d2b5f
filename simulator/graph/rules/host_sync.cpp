#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

using trace::LaneId;
using trace::OperationId;
using trace::SyncKind;

namespace {

/// The stream that a thread launched to last before each of its synchronisations, for recordings without streams.
class StreamInUse {
 public:
  explicit StreamInUse(const trace::Trace& trace) : by_thread_(trace.lanes().size()) {}

  void see(const trace::Trace& trace, OperationId call) {
    const auto launched = trace.launched_by(call);
    if (launched.empty() || trace.kind(launched.front()) == trace::OperationKind::kCollective) return;
    by_thread_[trace.lane_of(call).index()] = trace.lane_of(launched.front());
  }
  [[nodiscard]] std::optional<LaneId> of(LaneId thread) const { return by_thread_[thread.index()]; }

 private:
  std::vector<std::optional<LaneId>> by_thread_;
};

/// As recorded, else by the name of the call.
SyncKind kind_of(const trace::Trace& trace, OperationId sync) {
  const trace::SyncDetail* detail = trace.sync(sync);
  if (detail != nullptr && detail->kind != SyncKind::kUnknown) return detail->kind;
  const std::string_view name = trace.name(sync);
  if (name.find("StreamSynchronize") != std::string_view::npos) return SyncKind::kStreamSync;
  if (name.find("EventSynchronize") != std::string_view::npos) return SyncKind::kEventSync;
  if (name.find("DeviceSynchronize") != std::string_view::npos) return SyncKind::kDeviceSync;
  if (name.find("CtxSynchronize") != std::string_view::npos) return SyncKind::kDeviceSync;
  return SyncKind::kUnknown;
}

class HostSyncs {
 public:
  HostSyncs(const trace::Trace& trace, const StreamQueues& queues, EdgeList& edges, Diagnostics& diagnostics)
      : trace_(trace), queues_(queues), edges_(edges), diagnostics_(diagnostics), in_use_(trace) {}

  void add_all() {
    for (std::uint32_t i = 0; i < trace_.size(); ++i) {
      in_use_.see(trace_, {i});
      if (trace_.kind({i}) == trace::OperationKind::kHostSync) add({i});
    }
  }

 private:
  void add(OperationId sync) {
    switch (kind_of(trace_, sync)) {
      case SyncKind::kStreamSync: wait_for_stream(sync); break;
      case SyncKind::kEventSync: wait_for_event(sync); break;
      case SyncKind::kDeviceSync: wait_for_device(sync); break;
      default: diagnostics_.count(kSyncTargetUnknown, trace_.name(sync));
    }
  }
  void wait_for_stream(OperationId sync) {
    const trace::SyncDetail* detail = trace_.sync(sync);
    if (detail != nullptr && detail->stream) return wait_for(*detail->stream, trace_.start(sync), sync);
    const auto stream = in_use_.of(trace_.lane_of(sync));
    diagnostics_.count(stream ? kSyncStreamInferred : kSyncTargetUnknown, trace_.name(sync));
    if (stream) wait_for(*stream, trace_.start(sync), sync);
  }
  void wait_for_event(OperationId sync) {
    const trace::SyncDetail* detail = trace_.sync(sync);
    // What was queued by the call is not what an event covers that was recorded at some other time.
    if (detail == nullptr || !detail->record_stream || !detail->record) {
      diagnostics_.count(kSyncTargetUnknown, trace_.name(sync));
      return;
    }
    wait_for(*detail->record_stream, trace_.start(*detail->record), sync);
  }
  void wait_for_device(OperationId sync) {
    for (std::uint32_t l = 0; l < trace_.lanes().size(); ++l) {
      if (trace_.lane({l}).rank == trace_.rank_of(sync)) wait_for({l}, trace_.start(sync), sync);
    }
  }
  void wait_for(LaneId stream, Nanoseconds queued_before, OperationId sync) {
    if (const auto work = queues_.last_before(stream, queued_before)) {
      edges_.add(Graph::end_of(*work), Graph::end_of(sync), EdgeKind::kHostSync, kClockTolerance);
      const OperationId latest = queues_.last_to_end(*work);
      if (latest != *work) edges_.add(Graph::end_of(latest), Graph::end_of(sync), EdgeKind::kHostSync, kClockTolerance);
    }
  }

  const trace::Trace& trace_;
  const StreamQueues& queues_;
  EdgeList& edges_;
  Diagnostics& diagnostics_;
  StreamInUse in_use_;
};

}  // namespace

void add_host_syncs(const trace::Trace& trace, const StreamQueues& queues, EdgeList& edges, Diagnostics& diagnostics) {
  HostSyncs(trace, queues, edges, diagnostics).add_all();
}

}  // namespace interlace::graph
