#include "simulator/analysis/memory_curve.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "simulator/analysis/memory_levels.hpp"
#include "simulator/base/saturating.hpp"

namespace interlace::analysis {

namespace {

using trace::AllocationAction;
using trace::AllocationDetail;
using trace::AllocatorState;
using trace::LaneId;
using trace::OperationId;

bool gives_back(AllocationAction action) {
  return action == AllocationAction::kFree || action == AllocationAction::kFreeRequested;
}

/// Draws the curve of one rank from its events, in order.
class CurveMaker {
 public:
  CurveMaker(const trace::Trace& trace, trace::RankId rank, const std::vector<OperationId>& events)
      : trace_(trace), state_(last_state(trace, rank)) {
    curve_.rank = rank;
    for (const OperationId op : events) {
      // Beside a state, reports of the profiler that were not joined would count twice.
      if (state_ == nullptr || detail(op).stream_handle) events_.push_back(op);
    }
  }

  MemoryCurve make() {
    find_lives();
    find_pools();
    MemoryLevels levels = first_levels();
    std::vector<Bytes> of_pool(curve_.pools.size());
    curve_.persistent = levels.allocated;
    for (const BlockLife& block : curve_.blocks) {
      if (block.begin) continue;
      curve_.persistent = saturating_sum(curve_.persistent, -block.bytes);
      if (block.pool) of_pool[*block.pool] = saturating_sum(of_pool[*block.pool], block.bytes);
    }
    curve_.persistent = std::max<Bytes>(curve_.persistent, 0);
    const bool allocated_known =
        state_ != nullptr || !curve_.blocks.empty() ||
        std::ranges::any_of(events_, [this](OperationId op) { return detail(op).total_allocated.has_value(); });
    const bool pending_known = std::ranges::any_of(
        events_, [this](OperationId op) { return detail(op).action == AllocationAction::kFreeRequested; });
    const bool reserved_known = state_ != nullptr || std::ranges::any_of(events_, [this](OperationId op) {
                                  return detail(op).total_reserved.has_value();
                                });
    for (std::size_t i = 0; i < events_.size(); ++i) {
      follow(i, levels, of_pool);
      const bool last_of_moment = i + 1 == events_.size() || trace_.start(events_[i + 1]) != trace_.start(events_[i]);
      if (!last_of_moment) continue;
      curve_.at.push_back(trace_.start(events_[i]));
      if (allocated_known) curve_.allocated.push_back(levels.allocated);
      if (pending_known) curve_.active.push_back(levels.active);
      if (reserved_known) curve_.reserved.push_back(levels.reserved);
      for (std::size_t pool = 0; pool < of_pool.size(); ++pool) {
        curve_.pools[pool].allocated.push_back(of_pool[pool]);
      }
    }
    return std::move(curve_);
  }

 private:
  [[nodiscard]] const AllocationDetail& detail(OperationId op) const { return *trace_.allocation(op); }

  /// Pairs what is handed out with what is given back at the same address.
  void find_lives() {
    std::unordered_map<std::uint64_t, std::size_t> open;
    block_of_.resize(events_.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const AllocationDetail& event = detail(events_[i]);
      const Nanoseconds now = trace_.start(events_[i]);
      if (event.action == AllocationAction::kAlloc) {
        open.insert_or_assign(event.address, curve_.blocks.size());
        block_of_[i] = curve_.blocks.size();
        curve_.blocks.push_back({now, {}, event.bytes, event.address, {}, events_[i]});
      } else if (gives_back(event.action)) {
        const auto known = open.find(event.address);
        block_of_[i] = known == open.end() ? curve_.blocks.size() : known->second;
        if (known == open.end()) {
          curve_.blocks.push_back({{}, now, freed_bytes(i), event.address, {}, {}});
        } else {
          curve_.blocks[known->second].end = now;
          open.erase(known);
        }
      }
    }
  }

  /// Of a block that was handed out before the trace: its free may name but what was asked for; then the total falls by
  /// more.
  [[nodiscard]] Bytes freed_bytes(std::size_t i) const {
    const AllocationDetail& event = detail(events_[i]);
    if (i == 0) return event.bytes;
    const std::optional<Bytes> before = detail(events_[i - 1]).total_allocated;
    if (!before || !event.total_allocated) return event.bytes;
    return std::max(event.bytes, saturating_sum(*before, -*event.total_allocated));
  }

