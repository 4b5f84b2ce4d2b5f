#include "simulator/graph/waits/host_calls.hpp"

namespace interlace::graph {

using trace::OperationId;
using trace::OperationKind;

namespace {

std::optional<CallRole> role_of(const trace::Trace& trace, OperationId op) {
  switch (trace.kind(op)) {
    case OperationKind::kEventRecord: return CallRole::kRecord;
    case OperationKind::kStreamWait: return CallRole::kWait;
    case OperationKind::kHostSync: return CallRole::kSync;
    case OperationKind::kHostCall:
      return trace.launched_by(op).empty() ? std::nullopt : std::optional(CallRole::kLaunch);
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<HostCall> host_calls(const trace::Trace& trace, const RangeNesting& nesting, SiteTable& sites) {
  std::vector<HostCall> calls;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    const auto role = role_of(trace, op);
    if (!role) continue;
    HostCall call{.op = op,
                  .thread = trace.lane_of(op),
                  .rank = trace.rank_of(op),
                  .role = *role,
                  .start = trace.start(op),
                  .end = trace.end(op),
                  .range = nesting.enclosing(op),
                  .site = sites.site_of(op)};
    if (*role == CallRole::kLaunch) {
      const OperationId first = trace.launched_by(op).front();
      call.stream = trace.lane_of(first);
      call.collective = trace.kind(first) == OperationKind::kCollective;
    } else if (const trace::SyncDetail* sync = trace.sync(op)) {
      call.stream = sync->stream;
      call.event = sync->event;
    }
    calls.push_back(call);
  }

  std::vector<std::optional<std::uint32_t>> last(trace.lanes().size());
  std::vector<std::optional<std::uint32_t>> launch(trace.lanes().size());
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    HostCall& call = calls[i];
    const std::size_t thread = call.thread.index();
    call.previous = last[thread];
    call.previous_launch = launch[thread];
    if (last[thread]) calls[*last[thread]].next = i;
    last[thread] = i;
    if (call.role == CallRole::kLaunch && !call.collective) launch[thread] = i;
  }
  launch.assign(trace.lanes().size(), std::nullopt);
  for (auto i = static_cast<std::uint32_t>(calls.size()); i-- > 0;) {
    HostCall& call = calls[i];
    call.next_launch = launch[call.thread.index()];
    if (call.role == CallRole::kLaunch && !call.collective) launch[call.thread.index()] = i;
  }
  return calls;
}

}  // namespace interlace::graph
