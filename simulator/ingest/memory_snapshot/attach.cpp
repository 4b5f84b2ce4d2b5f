#include "simulator/ingest/memory_snapshot/attach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/memory_snapshot/allocations.hpp"
#include "simulator/ingest/memory_snapshot/block_bytes.hpp"
#include "simulator/ingest/memory_snapshot/device_choice.hpp"
#include "simulator/ingest/memory_snapshot/flaws.hpp"
#include "simulator/ingest/memory_snapshot/match.hpp"
#include "simulator/ingest/memory_snapshot/stream_handles.hpp"
#include "simulator/ingest/memory_snapshot/timeline.hpp"
#include "simulator/trace/append_trace.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest::memory_snapshot {

namespace {

using trace::AllocationAction;
using trace::OperationId;

/// What the trace itself knows of one rank's memory.
struct RecordedRank {
  trace::RankId rank;
  Nanoseconds begin = 0;  ///< of the rank's first operation, on the recording's clock; 0 where it has none
  Nanoseconds end = 0;
  std::vector<OperationId> reports;  ///< allocations and frees of its device, in order
};

std::vector<RecordedRank> recorded_ranks(const trace::Trace& trace) {
  std::vector<RecordedRank> ranks(trace.ranks().size());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[i].rank = {i};
  std::vector<bool> is_known(ranks.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    const std::size_t rank = trace.rank_of(op).index();
    if (!is_known[rank]) ranks[rank].begin = trace.start(op) + trace.origin();
    is_known[rank] = true;
    ranks[rank].end = std::max(ranks[rank].end, trace.end(op) + trace.origin());
    const trace::AllocationDetail* const detail = trace.allocation(op);
    if (detail == nullptr || !detail->on_device) continue;
    const bool is_report = detail->action == AllocationAction::kAlloc || detail->action == AllocationAction::kFree;
    if (is_report) ranks[rank].reports.push_back(op);
  }
  return ranks;
}

/// A recording that was joined before already has all events: its frees are told in two parts.
void check_not_attached(const trace::Trace& trace, const Snapshot& snapshot) {
  bool is_attached = !trace.allocator_states().empty();
  for (std::uint32_t i = 0; i < trace.size() && !is_attached; ++i) {
    const trace::AllocationDetail* const detail = trace.allocation({i});
    is_attached = detail != nullptr && detail->stream_handle.has_value();
  }
  if (!is_attached) return;
  throw Error(kSnapshotTwice, snapshot.file.string(), "the recording already holds what an allocator recorded",
              "leave the memory snapshots out");
}

/// Joins one rank with its snapshot. All is worked out from the trace as it is; the builder comes last.
class RankAttacher {
 public:
  RankAttacher(const trace::Trace& trace, const RecordedRank& rank, const Snapshot& snapshot,
               const DeviceSnapshot& device, Diagnostics& diagnostics)
      : trace_(&trace),
        rank_(&rank),
        snapshot_(&snapshot),
        device_(&device),
        events_(device.events),
        diagnostics_(&diagnostics) {}

  void work_out() {
    diagnostics_->merge(snapshot_->diagnostics);
    if (events_.empty()) diagnostics_->count(kNoHistory, place());
    match();
    check_same_run();
    leave_out_before();
    count_unmatched();
    places_ = place_events(events_, sightings_);
    const Nanoseconds delay = usual_delay(events_, sightings_);
    if (std::abs(delay) > kWidestDelay) {
      diagnostics_->count(kClocksDiffer, fmt::format("{}: by {} us", place(), delay / kMicrosecond));
    }
    infer_streams();
  }

  /// Reports that are joined, ascending: the trace is to be appended without them.
  void add_joined(std::vector<OperationId>& left_out) const {
    for (const auto& report : report_of_) {
      if (report) left_out.push_back(rank_->reports[*report]);
    }
  }

