#include "simulator/trace/trace_builder.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace interlace::trace {

namespace {

bool is_range(OperationKind kind) { return kind == OperationKind::kRange || kind == OperationKind::kDeviceRange; }

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

/// Names go to terminals, where a control character would act, and into tables of one line a row.
std::string plain(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, is_control, ' ');
  return result;
}

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

StringId TraceBuilder::intern(std::string_view text) {
  if (const auto known = string_ids_.find(text); known != string_ids_.end()) return known->second;
  std::string name = plain(text);
  const auto [entry, is_new] = string_ids_.try_emplace(name, StringId{static_cast<std::uint32_t>(strings_.size())});
  const StringId id = entry->second;
  if (name != text) string_ids_.emplace(text, id);
  if (is_new) strings_.push_back(std::move(name));
  return id;
}

RankId TraceBuilder::add_rank(Rank rank) {
  for (std::string* text : {&rank.recorded_as, &rank.host_name, &rank.producer}) *text = plain(*text);
  for (Device& device : rank.devices) device.name = plain(device.name);
  ranks_.push_back(std::move(rank));
  return {static_cast<std::uint32_t>(ranks_.size() - 1)};
}

LaneId TraceBuilder::lane(LaneKind kind, RankId rank, std::int64_t process, std::int64_t number) {
  assert(rank.index() < ranks_.size());
  const auto [known, is_new] =
      lane_ids_.try_emplace({kind, rank, process, number}, LaneId{static_cast<std::uint32_t>(lanes_.size())});
  if (is_new) lanes_.push_back({kind, rank, process, number, {}, {}, {}});
  return known->second;
}

void TraceBuilder::name_lane(LaneId lane, std::string_view name) { lanes_[lane.index()].name = plain(name); }
void TraceBuilder::set_priority(LaneId stream, std::int32_t priority) { lanes_[stream.index()].priority = priority; }
void TraceBuilder::set_handle(LaneId stream, std::uint64_t handle) { lanes_[stream.index()].handle = handle; }

void TraceBuilder::add_allocator_state(AllocatorState state) {
  assert(state.rank.index() < ranks_.size());
  allocator_states_.push_back(std::move(state));
}

void TraceBuilder::reserve(std::size_t operations) {
  kinds_.reserve(operations);
  lane_of_.reserve(operations);
  starts_.reserve(operations);
  durations_.reserve(operations);
  names_.reserve(operations);
  detail_rows_.reserve(operations);
  correlations_.reserve(operations);
  has_correlation_.reserve(operations);
}

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
  const OperationId id{static_cast<std::uint32_t>(kinds_.size() - 1)};
  if (common.note != nullptr) notes_.emplace_back(id, *common.note);
  return id;
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

void TraceBuilder::clamp_durations(Diagnostics& diagnostics) {
  std::int64_t negative = 0;
  for (Nanoseconds& duration : durations_) {
    if (duration >= 0) continue;
    ++negative;
    duration = 0;
  }
  diagnostics.count(kNegativeDuration, {}, negative);
}

bool TraceBuilder::comes_before(std::uint32_t a, std::uint32_t b) const {
  const auto key = [&](std::uint32_t i) {
    return std::tuple(starts_[i], lane_of_[i], !is_range(kinds_[i]), is_range(kinds_[i]) ? -durations_[i] : 0, i);
  };
  return key(a) < key(b);
}

void TraceBuilder::sort_by_time() {
  const auto n = static_cast<std::uint32_t>(kinds_.size());
  bool is_sorted = true;
  for (std::uint32_t i = 1; i < n && is_sorted; ++i) {
    is_sorted = starts_[i - 1] < starts_[i] || comes_before(i - 1, i);
  }
  if (is_sorted) return;

  // Most pairs differ in time or lane, so those travel with the index.
  struct Key {
    Nanoseconds start;
    LaneId lane;
    std::uint32_t index;
  };
  std::vector<Key> keys;
  keys.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) keys.push_back({starts_[i], lane_of_[i], i});
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.start != b.start) return a.start < b.start;
    return a.lane != b.lane ? a.lane < b.lane : comes_before(a.index, b.index);
  });
  std::vector<std::uint32_t> order(n);
  std::vector<std::uint32_t> new_id(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    order[i] = keys[i].index;
    new_id[order[i]] = i;
  }
  reorder(order, new_id);
}

