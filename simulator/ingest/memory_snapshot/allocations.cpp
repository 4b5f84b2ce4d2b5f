#include "simulator/ingest/memory_snapshot/allocations.hpp"

#include "simulator/ingest/memory_snapshot/block_bytes.hpp"

namespace interlace::ingest::memory_snapshot {

using trace::AllocationAction;

trace::AllocationDetail detail_of(const Event& event, std::optional<Bytes> block_bytes) {
  trace::AllocationDetail detail{
      .action = event.action, .address = event.address, .bytes = event.bytes, .stream_handle = event.stream_handle};
  switch (event.action) {
    case AllocationAction::kAlloc:
    case AllocationAction::kFree:
    case AllocationAction::kFreeRequested:
    case AllocationAction::kFreeCompleted:
      detail.requested = event.bytes;
      detail.bytes = block_bytes.value_or(least_block_bytes(event.bytes));
      detail.knows_block = block_bytes.has_value();
      break;
    default: break;
  }
  return detail;
}

trace::LaneId unknown_thread(trace::TraceBuilder& builder, trace::RankId rank) {
  static constexpr std::int64_t kNoThread = -1;  // of no process and no thread is this the number
  const trace::LaneId lane = builder.lane(trace::LaneKind::kHostThread, rank, kNoThread, kNoThread);
  builder.name_lane(lane, "allocator (thread not recorded)");
  return lane;
}

}  // namespace interlace::ingest::memory_snapshot