  /// The builder holds the trace, whose lanes and ranks have their ids.
  void add_to(trace::TraceBuilder& builder) const {
    for (const HandleVotes& handle : handles_) {
      if (handle.stream) builder.set_handle(*handle.stream, handle.handle);
    }
    std::vector<std::optional<Bytes>> seen(events_.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (const auto* report = report_detail(i)) seen[i] = report->bytes;
    }
    const auto bytes = block_bytes(events_, seen, device_->segments);
    const trace::StringId name = builder.intern(kOperationName);
    std::int64_t unknown_threads = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      trace::AllocationDetail detail = detail_of(events_[i], bytes[i]);
      if (const auto* report = report_detail(i)) {
        detail.total_allocated = report->total_allocated;
        detail.total_reserved = report->total_reserved;
      }
      detail.stream = stream_of(events_[i].stream_handle);
      if (!places_[i].thread) ++unknown_threads;
      const trace::LaneId lane = places_[i].thread ? *places_[i].thread : unknown_thread(builder, rank_->rank);
      builder.add_allocation({lane, name, places_[i].time, 0, {}}, detail);
    }
    diagnostics_->count(kUnknownThread, place(), unknown_threads);
    trace::AllocatorState state{.rank = rank_->rank, .device = device_->device, .settings = snapshot_->settings};
    if (!places_.empty()) state.time = places_.back().time;
    state.segments = device_->segments;
    builder.add_allocator_state(std::move(state));
  }

 private:
  [[nodiscard]] std::string place() const { return snapshot_->file.string(); }

  [[nodiscard]] const trace::AllocationDetail* report_detail(std::size_t event) const {
    return report_of_[event] ? trace_->allocation(rank_->reports[*report_of_[event]]) : nullptr;
  }
  [[nodiscard]] Nanoseconds report_time(std::size_t report) const {
    return trace_->start(rank_->reports[report]) + trace_->origin();
  }

  void match() {
    std::vector<Report> reports;
    reports.reserve(rank_->reports.size());
    for (std::size_t i = 0; i < rank_->reports.size(); ++i) {
      const trace::AllocationDetail& detail = *trace_->allocation(rank_->reports[i]);
      reports.push_back({detail.address, detail.action == AllocationAction::kFree, report_time(i)});
    }
    report_of_ = match_events(events_, reports);
    sightings_.resize(events_.size());
    std::int64_t joined = 0;
    std::int64_t inversions = 0;
    std::vector<std::size_t> last_of_lane(trace_->lanes().size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!report_of_[i]) continue;
      ++joined;
      const trace::LaneId lane = trace_->lane_of(rank_->reports[*report_of_[i]]);
      sightings_[i] = {lane, report_time(*report_of_[i])};
      std::size_t& last = last_of_lane[lane.index()];
      if (*report_of_[i] + 1 < last) ++inversions;
      last = *report_of_[i] + 1;
    }
    diagnostics_->count(kJoined, place(), joined);
    diagnostics_->count(kOrderDiffers, place(), inversions);
    diagnostics_->count(kUnmatchedReport, place(), static_cast<std::int64_t>(reports.size()) - joined);
  }

  /// A snapshot of another run, or of another window, shares nothing with the trace.
  void check_same_run() const {
    if (events_.empty()) return;
    const bool is_joined = std::ranges::any_of(report_of_, [](const auto& report) { return report.has_value(); });
    const bool overlaps = events_.front().time <= rank_->end && events_.back().time >= rank_->begin;
    if (is_joined || (overlaps && rank_->reports.empty())) return;
    throw Error(kSnapshotOfOtherRun, place(),
                overlaps ? fmt::format("none of its events is among those that rank {} reports",
                                       trace_->ranks()[rank_->rank.index()].number)
                         : fmt::format("its history and the recording of rank {} have no moment in common",
                                       trace_->ranks()[rank_->rank.index()].number),
                "name the snapshot of the same process and window, in the order of the ranks");
  }

  void leave_out_before() {
    const auto first_joined =
        std::ranges::find_if(report_of_, [](const auto& report) { return report.has_value(); }) - report_of_.begin();
    const auto first_inside =
        std::ranges::find_if(events_, [&](const Event& event) { return event.time >= rank_->begin; }) - events_.begin();
    const auto begin = std::min(first_joined, first_inside);
    diagnostics_->count(kBeforeRecording, place(), begin);
    events_ = events_.subspan(static_cast<std::size_t>(begin));
    report_of_.erase(report_of_.begin(), report_of_.begin() + begin);
    sightings_.erase(sightings_.begin(), sightings_.begin() + begin);
  }

  /// Between the first and the last that was seen the profiler should have seen all.
  void count_unmatched() {
    if (rank_->reports.empty()) return;
    std::int64_t since_last = 0;
    std::int64_t between = 0;
    bool has_seen = false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const AllocationAction action = events_[i].action;
      if (action == AllocationAction::kAlloc || action == AllocationAction::kFreeRequested) ++since_last;
      if (!report_of_[i]) continue;
      if (has_seen) between += since_last - 1;
      has_seen = true;
      since_last = 0;
    }
    diagnostics_->count(kUnmatchedEvent, place(), between);
  }

  void infer_streams() {
    std::set<std::uint64_t> handles;
    std::vector<HandledAllocation> allocations;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      handles.insert(events_[i].stream_handle);
      if (!report_of_[i] || events_[i].action != AllocationAction::kAlloc) continue;
      allocations.push_back({rank_->reports[*report_of_[i]], events_[i].stream_handle});
    }
    for (const trace::AllocatorSegment& segment : device_->segments) handles.insert(segment.stream_handle);
    const std::vector<std::uint64_t> all(handles.begin(), handles.end());
    handles_ = infer_stream_handles(*trace_, rank_->rank, allocations, all);
    for (const HandleVotes& handle : handles_) {
      std::int64_t votes = 0;
      for (const auto& [stream, of_stream] : handle.votes) votes += of_stream;
      if (handle.stream) {
        const auto its = handle.votes.find(*handle.stream);
        diagnostics_->count(kStreamInferred, fmt::format("{}: handle {:#x} is stream {} by {} of {} allocations",
                                                         place(), handle.handle, trace_->lane(*handle.stream).number,
                                                         its == handle.votes.end() ? 0 : its->second, votes));
      } else {
        diagnostics_->count(kStreamUnknown, fmt::format("{}: handle {:#x}, {} votes", place(), handle.handle, votes));
      }
    }
  }

  [[nodiscard]] std::optional<trace::LaneId> stream_of(std::uint64_t handle) const {
    const auto known = std::ranges::lower_bound(handles_, handle, {}, &HandleVotes::handle);
    return known == handles_.end() ? std::nullopt : known->stream;
  }

  /// Both clocks are the host's; more than this, and one of them was set.
  static constexpr Nanoseconds kWidestDelay = 100 * kMicrosecond;

  const trace::Trace* trace_;
  const RecordedRank* rank_;
  const Snapshot* snapshot_;
  const DeviceSnapshot* device_;
  std::span<const Event> events_;  ///< from where the rank's recording begins
  Diagnostics* diagnostics_;
  std::vector<std::optional<std::size_t>> report_of_;  ///< by event
  std::vector<std::optional<Sighting>> sightings_;
  std::vector<Place> places_;
  std::vector<HandleVotes> handles_;
};

}  // namespace