void TraceBuilder::reorder(const std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& new_id) {
  const auto renumber = [&](std::optional<OperationId>& id) {
    if (id) id = OperationId{new_id[id->index()]};
  };
  for (SyncDetail& detail : syncs_) renumber(detail.record);
  for (RangeDetail& detail : ranges_) renumber(detail.forward_op);
  for (auto& [operation, note] : notes_) operation = OperationId{new_id[operation.index()]};
  std::ranges::sort(notes_, {}, &std::pair<OperationId, Note>::first);

  permute(kinds_, order);
  permute(lane_of_, order);
  permute(starts_, order);
  permute(durations_, order);
  permute(names_, order);
  permute(detail_rows_, order);
  permute(correlations_, order);
  permute(has_correlation_, order);
}

bool TraceBuilder::is_duplicate(std::uint32_t first, std::uint32_t second) const {
  if (has_correlation_[first] != has_correlation_[second]) return false;
  const std::uint32_t a = detail_rows_[first];
  const std::uint32_t b = detail_rows_[second];
  switch (kinds_[first]) {
    case OperationKind::kKernel:
    case OperationKind::kCollective: return kernels_[a] == kernels_[b];
    case OperationKind::kCopy:
    case OperationKind::kMemset: return copies_[a] == copies_[b];
    case OperationKind::kHostCall:
    case OperationKind::kEventRecord:
    case OperationKind::kStreamWait:
    case OperationKind::kHostSync: return has_correlation_[first];
    case OperationKind::kRange:
    case OperationKind::kDeviceRange:
      // A function that calls itself looks like this, too.
      return durations_[first] > 0 && ranges_[a].kind == ranges_[b].kind && ranges_[a].kind != RangeKind::kPython &&
             ranges_[a].sequence_number == ranges_[b].sequence_number;
    case OperationKind::kAllocation: return false;  // one block may be taken, given back and taken again at one time
  }
  return false;
}

void TraceBuilder::drop_duplicates(Diagnostics& diagnostics) {
  const auto n = static_cast<std::uint32_t>(kinds_.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> copies;  // a row, and the row of which it is the copy
  std::map<std::tuple<OperationKind, StringId, Nanoseconds, std::int64_t>, std::uint32_t> seen;
  for (std::uint32_t i = 1; i < n; ++i) {
    if (starts_[i] != starts_[i - 1] || lane_of_[i] != lane_of_[i - 1]) {
      seen.clear();
      continue;
    }
    const auto see = [&](std::uint32_t row) {
      const auto [at, is_new] = seen.try_emplace({kinds_[row], names_[row], durations_[row], correlations_[row]}, row);
      return std::pair(at->second, !is_new);
    };
    if (seen.empty()) see(i - 1);
    const auto [first, is_alike] = see(i);
    if (is_alike && is_duplicate(first, i)) copies.emplace_back(i, first);
  }
  if (copies.empty()) return;

  diagnostics.count(kDuplicateOperation, strings_[names_[copies.front().first].index()],
                    static_cast<std::int64_t>(copies.size()));
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> new_id(n);
  auto copy = copies.begin();
  for (std::uint32_t i = 0; i < n; ++i) {
    if (copy != copies.end() && copy->first == i) {
      new_id[i] = new_id[copy->second];
      if (is_range(kinds_[i])) {
        auto& known = ranges_[detail_rows_[copy->second]].forward_op;
        if (!known) known = ranges_[detail_rows_[i]].forward_op;
      }
      ++copy;
    } else {
      new_id[i] = static_cast<std::uint32_t>(order.size());
      order.push_back(i);
    }
  }
  std::erase_if(notes_, [&](const auto& note) { return order[new_id[note.first.index()]] != note.first.index(); });
  reorder(order, new_id);
}

Trace TraceBuilder::build(Diagnostics& diagnostics) && {
  clamp_durations(diagnostics);
  sort_by_time();
  drop_duplicates(diagnostics);

  const std::size_t n = kinds_.size();
  Trace trace;
  trace.origin_ = n == 0 ? 0 : starts_.front();
  for (std::size_t i = 0; i < n; ++i) {
    starts_[i] -= trace.origin_;
    trace.length_ = std::max(trace.length_, starts_[i] + durations_[i]);
  }
  for (AllocatorState& state : allocator_states_) {
    if (state.time) *state.time -= trace.origin_;
  }
  find_launches(trace, diagnostics);

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
  trace.notes_ = std::move(notes_);
  trace.lanes_ = std::move(lanes_);
  trace.ranks_ = std::move(ranks_);
  trace.allocator_states_ = std::move(allocator_states_);
  trace.strings_ = std::move(strings_);
  return trace;
}

}  // namespace interlace::trace
