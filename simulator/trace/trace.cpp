#include "simulator/trace/trace.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace interlace::trace {

std::string_view to_string(OperationKind kind) {
  static constexpr std::array<std::string_view, kOperationKinds> kNames{
      "kernel",      "collective", "copy",  "memset",       "host_call", "event_record",
      "stream_wait", "host_sync",  "range", "device_range", "allocation"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(CollectiveFunction function) {
  static constexpr std::array<std::string_view, 11> kNames{"unknown",    "all_reduce", "all_gather", "reduce_scatter",
                                                           "all_to_all", "broadcast",  "reduce",     "gather",
                                                           "scatter",    "send_recv",  "barrier"};
  return kNames[static_cast<std::size_t>(function)];
}

std::string_view to_string(MemorySpace space) {
  static constexpr std::array<std::string_view, 5> kNames{"unknown", "device", "pinned", "pageable", "managed"};
  return kNames[static_cast<std::size_t>(space)];
}

std::string_view to_string(SyncKind kind) {
  static constexpr std::array<std::string_view, 7> kNames{
      "unknown", "event_record", "stream_wait_event", "event_sync", "stream_sync", "device_sync", "event_query"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(RangeKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"annotation", "cpu_op", "python", "profiler_overhead",
                                                          "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(AllocationAction action) {
  static constexpr std::array<std::string_view, 10> kNames{
      "alloc",         "free", "free_requested", "free_completed", "segment_alloc", "segment_free",
      "record_stream", "oom",  "segment_map",    "segment_unmap"};
  return kNames[static_cast<std::size_t>(action)];
}

std::string_view to_string(NumberType type) {
  static constexpr std::array<std::string_view, 3> kNames{"int64", "uint64", "double"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string to_string(const Number& number) {
  switch (number.type) {
    case NumberType::kInt64: return std::to_string(static_cast<std::int64_t>(number.bits));
    case NumberType::kUint64: return std::to_string(number.bits);
    case NumberType::kDouble: break;
  }
  std::array<char, 32> text{};  // the shortest that reads as the same number
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<double>(number.bits)).ptr;
  return {text.data(), end};
}

std::string_view to_string(ExternalKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"unknown", "openacc", "custom0", "custom1", "custom2"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(BlockState state) {
  static constexpr std::array<std::string_view, 3> kNames{"allocated", "pending_free", "free"};
  return kNames[static_cast<std::size_t>(state)];
}

const KernelDetail* Trace::kernel(OperationId op) const {
  const bool has = kind(op) == OperationKind::kKernel || kind(op) == OperationKind::kCollective;
  return has ? &kernels_[detail_rows_[op.index()]] : nullptr;
}

const CollectiveDetail* Trace::collective(OperationId op) const {
  if (kind(op) != OperationKind::kCollective) return nullptr;
  const std::uint32_t row = collective_rows_[detail_rows_[op.index()]];
  return row == kNoRow ? nullptr : &collectives_[row];
}

const CopyDetail* Trace::copy(OperationId op) const {
  const bool has = kind(op) == OperationKind::kCopy || kind(op) == OperationKind::kMemset;
  return has ? &copies_[detail_rows_[op.index()]] : nullptr;
}

const SyncDetail* Trace::sync(OperationId op) const {
  const bool may = kind(op) >= OperationKind::kHostCall && kind(op) <= OperationKind::kHostSync;
  return may && detail_rows_[op.index()] != kNoRow ? &syncs_[detail_rows_[op.index()]] : nullptr;
}

const RangeDetail* Trace::range(OperationId op) const {
  const bool has = kind(op) == OperationKind::kRange || kind(op) == OperationKind::kDeviceRange;
  return has ? &ranges_[detail_rows_[op.index()]] : nullptr;
}

const AllocationDetail* Trace::allocation(OperationId op) const {
  return kind(op) == OperationKind::kAllocation ? &allocations_[detail_rows_[op.index()]] : nullptr;
}

const Note* Trace::note(OperationId op) const {
  const auto place = std::ranges::lower_bound(notes_, op, {}, &std::pair<OperationId, Note>::first);
  return place != notes_.end() && place->first == op ? &place->second : nullptr;
}

std::optional<OperationId> Trace::launch_of(OperationId device_work) const {
  const std::uint32_t launch = launch_of_[device_work.index()];
  return launch == kNoRow ? std::nullopt : std::optional(OperationId{launch});
}

std::span<const OperationId> Trace::launched_by(OperationId host_call) const {
  const std::uint32_t begin = launched_begin_[host_call.index()];
  return std::span(launched_).subspan(begin, launched_begin_[host_call.index() + 1] - begin);
}

std::span<const OperationId> Trace::on_lane(LaneId lane) const {
  const std::uint32_t begin = lane_begin_[lane.index()];
  return std::span(on_lane_).subspan(begin, lane_begin_[lane.index() + 1] - begin);
}

}  // namespace interlace::trace