trace::Trace attach_snapshots(const trace::Trace& trace, std::span<const Snapshot> snapshots,
                              Diagnostics& diagnostics) {
  if (snapshots.size() != trace.ranks().size()) {
    throw Error(kSnapshotCount, "",
                fmt::format("{} memory snapshots for {} ranks", snapshots.size(), trace.ranks().size()),
                "name one snapshot a rank, or none");
  }
  check_not_attached(trace, snapshots.front());
  const std::vector<RecordedRank> ranks = recorded_ranks(trace);
  const auto devices = devices_of_ranks(trace);
  const std::vector<std::size_t> chosen = snapshots_of_ranks(snapshots, devices);
  std::vector<RankAttacher> attachers;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Snapshot& snapshot = snapshots[chosen[i]];
    const DeviceSnapshot* const device = choose_device(snapshot, devices[i], diagnostics);
    if (device == nullptr) {
      diagnostics.count(kNoHistory, snapshot.file.string());
      continue;
    }
    attachers.emplace_back(trace, ranks[i], snapshot, *device, diagnostics).work_out();
  }

  std::vector<OperationId> left_out;
  for (const RankAttacher& attacher : attachers) attacher.add_joined(left_out);
  std::ranges::sort(left_out);
  trace::TraceBuilder builder;
  std::vector<trace::RankId> same_ranks;
  for (const trace::Rank& rank : trace.ranks()) same_ranks.push_back(builder.add_rank(rank));
  trace::append_trace(trace, same_ranks, builder, left_out);
  for (const RankAttacher& attacher : attachers) attacher.add_to(builder);
  Diagnostics counted_before;  // by the builder of the trace as it was
  return std::move(builder).build(counted_before);
}

}  // namespace interlace::ingest::memory_snapshot
