#include "simulator/trace/trace_builder.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>
#include <utility>

namespace interlace::trace {

namespace {

template <class T>
std::uint32_t append(std::vector<T>& table, const T& row) {
  table.push_back(row);
  return static_cast<std::uint32_t>(table.size() - 1);
}

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(column.size());
  for (const std::uint32_t from : order) sorted.push_back(column[from]);
  column = std::move(sorted);
}

/// Compressed rows from (row, value) pairs that come in the order wanted within a row.
template <class Row, class Emit>
void compress(std::size_t rows, std::size_t items, std::vector<std::uint32_t>& begin, std::vector<OperationId>& values,
              Row row_of, Emit value_of) {
  begin.assign(rows + 1, 0);
  for (std::size_t i = 0; i < items; ++i) {
    if (const auto row = row_of(i)) ++begin[*row + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  values.resize(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < items; ++i) {
    if (const auto row = row_of(i)) values[next[*row]++] = value_of(i);
  }
}

}  // namespace

std::size_t TraceBuilder::LaneKeyHash::operator()(const LaneKey& key) const noexcept {
  std::size_t hash = static_cast<std::size_t>(key.number) * 0x9E3779B97F4A7C15ULL;
  hash ^= (static_cast<std::size_t>(key.process) << 7U) + (hash >> 29U);
  return hash * 31U + key.rank.index() * 2U + static_cast<std::size_t>(key.kind);
}

StringId TraceBuilder::intern(std::string_view text) {
  if (const auto known = string_ids_.find(text); known != string_ids_.end()) return known->second;
  const StringId id{static_cast<std::uint32_t>(strings_.size())};
  strings_.emplace_back(text);
  string_ids_.emplace(strings_.back(), id);
  return id;
}

RankId TraceBuilder::add_rank(Rank rank) {
  ranks_.push_back(std::move(rank));
  return {static_cast<std::uint32_t>(ranks_.size() - 1)};
}

LaneId TraceBuilder::lane(LaneKind kind, RankId rank, std::int64_t process, std::int64_t number) {
  assert(rank.index() < ranks_.size());
  const auto [known, is_new] =
      lane_ids_.try_emplace({kind, rank, process, number}, LaneId{static_cast<std::uint32_t>(lanes_.size())});
  if (is_new) lanes_.push_back({kind, rank, process, number, {}, {}});
  return known->second;
}

void TraceBuilder::name_lane(LaneId lane, std::string_view name) { lanes_[lane.index()].name = name; }
void TraceBuilder::set_priority(LaneId stream, std::int32_t priority) { lanes_[stream.index()].priority = priority; }

OperationId TraceBuilder::add(OperationKind kind, const Common& common, std::uint32_t detail_row) {
  assert(common.lane.index() < lanes_.size() && common.name.index() < strings_.size());
  assert(kinds_.size() < Trace::kNoRow);
  kinds_.push_back(kind);
  lane_of_.push_back(common.lane);
  starts_.push_back(common.start);
  durations_.push_back(common.duration);
  names_.push_back(common.name);
  detail_rows_.push_back(detail_row);
  correlations_.push_back(common.correlation.value_or(0));
  has_correlation_.push_back(common.correlation.has_value());
  return {static_cast<std::uint32_t>(kinds_.size() - 1)};
}

OperationId TraceBuilder::add_kernel(const Common& common, const KernelDetail& detail) {
  collective_rows_.push_back(Trace::kNoRow);
  return add(OperationKind::kKernel, common, append(kernels_, detail));
}

OperationId TraceBuilder::add_collective(const Common& common, const KernelDetail& detail,
                                         const std::optional<CollectiveDetail>& collective) {
  collective_rows_.push_back(collective ? append(collectives_, *collective) : Trace::kNoRow);
  return add(OperationKind::kCollective, common, append(kernels_, detail));
}

OperationId TraceBuilder::add_copy(const Common& common, const CopyDetail& detail) {
  return add(OperationKind::kCopy, common, append(copies_, detail));
}

OperationId TraceBuilder::add_memset(const Common& common, const CopyDetail& detail) {
  return add(OperationKind::kMemset, common, append(copies_, detail));
}

OperationId TraceBuilder::add_host_call(const Common& common) {
  return add(OperationKind::kHostCall, common, Trace::kNoRow);
}

OperationId TraceBuilder::add_sync(OperationKind kind, const Common& common, const SyncDetail& detail) {
  assert(kind >= OperationKind::kHostCall && kind <= OperationKind::kHostSync);
  return add(kind, common, append(syncs_, detail));
}

OperationId TraceBuilder::add_range(const Common& common, const RangeDetail& detail) {
  return add(OperationKind::kRange, common, append(ranges_, detail));
}

OperationId TraceBuilder::add_device_range(const Common& common, const RangeDetail& detail) {
  return add(OperationKind::kDeviceRange, common, append(ranges_, detail));
}

OperationId TraceBuilder::add_allocation(const Common& common, const AllocationDetail& detail) {
  return add(OperationKind::kAllocation, common, append(allocations_, detail));
}

SyncDetail& TraceBuilder::sync_detail(OperationId provisional) {
  assert(detail_rows_[provisional.index()] != Trace::kNoRow);
  return syncs_[detail_rows_[provisional.index()]];
}

RangeDetail& TraceBuilder::range_detail(OperationId provisional) { return ranges_[detail_rows_[provisional.index()]]; }

Trace TraceBuilder::build(Diagnostics& diagnostics) && {
  const std::size_t n = kinds_.size();
  Trace trace;

  for (Nanoseconds& duration : durations_) {
    if (duration >= 0) continue;
    diagnostics.count(kNegativeDuration);
    duration = 0;
  }

  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  // A range comes before what it holds, also where both start in the same nanosecond.
  const auto is_range = [&](std::uint32_t i) {
    return kinds_[i] == OperationKind::kRange || kinds_[i] == OperationKind::kDeviceRange;
  };
  const auto key = [&](std::uint32_t i) {
    return std::tuple(starts_[i], lane_of_[i], !is_range(i), is_range(i) ? -durations_[i] : 0);
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<std::uint32_t> new_id(n);
  for (std::uint32_t i = 0; i < n; ++i) new_id[order[i]] = i;
  const auto renumber = [&](std::optional<OperationId>& id) {
    if (id) id = OperationId{new_id[id->index()]};
  };
  for (SyncDetail& detail : syncs_) renumber(detail.record);
  for (RangeDetail& detail : ranges_) renumber(detail.forward_op);

  permute(kinds_, order);
  permute(lane_of_, order);
  permute(starts_, order);
  permute(durations_, order);
  permute(names_, order);
  permute(detail_rows_, order);
  permute(correlations_, order);
  permute(has_correlation_, order);

  trace.origin_ = n == 0 ? 0 : starts_.front();
  for (std::size_t i = 0; i < n; ++i) {
    starts_[i] -= trace.origin_;
    trace.length_ = std::max(trace.length_, starts_[i] + durations_[i]);
  }

  // Host calls come before what they launch, so the call table is filled first.
  std::vector<std::unordered_map<std::int64_t, std::uint32_t>> calls(ranks_.size());
  const auto rank_at = [&](std::size_t i) { return lanes_[lane_of_[i].index()].rank.index(); };
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool is_call = kinds_[i] >= OperationKind::kHostCall && kinds_[i] <= OperationKind::kHostSync;
    if (!is_call || !has_correlation_[i]) continue;
    if (!calls[rank_at(i)].try_emplace(correlations_[i], i).second) diagnostics.count(kDuplicateCorrelation);
  }
  trace.launch_of_.assign(n, Trace::kNoRow);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_device_work(kinds_[i])) continue;
    const auto& of_rank = calls[rank_at(i)];
    const auto call = has_correlation_[i] ? of_rank.find(correlations_[i]) : of_rank.end();
    if (call != of_rank.end()) {
      trace.launch_of_[i] = call->second;
    } else {
      diagnostics.count(kDeviceWorkWithoutLaunch, strings_[names_[i].index()]);
    }
  }

