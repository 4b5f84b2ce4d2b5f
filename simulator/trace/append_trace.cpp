#include "simulator/trace/append_trace.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace interlace::trace {

namespace {

/// Translates ids of the trace into ids of the builder.
class Appender {
 public:
  Appender(const Trace& trace, std::span<const RankId> ranks, TraceBuilder& builder,
           std::span<const OperationId> left_out, std::span<const Nanoseconds> shifts)
      : trace_(&trace),
        builder_(&builder),
        first_operation_(builder.size()),
        left_out_(left_out),
        shifts_(shifts.begin(), shifts.end()) {
    shifts_.resize(trace.ranks().size(), 0);
    strings_.reserve(trace.strings().size());
    for (const std::string& text : trace.strings()) strings_.push_back(builder.intern(text));
    for (const Lane& lane : trace.lanes()) {
      const LaneId id = builder.lane(lane.kind, ranks[lane.rank.index()], lane.process, lane.number);
      if (!lane.name.empty()) builder.name_lane(id, lane.name);
      if (lane.priority) builder.set_priority(id, *lane.priority);
      if (lane.handle) builder.set_handle(id, *lane.handle);
      lanes_.push_back(id);
    }
    for (AllocatorState state : trace.allocator_states()) {
      if (state.time) *state.time += trace.origin() + shifts_[state.rank.index()];
      state.rank = ranks[state.rank.index()];
      builder.add_allocator_state(std::move(state));
    }
  }

  void add_all() {
    const auto correlations = launch_correlations(*trace_);
    builder_->reserve(first_operation_ + trace_->size());
    auto next_left_out = left_out_.begin();
    for (std::uint32_t i = 0; i < trace_->size(); ++i) {
      const OperationId op{i};
      if (next_left_out != left_out_.end() && *next_left_out == op) {
        ++next_left_out;
        continue;
      }
      const Note* known = trace_->note(op);
      Note note = known == nullptr ? Note() : *known;
      if (note.category) note.category = text_of(*note.category);
      add(op, {.lane = lane_of(trace_->lane_of(op)),
               .name = text_of(trace_->names()[i]),
               .start = trace_->start(op) + trace_->origin() + shifts_[trace_->rank_of(op).index()],
               .duration = trace_->duration(op),
               .correlation = correlations[i],
               .note = known == nullptr ? nullptr : &note});
    }
  }

 private:
  [[nodiscard]] StringId text_of(StringId id) const { return strings_[id.index()]; }
  [[nodiscard]] LaneId lane_of(LaneId id) const { return lanes_[id.index()]; }
  [[nodiscard]] std::optional<LaneId> lane_of(std::optional<LaneId> id) const {
    return id ? std::optional(lane_of(*id)) : std::nullopt;
  }
  /// Operations are added in the order of the trace.
  [[nodiscard]] std::optional<OperationId> operation_of(std::optional<OperationId> id) const {
    if (!id) return std::nullopt;
    const auto left_out_before = std::ranges::lower_bound(left_out_, *id) - left_out_.begin();
    return OperationId{
        static_cast<std::uint32_t>(first_operation_ + id->index() - static_cast<std::size_t>(left_out_before))};
  }

  void add(OperationId op, const TraceBuilder::Common& common) {
    switch (const OperationKind kind = trace_->kind(op)) {
      case OperationKind::kKernel: builder_->add_kernel(common, *trace_->kernel(op)); return;
      case OperationKind::kCollective:
        builder_->add_collective(common, *trace_->kernel(op), collective_of(trace_->collective(op)));
        return;
      case OperationKind::kCopy: builder_->add_copy(common, *trace_->copy(op)); return;
      case OperationKind::kMemset: builder_->add_memset(common, *trace_->copy(op)); return;
      case OperationKind::kHostCall:
      case OperationKind::kEventRecord:
      case OperationKind::kStreamWait:
      case OperationKind::kHostSync: add_call(kind, common, trace_->sync(op)); return;
      case OperationKind::kRange: builder_->add_range(common, range_of(*trace_->range(op))); return;
      case OperationKind::kDeviceRange: builder_->add_device_range(common, range_of(*trace_->range(op))); return;
      case OperationKind::kAllocation: {
        AllocationDetail detail = *trace_->allocation(op);
        detail.stream = lane_of(detail.stream);
        builder_->add_allocation(common, detail);
        return;
      }
    }
  }

  void add_call(OperationKind kind, const TraceBuilder::Common& common, const SyncDetail* known) {
    if (known == nullptr) {
      builder_->add_host_call(common);
      return;
    }
    SyncDetail detail = *known;
    detail.stream = lane_of(detail.stream);
    detail.record_stream = lane_of(detail.record_stream);
    detail.record = operation_of(detail.record);
    builder_->add_sync(kind, common, detail);
  }

  [[nodiscard]] std::optional<CollectiveDetail> collective_of(const CollectiveDetail* known) const {
    if (known == nullptr) return std::nullopt;
    CollectiveDetail detail = *known;
    detail.name = text_of(detail.name);
    detail.dtype = text_of(detail.dtype);
    detail.group = text_of(detail.group);
    return detail;
  }

  [[nodiscard]] RangeDetail range_of(RangeDetail detail) const {
    detail.forward_op = operation_of(detail.forward_op);
    return detail;
  }

  const Trace* trace_;
  TraceBuilder* builder_;
  std::size_t first_operation_;
  std::span<const OperationId> left_out_;
  std::vector<Nanoseconds> shifts_;  ///< by rank of the trace
  std::vector<StringId> strings_;
  std::vector<LaneId> lanes_;
};

}  // namespace

std::vector<std::optional<std::int64_t>> launch_correlations(const Trace& trace) {
  std::vector<std::optional<std::int64_t>> correlations(trace.size());
  std::vector<std::int64_t> next(trace.ranks().size(), 1);
  auto without_work = trace.launches_without_work().begin();
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const auto launched = trace.launched_by({i});
    const bool is_without_work = without_work != trace.launches_without_work().end() && *without_work == OperationId{i};
    if (is_without_work) ++without_work;
    if (launched.empty() && !is_without_work) continue;
    correlations[i] = next[trace.rank_of({i}).index()]++;
    for (const OperationId work : launched) correlations[work.index()] = correlations[i];
  }
  return correlations;
}

void append_trace(const Trace& trace, std::span<const RankId> ranks, TraceBuilder& builder,
                  std::span<const OperationId> left_out, std::span<const Nanoseconds> shifts) {
  assert(ranks.size() == trace.ranks().size());
  assert(shifts.empty() || shifts.size() == trace.ranks().size());
  assert(std::ranges::is_sorted(left_out));
  Appender(trace, ranks, builder, left_out, shifts).add_all();
}

}  // namespace interlace::trace