  /// A pool a stream, by lane where it is known, else by handle.
  void find_pools() {
    using Key = std::pair<bool, std::uint64_t>;  // whether it is but a handle, and the lane or the handle
    const auto key_of = [](const AllocationDetail& event) {
      return event.stream ? Key{false, event.stream->value} : Key{true, *event.stream_handle};
    };
    std::map<Key, std::uint32_t> pools;
    for (const bool numbering : {true, false}) {
      for (std::size_t i = 0; i < events_.size(); ++i) {
        const AllocationDetail& event = detail(events_[i]);
        if (!block_of_[i] || (!event.stream && !event.stream_handle)) continue;
        const Key key = key_of(event);
        if (numbering) {
          pools.emplace(key, 0);
        } else {
          curve_.blocks[*block_of_[i]].pool = pools.at(key);
        }
      }
      if (!numbering) continue;
      for (auto& [key, index] : pools) {
        index = static_cast<std::uint32_t>(curve_.pools.size());
        PoolCurve pool;
        if (key.first) {
          pool.handle = key.second;
        } else {
          pool.stream = LaneId{static_cast<std::uint32_t>(key.second)};
        }
        curve_.pools.push_back(std::move(pool));
      }
    }
  }

  [[nodiscard]] MemoryLevels first_levels() const {
    if (state_ != nullptr) {
      MemoryLevels levels = levels_of(*state_);
      for (auto op = events_.rbegin(); op != events_.rend(); ++op) {
        if (!state_->time || trace_.start(*op) <= *state_->time) levels.undo(detail(*op));
      }
      return levels;
    }
    MemoryLevels levels;
    MemoryLevels so_far;
    Bytes pending = 0;
    std::unordered_map<std::uint64_t, Bytes> asked_for;
    bool allocated_known = false;
    bool reserved_known = false;
    for (const OperationId op : events_) {
      const AllocationDetail& event = detail(op);
      so_far.apply(event);
      if (event.total_allocated && !std::exchange(allocated_known, true)) {
        levels.allocated = saturating_sum(*event.total_allocated, -so_far.allocated);
      }
      if (event.total_reserved && !std::exchange(reserved_known, true)) {
        levels.reserved = saturating_sum(*event.total_reserved, -so_far.reserved);
      }
      if (event.action == AllocationAction::kFreeRequested) asked_for[event.address] = event.bytes;
      if (event.action == AllocationAction::kFreeCompleted && asked_for.erase(event.address) == 0) {
        pending = saturating_sum(pending, event.bytes);
      }
    }
    levels.active = saturating_sum(levels.allocated, pending);
    return levels;
  }

  void follow(std::size_t i, MemoryLevels& levels, std::vector<Bytes>& of_pool) const {
    const AllocationDetail& event = detail(events_[i]);
    levels.apply(event);
    if (state_ == nullptr) {
      // What the recorder counted is truer than a sum over what it saw.
      if (event.total_allocated) {
        levels.active = saturating_sum(levels.active, saturating_sum(*event.total_allocated, -levels.allocated));
        levels.allocated = *event.total_allocated;
      }
      levels.reserved = event.total_reserved.value_or(levels.reserved);
    }
    if (!block_of_[i]) return;
    const BlockLife& block = curve_.blocks[*block_of_[i]];
    if (!block.pool) return;
    of_pool[*block.pool] =
        saturating_sum(of_pool[*block.pool], event.action == AllocationAction::kAlloc ? block.bytes : -block.bytes);
  }

  const trace::Trace& trace_;
  const AllocatorState* state_;
  std::vector<OperationId> events_;
  std::vector<std::optional<std::size_t>> block_of_;  ///< by event: what it hands out or takes back
  MemoryCurve curve_;
};

}  // namespace

std::optional<std::size_t> MemoryCurve::moment_at(Nanoseconds t) const {
  const auto behind = std::ranges::upper_bound(at, t);
  if (behind == at.begin()) return std::nullopt;
  return static_cast<std::size_t>(behind - at.begin()) - 1;
}

std::vector<std::size_t> MemoryCurve::alive_at(Nanoseconds t) const {
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].alive_at(t)) alive.push_back(i);
  }
  std::ranges::stable_sort(alive, [this](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  return alive;
}

std::vector<MemoryCurve> memory_curves(const trace::Trace& trace) {
  std::vector<std::vector<OperationId>> events(trace.ranks().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) != trace::OperationKind::kAllocation) continue;
    const AllocationDetail* const detail = trace.allocation({i});
    if (detail != nullptr && detail->on_device) events[trace.rank_of({i}).index()].push_back({i});
  }
  std::vector<MemoryCurve> curves;
  for (std::uint32_t rank = 0; rank < events.size(); ++rank) {
    if (events[rank].empty()) continue;
    MemoryCurve curve = CurveMaker(trace, {rank}, events[rank]).make();
    if (!curve.allocated.empty() || !curve.reserved.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace interlace::analysis
