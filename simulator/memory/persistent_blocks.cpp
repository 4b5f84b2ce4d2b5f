#include "simulator/memory/persistent_blocks.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_set>

#include "simulator/allocator/configuration.hpp"
#include "simulator/allocator/rewind.hpp"
#include "simulator/memory/asked_for.hpp"

namespace interlace::memory {

namespace {

using trace::AllocationAction;

allocator::BlockStatus status_of(trace::BlockState state) {
  switch (state) {
    case trace::BlockState::kAllocated: return allocator::BlockStatus::kAllocated;
    case trace::BlockState::kPendingFree: return allocator::BlockStatus::kPendingFree;
    case trace::BlockState::kFree: return allocator::BlockStatus::kInactive;
  }
  return allocator::BlockStatus::kInactive;
}

allocator::AllocatorState as_model(const trace::AllocatorState& recorded) {
  allocator::AllocatorState state;
  for (const trace::AllocatorSegment& segment : recorded.segments) {
    allocator::SegmentRecord record{.address = segment.address,
                                    .size = segment.bytes,
                                    .stream = segment.stream_handle,
                                    .small = !segment.is_large,
                                    .pool = {segment.pool[0], segment.pool[1]},
                                    .expandable = segment.is_expandable,
                                    .blocks = {}};
    for (const trace::AllocatorBlock& block : segment.blocks) {
      record.blocks.push_back({block.address, block.bytes, block.requested, status_of(block.state)});
    }
    state.segments.push_back(std::move(record));
  }
  return state;
}

std::optional<allocator::Action> as_model(AllocationAction action) {
  switch (action) {
    case AllocationAction::kAlloc: return allocator::Action::kAlloc;
    case AllocationAction::kFree:
    case AllocationAction::kFreeRequested: return allocator::Action::kFreeRequested;
    case AllocationAction::kFreeCompleted: return allocator::Action::kFreeCompleted;
    case AllocationAction::kSegmentAlloc: return allocator::Action::kSegmentAlloc;
    case AllocationAction::kSegmentFree: return allocator::Action::kSegmentFree;
    case AllocationAction::kSegmentMap: return allocator::Action::kSegmentMap;
    case AllocationAction::kSegmentUnmap: return allocator::Action::kSegmentUnmap;
    case AllocationAction::kOutOfMemory: return allocator::Action::kOom;
    case AllocationAction::kRecordStream: return std::nullopt;
  }
  return std::nullopt;
}

/// The device that a process with several works on: what else it has there is a context, or a stray block.
std::int64_t device_of(const trace::Trace& trace, trace::RankId rank) {
  std::map<std::int64_t, std::size_t> works;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    const trace::Lane& lane = trace.lane({l});
    if (lane.rank == rank && lane.kind == trace::LaneKind::kStream) works[lane.process] += trace.on_lane({l}).size();
  }
  const auto most = std::ranges::max_element(works, {}, [](const auto& device) { return device.second; });
  return most == works.end() ? 0 : most->first;
}

/// The state that the steps led to.
const trace::AllocatorState* state_behind(const trace::Trace& trace, trace::RankId rank, Nanoseconds end) {
  const trace::AllocatorState* last = nullptr;
  const auto is_of_rank = [&](const trace::AllocatorState& state) { return state.rank == rank; };
  const auto& all = trace.allocator_states();
  const std::int64_t device = device_of(trace, rank);
  const bool is_told = std::ranges::any_of(all, [&](const auto& s) { return is_of_rank(s) && s.device == device; });
  for (const trace::AllocatorState& state : all) {
    if (!is_of_rank(state) || (is_told && state.device != device)) continue;
    last = &state;
    if (!state.time || *state.time >= end) break;
  }
  return last;
}

/// The entries of the allocator's history between these times, in order.
std::vector<allocator::TraceEntry> history_of(const trace::Trace& trace, trace::RankId rank, Interval times) {
  std::vector<allocator::TraceEntry> history;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    const trace::AllocationDetail* detail = trace.allocation(op);
    if (detail == nullptr || !detail->on_device || trace.rank_of(op) != rank) continue;
    if (trace.start(op) < times.begin) continue;
    if (trace.start(op) > times.end) break;
    const auto action = as_model(detail->action);
    if (!action) continue;
    history.push_back(
        {*action, detail->address, asked_for(*detail), detail->stream_handle.value_or(0), {}, trace.start(op)});
  }
  return history;
}

/// Addresses whose first entry gives back what was there before.
std::unordered_set<allocator::Address> given_back(std::span<const allocator::TraceEntry> history) {
  std::unordered_set<allocator::Address> seen;
  std::unordered_set<allocator::Address> given_back;
  for (const allocator::TraceEntry& entry : history) {
    const bool freed =
        entry.action == allocator::Action::kFreeRequested || entry.action == allocator::Action::kFreeCompleted;
    if (!freed && entry.action != allocator::Action::kAlloc) continue;
    if (seen.insert(entry.address).second && freed) given_back.insert(entry.address);
  }
  return given_back;
}

}  // namespace

std::optional<PersistentBlocks> persistent_blocks(const trace::Trace& trace, trace::RankId rank, Interval steps,
                                                  const std::unordered_set<std::uint64_t>& of_stages,
                                                  Diagnostics& diagnostics) {
  const trace::AllocatorState* recorded = state_behind(trace, rank, steps.end);
  if (recorded == nullptr) return std::nullopt;
  const std::string& source = trace.ranks()[rank.index()].source;
  PersistentBlocks persistent{.bytes = {},
                              .settings = allocator::parse_configuration(recorded->settings, source, diagnostics)};
  const Nanoseconds told_at = recorded->time.value_or(trace.length());
  const std::vector<allocator::TraceEntry> history =
      history_of(trace, rank, {std::min(steps.begin, told_at), std::max(steps.end, told_at)});
  const auto begin = std::ranges::lower_bound(history, steps.begin, {}, &allocator::TraceEntry::time);
  const auto end = std::ranges::upper_bound(begin, history.end(), told_at, {}, &allocator::TraceEntry::time);
  const allocator::AllocatorState before =
      allocator::rewind(as_model(*recorded), std::span(begin, end), persistent.settings, source, diagnostics);
  const auto gone = given_back(history);
  for (const allocator::SegmentRecord& segment : before.segments) {
    for (const allocator::BlockRecord& block : segment.blocks) {
      if (block.status != allocator::BlockStatus::kAllocated) continue;
      if (gone.contains(block.address) || of_stages.contains(block.address)) continue;
      persistent.bytes.push_back(block.requested > 0 ? block.requested : block.size);
    }
  }
  return persistent;
}

}  // namespace interlace::memory
