#include "simulator/trace_check/reuse.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace interlace::trace_check {

namespace {

using schedule::Resource;
using trace::AllocationAction;
using trace::AllocationDetail;
using trace::LaneId;
using trace::OperationId;

/// Memory that was handed out.
struct Block {
  Bytes bytes = 0;
  std::optional<LaneId> pool;
  std::optional<std::uint32_t> made_in;  ///< run of a stage
  std::vector<LaneId> recorded_on;       ///< record_stream: a free waits for these streams, too
};

/// Memory that was given back and not handed out since.
struct Freed {
  Block block;
  std::uint64_t end = 0;
  Nanoseconds at = 0;                     ///< when the program let go
  std::optional<std::uint32_t> freed_in;  ///< run of a stage
  bool deferred = false;                  ///< until other streams were done
};

class Follower {
 public:
  Follower(const trace::Trace& trace, const StagedWork& staged, const Accesses& accesses,
           const graph::StreamQueues& queues, const RecordedOrder& order, trace::RankId rank)
      : trace_(&trace),
        staged_(&staged),
        accesses_(&accesses),
        queues_(&queues),
        order_(&order),
        groups_of_(staged.runs.size()) {
    for (const AccessGroup& group : accesses.groups) groups_of_[group.run].push_back(&group);
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const AllocationDetail* detail = trace.allocation({i});
      if (detail == nullptr || !detail->on_device || trace.rank_of({i}) != rank) continue;
      events_.push_back({i});
      result_.has_events = result_.has_events || detail->action == AllocationAction::kFreeCompleted;
    }
  }

