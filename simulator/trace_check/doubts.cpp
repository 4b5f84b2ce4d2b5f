#include "simulator/trace_check/doubts.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

namespace interlace::trace_check {

using trace::OperationId;

namespace {

bool is_doubtful(const graph::ResolvedWait& wait) {
  return wait.evidence == graph::Evidence::kUnknown || wait.producer_stream_assumed;
}

}  // namespace

bool waits_for_untold_event(const trace::Trace& trace, OperationId sync) {
  if (trace.kind(sync) != trace::OperationKind::kHostSync) return false;
  const trace::SyncDetail* detail = trace.sync(sync);
  return trace.name(sync).find("EventSynchronize") != std::string_view::npos &&
         (detail == nullptr || !detail->record_stream || !detail->record);
}

Doubts::Doubts(const graph::Graph& graph, trace::RankId rank) {
  const trace::Trace& trace = graph.trace();
  of_streams_.resize(trace.lanes().size());
  for (const graph::ResolvedWait& wait : graph.waits()) {
    if (trace.rank_of(wait.wait) != rank || !wait.stream || !is_doubtful(wait)) continue;
    of_streams_[wait.stream->index()].push_back(trace.start(wait.wait));
  }
  for (std::vector<Nanoseconds>& times : of_streams_) std::ranges::sort(times);
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.rank_of(op) != rank || !waits_for_untold_event(trace, op)) continue;
    of_host_.emplace_back(trace.end(op), trace.start(op));
  }
  std::ranges::sort(of_host_);
  for (std::size_t i = 1; i < of_host_.size(); ++i) {
    of_host_[i].second = std::max(of_host_[i].second, of_host_[i - 1].second);
  }
}

bool Doubts::empty() const {
  return of_host_.empty() && std::ranges::all_of(of_streams_, [](const auto& times) { return times.empty(); });
}

std::optional<Nanoseconds> Doubts::of_stream(trace::LaneId stream, Nanoseconds queued_at) const {
  const std::vector<Nanoseconds>& times = of_streams_[stream.index()];
  const auto after = std::ranges::upper_bound(times, queued_at);
  return after == times.begin() ? std::nullopt : std::optional(*std::prev(after));
}

std::optional<Nanoseconds> Doubts::of_host(Nanoseconds queued_at) const {
  const auto after =
      std::ranges::upper_bound(of_host_, queued_at, std::ranges::less{}, &std::pair<Nanoseconds, Nanoseconds>::first);
  return after == of_host_.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

}  // namespace interlace::trace_check
