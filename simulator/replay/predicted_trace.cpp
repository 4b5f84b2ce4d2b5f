#include "simulator/replay/predicted_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::replay {

namespace {

using trace::LaneId;
using trace::LaneKind;
using trace::OperationKind;
using trace::Trace;
using trace::TraceBuilder;

constexpr std::int64_t kHostThread = 1;
constexpr std::string_view kInventedCall = "launch that an edit adds";

trace::AllocationAction action_of(allocator::Action action) {
  using enum trace::AllocationAction;
  switch (action) {
    case allocator::Action::kAlloc: return kAlloc;
    case allocator::Action::kFreeRequested: return kFreeRequested;
    case allocator::Action::kFreeCompleted: return kFreeCompleted;
    case allocator::Action::kSegmentAlloc: return kSegmentAlloc;
    case allocator::Action::kSegmentFree: return kSegmentFree;
    case allocator::Action::kSegmentMap: return kSegmentMap;
    case allocator::Action::kSegmentUnmap: return kSegmentUnmap;
    case allocator::Action::kOom: return kOutOfMemory;
  }
  return kAlloc;
}

constexpr std::string_view kPredictedBy = "interlace predict ";
constexpr std::string_view kUnderRecorder = " --under-recorder";

class TraceWriter {
 public:
  TraceWriter(const Trace& recorded, const Plan& plan, const SiteTable& table, bool under_recorder)
      : recorded_(&recorded), plan_(&plan), table_(&table) {
    for (const trace::Rank& rank : recorded.ranks()) {
      trace::Rank copy = rank;
      copy.producer = std::string(kPredictedBy) + plan.schedule;
      if (under_recorder) copy.producer += kUnderRecorder;
      const trace::RankId id = builder_.add_rank(std::move(copy));
      const LaneId thread = builder_.lane(LaneKind::kHostThread, id, rank.process_id, kHostThread);
      builder_.name_lane(thread, "host");
      threads_.push_back(thread);
      auto& streams = streams_.emplace_back();
      const std::int64_t device = rank.devices.empty() ? 0 : rank.devices.front().ordinal;
      for (std::size_t s = 0; s < plan.streams.size(); ++s) {
        const LaneId lane = builder_.lane(LaneKind::kStream, id, device, static_cast<std::int64_t>(s) + 1);
        builder_.name_lane(lane, plan.streams[s].name);
        builder_.set_priority(lane, plan.streams[s].priority);
        streams.push_back(lane);
      }
    }
  }

  void add(const HostRange& range) {
    builder_.add_range({threads_[range.rank],
                        builder_.intern(fmt::format("{} {}", plan_->labels[range.label], range.batch)),
                        rounded(range.start_ns),
                        rounded(range.end_ns) - rounded(range.start_ns),
                        {}},
                       {.kind = trace::RangeKind::kAnnotation});
  }

  /// From the first to the last call of a part of a stage. No annotation: stages are what analyses tell of.
  void add_part(const HostCall& from, const HostCall& to, const std::string& label) {
    builder_.add_range({threads_[from.rank],
                        builder_.intern(label),
                        rounded(from.start_ns),
                        rounded(to.end_ns) - rounded(from.start_ns),
                        {}},
                       {.kind = trace::RangeKind::kOther});
  }

  void add(const HostCall& call, std::int64_t correlation) {
    const TraceBuilder::Common common{
        threads_[call.rank], builder_.intern(call.recorded ? recorded_->name(*call.recorded) : kInventedCall),
        rounded(call.start_ns), rounded(call.end_ns) - rounded(call.start_ns), correlation};
    if (call.recorded && recorded_->kind(*call.recorded) == OperationKind::kHostSync) {
      trace::SyncDetail detail;
      if (const trace::SyncDetail* known = recorded_->sync(*call.recorded)) detail.kind = known->kind;
      detail.stream = streams_[call.rank][call.stream.index()];
      builder_.add_sync(OperationKind::kHostSync, common, detail);
    } else {
      builder_.add_host_call(common);
    }
  }

  void add(const EventWait& wait) {
    const LaneId source = streams_[wait.rank][wait.source.index()];
    const auto call = [&](std::string_view name, double from, double to) {
      return TraceBuilder::Common{
          threads_[wait.rank], builder_.intern(name), rounded(from), rounded(to) - rounded(from), {}};
    };
    const trace::OperationId record = record_of(source, call("cudaEventRecord", wait.recorded_ns, wait.recorded_ns));
    trace::SyncDetail detail{.record = record, .record_stream = source};
    if (wait.waiter) {
      detail.kind = trace::SyncKind::kStreamWaitEvent;
      detail.stream = streams_[wait.rank][wait.waiter->index()];
      builder_.add_sync(OperationKind::kStreamWait, call("cudaStreamWaitEvent", wait.waited_ns, wait.waited_ns),
                        detail);
    } else {
      detail.kind = trace::SyncKind::kEventSync;
      builder_.add_sync(OperationKind::kHostSync, call("cudaEventSynchronize", wait.waited_ns, wait.resumed_ns),
                        detail);
    }
  }