  Reuse run() {
    if (!result_.has_events) return result_;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const AllocationDetail& detail = *trace_->allocation(events_[i]);
      switch (detail.action) {
        case AllocationAction::kAlloc: hand_out(events_[i], detail); break;
        case AllocationAction::kRecordStream: record_on(detail); break;
        case AllocationAction::kFreeRequested: let_go(i, detail); break;
        case AllocationAction::kFreeCompleted: give_back(detail); break;
        case AllocationAction::kSegmentFree:
        case AllocationAction::kSegmentUnmap: forget(detail.address, detail.bytes); break;
        default: break;
      }
    }
    return std::move(result_);
  }

 private:
  void hand_out(OperationId event, const AllocationDetail& detail) {
    const std::uint64_t end = detail.address + static_cast<std::uint64_t>(detail.bytes);
    // The block that began before this one may reach into it.
    auto at = freed_.lower_bound(detail.address);
    if (at != freed_.begin() && std::prev(at)->second.end > detail.address) --at;
    while (at != freed_.end() && at->first < end) {
      compare(at->second, event);
      at = freed_.erase(at);
    }
    live_[detail.address] = {detail.bytes, detail.stream, staged_->run_of[event.index()], {}};
  }

  void record_on(const AllocationDetail& detail) {
    const auto live = live_.find(detail.address);
    if (live != live_.end() && detail.stream) live->second.recorded_on.push_back(*detail.stream);
  }

  void let_go(std::size_t i, const AllocationDetail& detail) {
    const auto live = live_.find(detail.address);
    if (live == live_.end()) return;  // from before the recording
    Freed freed{live->second, detail.address + static_cast<std::uint64_t>(live->second.bytes),
                trace_->start(events_[i]), staged_->run_of[events_[i].index()], true};
    live_.erase(live);
    // Without other streams the allocator completes a free in the same call.
    if (i + 1 < events_.size()) {
      const AllocationDetail& next = *trace_->allocation(events_[i + 1]);
      freed.deferred = next.action != AllocationAction::kFreeCompleted || next.address != detail.address;
    }
    pending_[detail.address] = freed;
  }

  void give_back(const AllocationDetail& detail) {
    const auto pending = pending_.find(detail.address);
    if (pending == pending_.end()) return;
    freed_[detail.address] = pending->second;
    pending_.erase(pending);
  }

  void forget(std::uint64_t address, Bytes bytes) {
    const std::uint64_t end = address + static_cast<std::uint64_t>(bytes);
    freed_.erase(freed_.lower_bound(address), freed_.lower_bound(end));
  }

  void compare(const Freed& freed, OperationId handed_out) {
    const auto& made_in = freed.block.made_in;
    if (!made_in || !freed.block.pool || made_in == freed.freed_in) return;
    ++result_.checked;
    // Where the recording tells no record_stream, a late completion stands for it. Where it does, each stream counts.
    if (freed.deferred || !freed.block.recorded_on.empty()) ++result_.recorded;
    if (freed.deferred && freed.block.recorded_on.empty()) return;
    const auto reuse = first_use(handed_out, *freed.block.pool);
    if (!reuse) return;
    const StageRun& maker = staged_->runs[*made_in];
    for (const Resource resource : schedule::effects_of(maker.stage).writes) {
      const schedule::ResourceTraits& traits = schedule::traits_of(resource);
      if (!traits.per_batch) continue;
      const auto touches = accesses_->data.find({resource, maker.batch});
      if (touches == accesses_->data.end()) continue;
      for (const Touch& touch : touches->second) {
        if (meet(maker.module, touch.module)) compare(freed, touch, touches->first, *reuse);
      }
    }
  }

  void compare(const Freed& freed, const Touch& touch, const DatumKey& key, OperationId reuse) {
    const AccessGroup& group = accesses_->groups[touch.group];
    if (touch.writes || group.collective || group.stream == *freed.block.pool) return;
    if (std::ranges::find(freed.block.recorded_on, group.stream) != freed.block.recorded_on.end()) return;
    const auto after =
        std::ranges::upper_bound(group.work, freed.at, {}, [&](OperationId work) { return queues_->queued_at(work); });
    if (after == group.work.begin()) return;
    const OperationId last = *std::prev(after);
    if (order_->before(last, reuse)) return;
    result_.races.push_back({check::HazardKind::kFreeBeforeLastUse, key, last, reuse, group.run,
                             *staged_->run_of[reuse.index()], trace_->start(reuse) - trace_->end(last)});
  }

  /// The first work of the stage that was handed memory, on its stream; failing that, on any.
  [[nodiscard]] std::optional<OperationId> first_use(OperationId handed_out, LaneId pool) const {
    const auto run = staged_->run_of[handed_out.index()];
    if (!run) return std::nullopt;
    const Nanoseconds time = trace_->start(handed_out);
    const std::span<const OperationId> queued = queues_->from(pool, time);
    for (const OperationId work : queued.first(std::min(queued.size(), kFar))) {
      if (staged_->run_of[work.index()] == run) return work;
    }
    const auto queued_at = [&](OperationId work) { return queues_->queued_at(work); };
    std::optional<OperationId> first;
    for (const AccessGroup* group : groups_of_[*run]) {
      const auto work = std::ranges::lower_bound(group->work, time, {}, queued_at);
      if (work != group->work.end() && (!first || queued_at(*work) < queued_at(*first))) first = *work;
    }
    return first;
  }

  /// A stage puts its work on its stream at once, or after little else.
  static constexpr std::size_t kFar = 64;

  const trace::Trace* trace_;
  const StagedWork* staged_;
  const Accesses* accesses_;
  const graph::StreamQueues* queues_;
  const RecordedOrder* order_;
  std::vector<OperationId> events_;
  std::vector<std::vector<const AccessGroup*>> groups_of_;  ///< by run
  std::map<std::uint64_t, Block> live_;
  std::map<std::uint64_t, Freed> pending_;
  std::map<std::uint64_t, Freed> freed_;
  Reuse result_;
};

}  // namespace

Reuse find_reuse(const trace::Trace& trace, const StagedWork& staged, const Accesses& accesses,
                 const graph::StreamQueues& queues, const RecordedOrder& order, trace::RankId rank) {
  return Follower(trace, staged, accesses, queues, order, rank).run();
}

}  // namespace interlace::trace_check
