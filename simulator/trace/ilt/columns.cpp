#include "simulator/trace/ilt/columns.hpp"

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/session_rows.hpp"
#include "simulator/trace/operation.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::trace::ilt {

namespace {

template <class Enum>
std::string_view value_name(std::uint8_t value) {
  return to_string(static_cast<Enum>(value));
}

template <>
std::string_view value_name<LaneKind>(std::uint8_t value) {
  return static_cast<LaneKind>(value) == LaneKind::kHostThread ? "host_thread" : "stream";
}

template <class Enum>
constexpr ColumnSpec code(Column column, ChunkType table, std::string_view name, Enum last, bool optional = false,
                          bool required = false) {
  return {column,          table,    name, Encoding::kByte,
          optional,        required, {},   static_cast<std::uint8_t>(static_cast<unsigned>(last) + 1U),
          value_name<Enum>};
}

constexpr bool kOptional = true;
constexpr bool kPlain = false;
constexpr bool kRequired = true;

using enum Encoding;
using enum ChunkType;

}  // namespace

// clang-format off: a table
constexpr std::array<ColumnSpec, kColumns> kColumnSpecs{{
    {Column::kStringText, kStrings, "text", kText, kPlain, kRequired},

    {Column::kRankNumber, kRanks, "number", kZigzag},
    {Column::kRankWorldSize, kRanks, "world_size", kZigzag, kOptional, kPlain, "ranks"},
    {Column::kRankSource, kRanks, "source", kText},
    {Column::kRankProcessId, kRanks, "process_id", kZigzag},
    {Column::kRankHostName, kRanks, "host_name", kText},
    {Column::kRankProducer, kRanks, "producer", kText},
    {Column::kRankRunId, kRanks, "run_id", kText},
    {Column::kRankDevices, kRanks, "devices", kVarint, kPlain, kPlain, "devices"},
    {Column::kDeviceOrdinal, kRanks, "device.ordinal", kZigzag, kPlain, kRequired},
    {Column::kDeviceName, kRanks, "device.name", kText},
    {Column::kDeviceComputeMajor, kRanks, "device.compute_major", kZigzag},
    {Column::kDeviceComputeMinor, kRanks, "device.compute_minor", kZigzag},
    {Column::kDeviceSmCount, kRanks, "device.sm_count", kZigzag, kPlain, kPlain, "multiprocessors"},
    {Column::kDeviceMaxThreadsPerSm, kRanks, "device.max_threads_per_sm", kZigzag, kPlain, kPlain, "threads"},
    {Column::kDeviceRegistersPerSm, kRanks, "device.registers_per_sm", kZigzag, kPlain, kPlain, "registers"},
    {Column::kDeviceSharedMemoryPerSm, kRanks, "device.shared_memory_per_sm", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kDeviceMemory, kRanks, "device.memory", kZigzag, kPlain, kPlain, "bytes"},

    code(Column::kLaneKind, kLanes, "kind", LaneKind::kStream, kPlain, kRequired),
    {Column::kLaneRank, kLanes, "rank", kVarint, kPlain, kRequired, "row of ranks"},
    {Column::kLaneProcess, kLanes, "process", kZigzag},
    {Column::kLaneNumber, kLanes, "number", kZigzag},
    {Column::kLaneName, kLanes, "name", kText},
    {Column::kLanePriority, kLanes, "priority", kZigzag, kOptional},
    {Column::kLaneHandle, kLanes, "handle", kVarint, kOptional},

    code(Column::kKind, kOperations, "kind", OperationKind::kAllocation, kPlain, kRequired),
    {Column::kLane, kOperations, "lane", kVarint, kPlain, kRequired, "row of lanes"},
    {Column::kName, kOperations, "name", kVarint, kPlain, kRequired, "row of strings"},
    {Column::kStart, kOperations, "start", kDelta, kPlain, kRequired, "ns"},
    {Column::kDuration, kOperations, "duration", kZigzag, kPlain, kRequired, "ns"},
    {Column::kCallCorrelation, kOperations, "call.correlation", kDelta, kOptional},
    {Column::kWorkCorrelation, kOperations, "work.correlation", kDelta, kOptional},
    code(Column::kCallExternalKind, kOperations, "call.external_kind", ExternalKind::kCustom2, kOptional),
    {Column::kCallExternalId, kOperations, "call.external_id", kDelta},

    {Column::kGridX, kOperations, "kernel.grid_x", kZigzag, kPlain, kPlain, "blocks"},
    {Column::kGridY, kOperations, "kernel.grid_y", kZigzag, kPlain, kPlain, "blocks"},
    {Column::kGridZ, kOperations, "kernel.grid_z", kZigzag, kPlain, kPlain, "blocks"},
    {Column::kBlockX, kOperations, "kernel.block_x", kZigzag, kPlain, kPlain, "threads"},
    {Column::kBlockY, kOperations, "kernel.block_y", kZigzag, kPlain, kPlain, "threads"},
    {Column::kBlockZ, kOperations, "kernel.block_z", kZigzag, kPlain, kPlain, "threads"},
    {Column::kRegistersPerThread, kOperations, "kernel.registers_per_thread", kZigzag, kPlain, kPlain, "registers"},
    {Column::kSharedMemory, kOperations, "kernel.shared_memory", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kBlocksPerSmLimit, kOperations, "kernel.blocks_per_sm_limit", kZigzag, kOptional, kPlain, "blocks"},
    {Column::kKernelPriority, kOperations, "kernel.priority", kZigzag, kOptional},
    {Column::kGraphNode, kOperations, "kernel.graph_node", kDelta, kOptional},

    code(Column::kCollectiveFunction, kOperations, "collective.function", CollectiveFunction::kBarrier, kOptional),
    {Column::kCollectiveName, kOperations, "collective.name", kVarint, kPlain, kPlain, "row of strings"},
    {Column::kCollectiveDtype, kOperations, "collective.dtype", kVarint, kPlain, kPlain, "row of strings"},
    {Column::kCollectiveGroup, kOperations, "collective.group", kVarint, kPlain, kPlain, "row of strings"},
    {Column::kCollectiveInElements, kOperations, "collective.in_elements", kZigzag, kPlain, kPlain, "elements"},
    {Column::kCollectiveOutElements, kOperations, "collective.out_elements", kZigzag, kPlain, kPlain, "elements"},
    {Column::kCollectiveGroupSize, kOperations, "collective.group_size", kZigzag, kPlain, kPlain, "ranks"},
    {Column::kCollectiveSequence, kOperations, "collective.sequence", kDelta, kOptional},
    {Column::kCollectiveElementBytes, kOperations, "collective.element_bytes", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kCollectiveChannels, kOperations, "collective.channels", kZigzag, kPlain, kPlain, "channels"},
    {Column::kCollectiveInBuffer, kOperations, "collective.in_buffer", kDelta, kOptional},
    {Column::kCollectiveOutBuffer, kOperations, "collective.out_buffer", kDelta, kOptional},
    {Column::kCollectivePartAlignment, kOperations, "collective.part_alignment", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kCollectiveOwnPartAlignment, kOperations, "collective.own_part_alignment", kZigzag, kPlain, kPlain,
     "bytes"},

    {Column::kCopyBytes, kOperations, "copy.bytes", kZigzag, kPlain, kPlain, "bytes"},
    code(Column::kCopySource, kOperations, "copy.source", MemorySpace::kManaged),
    code(Column::kCopyDestination, kOperations, "copy.destination", MemorySpace::kManaged),
    {Column::kCopyPeer, kOperations, "copy.peer", kByte},

    code(Column::kSyncKind, kOperations, "sync.kind", SyncKind::kEventQuery, kOptional),
    {Column::kSyncStream, kOperations, "sync.stream", kVarint, kOptional, kPlain, "row of lanes"},
    {Column::kSyncEvent, kOperations, "sync.event", kDelta, kOptional},
    {Column::kSyncRecord, kOperations, "sync.record", kDelta, kOptional, kPlain, "row of operations"},
    {Column::kSyncRecordStream, kOperations, "sync.record_stream", kVarint, kOptional, kPlain, "row of lanes"},

    code(Column::kRangeKind, kOperations, "range.kind", RangeKind::kOther),
    {Column::kRangeSequenceNumber, kOperations, "range.sequence_number", kDelta, kOptional},
    {Column::kRangeForwardThread, kOperations, "range.forward_thread", kDelta, kOptional},
    {Column::kRangeForwardOp, kOperations, "range.forward_op", kDelta, kOptional, kPlain, "row of operations"},
    code(Column::kRangePayloadType, kOperations, "range.payload_type", NumberType::kDouble, kOptional),
    {Column::kRangePayload, kOperations, "range.payload", kZigzag},
    {Column::kRangeCategory, kOperations, "range.category", kVarint, kOptional, kPlain, "row of strings"},
    {Column::kRangeIsOpen, kOperations, "range.is_open", kByte},

    code(Column::kAllocationAction, kOperations, "allocation.action", AllocationAction::kSegmentUnmap, kPlain,
         kRequired),
    {Column::kAllocationAddress, kOperations, "allocation.address", kDelta},
    {Column::kAllocationBytes, kOperations, "allocation.bytes", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kAllocationTotalAllocated, kOperations, "allocation.total_allocated", kDelta, kOptional, kPlain, "bytes"},
    {Column::kAllocationTotalReserved, kOperations, "allocation.total_reserved", kDelta, kOptional, kPlain, "bytes"},
    {Column::kAllocationStream, kOperations, "allocation.stream", kVarint, kOptional, kPlain, "row of lanes"},
    {Column::kAllocationOnDevice, kOperations, "allocation.on_device", kByte},
    {Column::kAllocationRequested, kOperations, "allocation.requested", kZigzag, kOptional, kPlain, "bytes"},
    {Column::kAllocationStreamHandle, kOperations, "allocation.stream_handle", kDelta, kOptional},
    {Column::kAllocationKnowsBlock, kOperations, "allocation.knows_block", kByte},

    {Column::kDiagnosticCode, kDiagnostics, "code", kText, kPlain, kRequired},
    code(Column::kDiagnosticSeverity, kDiagnostics, "severity", Severity::kDataLoss),
    {Column::kDiagnosticMeaning, kDiagnostics, "meaning", kText},
    {Column::kDiagnosticAdvice, kDiagnostics, "advice", kText},
    {Column::kDiagnosticCount, kDiagnostics, "count", kZigzag, kPlain, kRequired},
    {Column::kDiagnosticFirstPlace, kDiagnostics, "first_place", kText},

    {Column::kEndStrings, kEnd, "strings", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndRanks, kEnd, "ranks", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndLanes, kEnd, "lanes", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndOperations, kEnd, "operations", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndDiagnostics, kEnd, "diagnostics", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndAllocatorStates, kEnd, "allocator_states", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndSyncs, kEnd, "syncs", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndClocks, kEnd, "clocks", kVarint, kPlain, kPlain, "rows"},
    {Column::kEndLedger, kEnd, "ledger", kVarint, kPlain, kPlain, "rows"},

    {Column::kStateRank, kAllocatorStates, "rank", kVarint, kPlain, kRequired, "row of ranks"},
    {Column::kStateDevice, kAllocatorStates, "device", kZigzag},
    {Column::kStateTime, kAllocatorStates, "time", kDelta, kOptional, kPlain, "ns"},
    {Column::kStateSettings, kAllocatorStates, "settings", kText},
    {Column::kStateSegments, kAllocatorStates, "segments", kVarint, kPlain, kPlain, "segments"},
    {Column::kSegmentAddress, kAllocatorStates, "segment.address", kDelta, kPlain, kRequired},
    {Column::kSegmentBytes, kAllocatorStates, "segment.bytes", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kSegmentStreamHandle, kAllocatorStates, "segment.stream_handle", kDelta},
    {Column::kSegmentIsLarge, kAllocatorStates, "segment.is_large", kByte},
    {Column::kSegmentIsExpandable, kAllocatorStates, "segment.is_expandable", kByte},
    {Column::kSegmentPoolFirst, kAllocatorStates, "segment.pool_first", kVarint},
    {Column::kSegmentPoolSecond, kAllocatorStates, "segment.pool_second", kVarint},
    {Column::kSegmentBlocks, kAllocatorStates, "segment.blocks", kVarint, kPlain, kPlain, "blocks"},
    {Column::kBlockAddress, kAllocatorStates, "block.address", kDelta, kPlain, kRequired},
    {Column::kBlockBytes, kAllocatorStates, "block.bytes", kZigzag, kPlain, kPlain, "bytes"},
    {Column::kBlockRequested, kAllocatorStates, "block.requested", kZigzag, kPlain, kPlain, "bytes"},
    code(Column::kBlockState, kAllocatorStates, "block.state", BlockState::kFree),

    {Column::kSyncsRank, kSyncs, "rank", kVarint, kPlain, kRequired, "row of ranks"},
    {Column::kSyncsCorrelation, kSyncs, "correlation", kDelta, kPlain, kRequired},
    code(Column::kSyncsKind, kSyncs, "kind", SyncKind::kEventQuery),
    {Column::kSyncsStream, kSyncs, "stream", kVarint, kOptional, kPlain, "row of lanes"},
    {Column::kSyncsEvent, kSyncs, "event", kDelta, kOptional},
    {Column::kSyncsRecord, kSyncs, "record", kDelta, kOptional},

    {Column::kClocksRank, kClocks, "rank", kVarint, kPlain, kRequired, "row of ranks"},
    {Column::kClocksTime, kClocks, "time", kDelta, kPlain, kRequired, "ns"},
    {Column::kClocksRealtime, kClocks, "realtime", kDelta, kPlain, kPlain, "ns"},
    {Column::kClocksMonotonic, kClocks, "monotonic", kDelta, kPlain, kPlain, "ns"},
    {Column::kClocksMonotonicRaw, kClocks, "monotonic_raw", kDelta, kPlain, kPlain, "ns"},
    {Column::kClocksWidth, kClocks, "width", kZigzag, kPlain, kPlain, "ns"},

    {Column::kLedgerRank, kLedger, "rank", kVarint, kPlain, kRequired, "row of ranks"},
    {Column::kLedgerTime, kLedger, "time", kDelta, kPlain, kRequired, "ns"},
    code(Column::kLedgerState, kLedger, "state", LedgerState::kClosed),
    {Column::kLedgerLaunched, kLedger, "launched", kDelta, kPlain, kPlain, "calls"},
    {Column::kLedgerRecorded, kLedger, "recorded", kDelta, kPlain, kPlain, "calls"},
    {Column::kLedgerUntimed, kLedger, "untimed", kDelta, kPlain, kPlain, "calls"},
    {Column::kLedgerRefused, kLedger, "refused", kDelta, kPlain, kPlain, "calls"},
    {Column::kLedgerUndelivered, kLedger, "undelivered", kDelta, kPlain, kPlain, "calls"},
    {Column::kLedgerPending, kLedger, "pending", kDelta, kPlain, kPlain, "calls"},
    {Column::kLedgerUnlaunched, kLedger, "unlaunched", kDelta, kPlain, kPlain, "operations"},
    {Column::kLedgerDeviceWork, kLedger, "device_work", kDelta, kPlain, kPlain, "operations"},
    {Column::kLedgerDropped, kLedger, "dropped", kDelta, kPlain, kPlain, "records"},
}};
// clang-format on

static_assert(
    [] {
      for (std::size_t i = 0; i < kColumns; ++i) {
        if (kColumnSpecs[i].column != static_cast<Column>(i)) return false;
      }
      return true;
    }(),
    "the table lists the columns in the order of the enumeration");

std::string_view to_string(ChunkType type) {
  switch (type) {
    case kSchema: return "schema";
    case kStrings: return "strings";
    case kRanks: return "ranks";
    case kLanes: return "lanes";
    case kOperations: return "operations";
    case kDiagnostics: return "diagnostics";
    case kEnd: return "end";
    case kAllocatorStates: return "allocator_states";
    case kSyncs: return "syncs";
    case kClocks: return "clocks";
    case kLedger: return "ledger";
  }
  return "unknown";
}

bool is_known(std::uint16_t chunk_type) { return to_string(static_cast<ChunkType>(chunk_type)) != "unknown"; }

}  // namespace interlace::trace::ilt