  void add(const Work& work, std::int64_t correlation) {
    const Site& site = table_->sites[work.site.index()];
    if (!work.recorded && site.alone_ns == 0) return;  // keeps an order, and is nothing by itself
    const TraceBuilder::Common common{streams_[work.rank][work.stream.index()], builder_.intern(site.name),
                                      rounded(*work.start_ns), rounded(*work.end_ns) - rounded(*work.start_ns),
                                      correlation};
    if (work.recorded) {
      add_recorded(common, *work.recorded);
    } else {
      add_invented(common, site);
    }
  }

  void add(const memory::MemoryEvent& event, std::uint32_t rank) {
    trace::AllocationDetail detail;
    detail.action = action_of(event.entry.action);
    detail.address = event.entry.address;
    detail.bytes = event.block > 0 ? event.block : event.entry.size;
    detail.total_allocated = event.allocated;
    detail.total_reserved = event.reserved;
    detail.stream = streams_[rank][event.entry.stream];
    if (event.block > 0) detail.requested = event.entry.size;
    builder_.add_allocation({threads_[rank], builder_.intern("[memory]"), event.entry.time, 0, {}}, detail);
  }

  Trace build() {
    Diagnostics none;
    return std::move(builder_).build(none);
  }

 private:
  /// One record for all that wait for the same event.
  trace::OperationId record_of(LaneId source, const TraceBuilder::Common& call) {
    const auto [known, is_new] = records_.try_emplace({source, call.start});
    if (is_new) {
      known->second = builder_.add_sync(OperationKind::kEventRecord, call,
                                        {.kind = trace::SyncKind::kEventRecord, .stream = source});
    }
    return known->second;
  }

  void add_recorded(const TraceBuilder::Common& common, trace::OperationId from) {
    switch (recorded_->kind(from)) {
      case OperationKind::kCollective: {
        std::optional<trace::CollectiveDetail> detail;
        if (const trace::CollectiveDetail* known = recorded_->collective(from)) {
          detail = *known;
          detail->name = builder_.intern(recorded_->text(known->name));
          detail->dtype = builder_.intern(recorded_->text(known->dtype));
          detail->group = builder_.intern(recorded_->text(known->group));
        }
        builder_.add_collective(common, *recorded_->kernel(from), detail);
        break;
      }
      case OperationKind::kCopy: builder_.add_copy(common, *recorded_->copy(from)); break;
      case OperationKind::kMemset: builder_.add_memset(common, *recorded_->copy(from)); break;
      default: builder_.add_kernel(common, *recorded_->kernel(from));
    }
  }

  void add_invented(const TraceBuilder::Common& common, const Site& site) {
    using enum trace::MemorySpace;
    switch (site.kind) {
      case WorkKind::kCollective: builder_.add_collective(common, {.grid = {site.ctas, 1, 1}}, std::nullopt); break;
      case WorkKind::kHostCopy: {
        const bool to_host = site.segment.stage == schedule::Stage::kValidateOutput;
        builder_.add_copy(
            common,
            {.bytes = site.bytes, .source = to_host ? kDevice : kPinned, .destination = to_host ? kPinned : kDevice});
        break;
      }
      case WorkKind::kDeviceCopy:
        builder_.add_copy(common, {.bytes = site.bytes, .source = kDevice, .destination = kDevice});
        break;
      case WorkKind::kMemset: builder_.add_memset(common, {.bytes = site.bytes, .source = kDevice}); break;
      case WorkKind::kKernel:
        builder_.add_kernel(common, {.grid = {static_cast<std::int32_t>(site.shape.blocks), 1, 1}});
    }
  }

  const Trace* recorded_;
  const Plan* plan_;
  const SiteTable* table_;
  TraceBuilder builder_;
  std::vector<LaneId> threads_;
  std::vector<std::vector<LaneId>> streams_;
  std::map<std::pair<LaneId, Nanoseconds>, trace::OperationId> records_;
};

/// What of a simulation is shown: from an iteration on every stage of which some work starts before the devices have
/// ended a later one, with all its works; and between these the stages without works.
class Selection {
 public:
  Selection(const SimulationResult& result, std::int32_t first, std::int32_t count)
      : result_(&result), stages_(result.ranges.size(), Works::kNone), first_(first), last_(first) {
    for (const Work& work : result.works) {
      const auto range = result.calls[work.call].range;
      if (!work.end_ns || !range || work.iteration < first) continue;
      const double end = result.iteration_ends[work.rank][static_cast<std::size_t>(first + count - 1)];
      const bool is_shown = *work.start_ns < end;
      stages_[*range] = std::max(stages_[*range], is_shown ? Works::kShown : Works::kLater);
      if (is_shown) last_ = std::max(last_, work.iteration);
    }
  }