  const auto self = [](std::size_t i) { return OperationId{static_cast<std::uint32_t>(i)}; };
  compress(
      n, n, trace.launched_begin_, trace.launched_,
      [&](std::size_t i) {
        return trace.launch_of_[i] == Trace::kNoRow ? std::nullopt : std::optional<std::size_t>(trace.launch_of_[i]);
      },
      self);
  compress(
      lanes_.size(), n, trace.lane_begin_, trace.on_lane_,
      [&](std::size_t i) { return std::optional<std::size_t>(lane_of_[i].index()); }, self);

  trace.kinds_ = std::move(kinds_);
  trace.lane_of_ = std::move(lane_of_);
  trace.starts_ = std::move(starts_);
  trace.durations_ = std::move(durations_);
  trace.names_ = std::move(names_);
  trace.detail_rows_ = std::move(detail_rows_);
  trace.kernels_ = std::move(kernels_);
  trace.collective_rows_ = std::move(collective_rows_);
  trace.collectives_ = std::move(collectives_);
  trace.copies_ = std::move(copies_);
  trace.syncs_ = std::move(syncs_);
  trace.ranges_ = std::move(ranges_);
  trace.allocations_ = std::move(allocations_);
  trace.lanes_ = std::move(lanes_);
  trace.ranks_ = std::move(ranks_);
  trace.strings_ = std::move(strings_);
  return trace;
}

}  // namespace interlace::trace
