#include "simulator/ingest/memory_snapshot/stream_handles.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace interlace::ingest::memory_snapshot {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;

constexpr std::int64_t kFewestVotes = 2;

/// Where the work went that was launched within a range: nowhere, to one stream, or to several.
struct Launched {
  std::optional<LaneId> stream;
  bool is_mixed = false;

  void add(const Launched& other) {
    is_mixed = is_mixed || other.is_mixed || (stream && other.stream && *stream != *other.stream);
    if (!stream) stream = other.stream;
  }
  [[nodiscard]] bool is_none() const { return !stream && !is_mixed; }
};

/// The ranges of one thread as a tree.
struct OpenRange {
  std::optional<std::size_t> parent;
  Nanoseconds end = 0;
  Launched launched;
};

/// The stream in use at each allocation of one thread, as far as launches nearby tell.
class ThreadVotes {
 public:
  explicit ThreadVotes(const trace::Trace& trace) : trace_(&trace) {}

  void add_thread(LaneId thread, std::unordered_map<OperationId, std::optional<LaneId>>& stream_at) {
    ranges_.clear();
    innermost_.reset();
    std::vector<std::pair<OperationId, std::optional<std::size_t>>> allocations;
    for (const OperationId op : trace_->on_lane(thread)) {
      close_before(trace_->start(op));
      if (trace_->kind(op) == OperationKind::kRange) {
        ranges_.push_back({innermost_, trace_->end(op), {}});
        innermost_ = ranges_.size() - 1;
      } else if (trace_->kind(op) == OperationKind::kAllocation) {
        allocations.emplace_back(op, innermost_);
      } else if (innermost_) {
        for (const OperationId work : trace_->launched_by(op)) add_work(work);
      }
    }
    // A range stands behind the one that it lies in, so all of what is within is added before it is passed on.
    for (std::size_t i = ranges_.size(); i-- > 0;) {
      if (ranges_[i].parent) ranges_[*ranges_[i].parent].launched.add(ranges_[i].launched);
    }
    for (const auto& [op, range] : allocations) stream_at[op] = stream_around(range);
  }

 private:
  void close_before(Nanoseconds now) {
    while (innermost_ && ranges_[*innermost_].end <= now) innermost_ = ranges_[*innermost_].parent;
  }
  void add_work(OperationId work) {
    if (trace_->kind(work) == OperationKind::kCollective) return;
    ranges_[*innermost_].launched.add({trace_->lane_of(work), false});
  }
  [[nodiscard]] std::optional<LaneId> stream_around(std::optional<std::size_t> range) const {
    while (range && ranges_[*range].launched.is_none()) range = ranges_[*range].parent;
    if (!range || ranges_[*range].launched.is_mixed) return std::nullopt;
    return ranges_[*range].launched.stream;
  }

  const trace::Trace* trace_;
  std::vector<OpenRange> ranges_;
  std::optional<std::size_t> innermost_;
};

struct Candidate {
  std::size_t handle = 0;
  LaneId stream;
  std::int64_t votes = 0;
};

/// The stream that a handle's votes are for, where they are clear.
std::optional<Candidate> winner(const HandleVotes& handle, std::size_t index) {
  std::int64_t all = 0;
  std::optional<Candidate> best;
  for (const auto& [stream, votes] : handle.votes) {
    all += votes;
    if (!best || votes > best->votes) best = {index, stream, votes};
  }
  const bool is_clear = best && best->votes >= kFewestVotes && 4 * best->votes > 3 * all;
  return is_clear ? best : std::nullopt;
}

void decide(std::vector<HandleVotes>& handles, std::vector<LaneId> taken) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (handles[i].stream) continue;
    if (const auto candidate = winner(handles[i], i)) candidates.push_back(*candidate);
  }
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::votes);
  for (const Candidate& candidate : candidates) {
    if (std::ranges::find(taken, candidate.stream) != taken.end()) continue;
    handles[candidate.handle].stream = candidate.stream;
    taken.push_back(candidate.stream);
  }
}

}  // namespace

std::vector<HandleVotes> infer_stream_handles(const trace::Trace& trace, trace::RankId rank,
                                              std::span<const HandledAllocation> allocations,
                                              std::span<const std::uint64_t> handles) {
  std::unordered_map<OperationId, std::optional<LaneId>> stream_at;
  std::vector<LaneId> recorded;
  std::unordered_map<std::uint64_t, LaneId> lane_of_handle;
  ThreadVotes threads(trace);
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (lane.rank != rank) continue;
    if (lane.kind == trace::LaneKind::kHostThread) threads.add_thread({i}, stream_at);
    if (lane.handle) {
      lane_of_handle.emplace(*lane.handle, LaneId{i});
      recorded.push_back({i});
    }
  }
  std::map<std::uint64_t, HandleVotes> all;
  for (const std::uint64_t handle : handles) {
    HandleVotes& entry = all[handle];
    entry.handle = handle;
    if (const auto known = lane_of_handle.find(handle); known != lane_of_handle.end()) entry.stream = known->second;
  }
  for (const HandledAllocation& allocation : allocations) {
    const auto known = all.find(allocation.handle);
    const auto at = stream_at.find(allocation.report);
    if (known == all.end() || at == stream_at.end() || !at->second) continue;
    ++known->second.votes[*at->second];
  }
  std::vector<HandleVotes> decided;
  for (auto& [handle, votes] : all) decided.push_back(std::move(votes));
  decide(decided, std::move(recorded));
  return decided;
}

}  // namespace interlace::ingest::memory_snapshot