  [[nodiscard]] bool has_iteration(std::int32_t iteration) const { return iteration >= first_ && iteration <= last_; }
  [[nodiscard]] bool has_stage(std::size_t range) const {
    return has_iteration(result_->ranges[range].iteration) && stages_[range] != Works::kLater;
  }
  [[nodiscard]] bool has(const HostCall& call) const {
    return call.range ? has_stage(*call.range) : has_iteration(call.iteration);
  }
  [[nodiscard]] bool has(const Work& work) const { return work.end_ns && has(result_->calls[work.call]); }

 private:
  enum class Works : std::uint8_t { kNone, kLater, kShown };

  const SimulationResult* result_;
  std::vector<Works> stages_;  ///< by range of the result
  std::int32_t first_;
  std::int32_t last_;
};

/// When the host of a rank was in these iterations.
Interval host_window(const SimulationResult& result, std::uint32_t rank, const Selection& selection) {
  std::optional<Nanoseconds> begin;
  Nanoseconds end = 0;
  for (const HostCall& call : result.calls) {
    if (call.rank != rank || !selection.has_iteration(call.iteration)) continue;
    if (!begin) begin = rounded(call.start_ns);
    end = rounded(call.end_ns) + 1;
  }
  return {begin.value_or(end), end};
}

/// Consecutive calls of one segment are a part of its stage.
void add_parts(const SimulationResult& result, std::span<const std::string> modules, const Selection& selection,
               TraceWriter& writer) {
  struct Part {
    const HostCall* first = nullptr;
    const HostCall* last = nullptr;
  };
  const auto close = [&](const Part& part) {
    if (part.first == nullptr) return;
    const stages::SegmentKey& key = part.first->segment;
    const std::string label =
        stages::part_label(key.module ? modules[key.module->index()] : std::string_view(), key.piece);
    if (!label.empty()) writer.add_part(*part.first, *part.last, label);
  };
  std::vector<Part> open;
  for (const HostCall& call : result.calls) {
    if (!selection.has(call)) continue;
    if (call.rank >= open.size()) open.resize(call.rank + 1);
    Part& part = open[call.rank];
    const bool goes_on = part.first != nullptr && part.first->segment == call.segment &&
                         part.first->batch == call.batch && part.first->iteration == call.iteration;
    if (!goes_on) {
      close(part);
      part.first = &call;
    }
    part.last = &call;
  }
  for (const Part& part : open) close(part);
}

}  // namespace

std::optional<PredictedFor> predicted_for(const Trace& trace) {
  for (const trace::Rank& rank : trace.ranks()) {
    if (!rank.producer.starts_with(kPredictedBy)) continue;
    std::string schedule = rank.producer.substr(kPredictedBy.size());
    const bool under_recorder = schedule.ends_with(kUnderRecorder);
    if (under_recorder) schedule.resize(schedule.size() - kUnderRecorder.size());
    return PredictedFor{.schedule = std::move(schedule), .under_recorder = under_recorder};
  }
  return std::nullopt;
}

Trace predicted_trace(const Trace& recorded, const Plan& plan, const SiteTable& table,
                      std::span<const std::string> modules, const SimulationResult& result,
                      std::span<const PredictedMemory> memory, const ShownSteps& shown) {
  const Selection selection(result, shown.first, shown.count);
  TraceWriter writer(recorded, plan, table, shown.under_recorder);
  for (std::size_t i = 0; i < result.ranges.size(); ++i) {
    if (selection.has_stage(i)) writer.add(result.ranges[i]);
  }
  // Before the calls: at one instant an event is recorded and waited for before work is queued behind it. What was
  // recorded before these iterations is over for all that is shown.
  add_parts(result, modules, selection, writer);
  for (const EventWait& wait : result.waits) {
    if (selection.has_iteration(wait.recorded_in) && selection.has_iteration(wait.waited_in)) writer.add(wait);
  }
  // Calls that stand for no more than the time at which a stage takes or gives back memory are none.
  std::vector<bool> is_call(result.calls.size());
  for (const Work& work : result.works) is_call[work.call] = true;
  for (std::size_t i = 0; i < result.calls.size(); ++i) {
    const HostCall& call = result.calls[i];
    if ((call.recorded || is_call[i]) && selection.has(call)) writer.add(call, static_cast<std::int64_t>(i));
  }
  for (const Work& work : result.works) {
    if (selection.has(work)) writer.add(work, static_cast<std::int64_t>(work.call));
  }
  for (std::uint32_t rank = 0; rank < memory.size(); ++rank) {
    const Interval window = host_window(result, rank, selection);
    for (const memory::MemoryEvent& event : memory[rank].course.events) {
      if (window.contains(event.entry.time)) writer.add(event, rank);
    }
  }
  return writer.build();
}

}  // namespace interlace::replay
