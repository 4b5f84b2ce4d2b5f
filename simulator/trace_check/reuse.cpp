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
  Nanoseconds completed_at = 0;           ///< when others could have it
  std::optional<std::uint32_t> freed_in;  ///< run of a stage
  bool deferred = false;                  ///< until other streams were done
};

/// A block that a stage left to others, and what was handed its memory.
struct NextOwner {
  const Freed* freed = nullptr;
  std::optional<OperationId> first_use;
  bool is_kept = false;  ///< the free waited for every stream that used it, as far as one can tell
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
        case AllocationAction::kFreeCompleted: give_back(events_[i], detail); break;
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
      const std::uint64_t begin = at->first;
      Freed rest = at->second;
      compare(rest, event);
      at = freed_.erase(at);
      // What the new owner leaves of it goes to others.
      if (rest.end > end) freed_[end] = rest;
      rest.end = detail.address;
      if (begin < detail.address) freed_[begin] = rest;
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
    Freed freed{.block = live->second,
                .end = detail.address + static_cast<std::uint64_t>(live->second.bytes),
                .at = trace_->start(events_[i]),
                .freed_in = staged_->run_of[events_[i].index()],
                .deferred = true};
    live_.erase(live);
    // Without other streams the allocator completes a free in the same call, else in one that comes later.
    if (i + 1 < events_.size()) {
      const OperationId next = events_[i + 1];
      const AllocationDetail& does = *trace_->allocation(next);
      freed.deferred = does.action != AllocationAction::kFreeCompleted || does.address != detail.address ||
                       trace_->start(next) > freed.at + kOneCall;
    }
    pending_[detail.address] = freed;
  }

  void give_back(OperationId event, const AllocationDetail& detail) {
    const auto pending = pending_.find(detail.address);
    if (pending == pending_.end()) return;
    pending->second.completed_at = trace_->start(event);
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
    NextOwner next{&freed, first_use(handed_out, *freed.block.pool),
                   freed.deferred || !freed.block.recorded_on.empty()};
    const StageRun& maker = staged_->runs[*made_in];
    for (const Resource resource : schedule::effects_of(maker.stage).writes) {
      const schedule::ResourceTraits& traits = schedule::traits_of(resource);
      if (!traits.per_batch) continue;
      const auto touches = accesses_->data.find({resource, maker.batch});
      if (touches == accesses_->data.end()) continue;
      for (const Touch& touch : touches->second) {
        if (meet(maker.module, touch.module)) compare(next, touch, touches->first);
      }
    }
    if (next.is_kept) ++result_.recorded;
  }

  void compare(NextOwner& next, const Touch& touch, const DatumKey& key) {
    const Freed& freed = *next.freed;
    const AccessGroup& group = accesses_->groups[touch.group];
    if (!touch.reads || group.collective) return;
    // The stream of the pool keeps its own order, so that its uses only matter to an owner that works on another.
    const bool is_of_pool = group.stream == *freed.block.pool;
    if (is_of_pool && (!next.first_use || trace_->lane_of(*next.first_use) == group.stream)) return;
    const auto last = last_queued(group, *queues_, freed.at);
    if (!last) return;
    if (!is_of_pool && free_waited_for(freed, group.stream, *last)) return;
    if (!is_of_pool) next.is_kept = false;
    if (!next.first_use || order_->before(*last, *next.first_use)) return;
    const OperationId reuse = *next.first_use;
    const auto kind = is_of_pool ? check::HazardKind::kMemoryStillInUse : check::HazardKind::kFreeBeforeLastUse;
    result_.races.push_back({kind, key, *last, reuse, group.run, *staged_->run_of[reuse.index()],
                             trace_->start(reuse) - trace_->end(*last)});
  }

  /// Whether record_stream kept the memory until `last`, the last use on `stream`, was over. Where the recording does
  /// not tell of these calls, a late completion stands for them, but not for one of a stream whose work outlasted it.
  [[nodiscard]] bool free_waited_for(const Freed& freed, LaneId stream, OperationId last) const {
    const std::vector<LaneId>& recorded_on = freed.block.recorded_on;
    if (!recorded_on.empty()) return std::ranges::find(recorded_on, stream) != recorded_on.end();
    return freed.deferred && trace_->end(last) <= freed.completed_at + kClocksDiffer;
  }

  /// The first work of the stage that was handed memory, on the stream of the pool or of a collective, which writes to
  /// memory of that pool; failing that, on any.
  [[nodiscard]] std::optional<OperationId> first_use(OperationId handed_out, LaneId pool) const {
    const auto run = staged_->run_of[handed_out.index()];
    if (!run) return std::nullopt;
    const Nanoseconds time = trace_->start(handed_out);
    const std::span<const OperationId> queued = queues_->from(pool, time);
    const auto queued_at = [&](OperationId work) { return queues_->queued_at(work); };
    std::optional<OperationId> of_pool;
    for (const OperationId work : queued.first(std::min(queued.size(), kFar))) {
      if (staged_->run_of[work.index()] != run) continue;
      of_pool = work;
      break;
    }
    std::optional<OperationId> first = of_pool;
    for (const AccessGroup* group : groups_of_[*run]) {
      if (of_pool && !group->collective) continue;
      const auto work = std::ranges::lower_bound(group->work, time, {}, queued_at);
      if (work != group->work.end() && (!first || queued_at(*work) < queued_at(*first))) first = *work;
    }
    return first;
  }

  /// A stage puts its work on its stream at once, or after little else.
  static constexpr std::size_t kFar = 64;

  /// From a free to its completion. 2,150 of one recording took 10 us at most, and four of other calls 0.1 ms and more.
  static constexpr Nanoseconds kOneCall = 50'000;

  /// The allocator's clock and the device's: more than this is said (memory_snapshot.clocks_differ).
  static constexpr Nanoseconds kClocksDiffer = 100'000;

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
