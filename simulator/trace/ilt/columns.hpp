#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "simulator/trace/ilt/format.hpp"
#include "simulator/trace/limits.hpp"

namespace interlace::trace::ilt {

// clang-format off: one paragraph a table
/// The columns that this version writes and reads. A file names its own in the schema chunk, so the numbers here may
/// change; names, units and the meaning of values may not within a major version.
enum class Column : std::uint8_t {
  kStringText,

  kRankNumber,
  kRankWorldSize,
  kRankSource,
  kRankProcessId,
  kRankHostName,
  kRankProducer,
  kRankRunId,
  kRankDevices,
  kDeviceOrdinal,
  kDeviceName,
  kDeviceComputeMajor,
  kDeviceComputeMinor,
  kDeviceSmCount,
  kDeviceMaxThreadsPerSm,
  kDeviceRegistersPerSm,
  kDeviceSharedMemoryPerSm,
  kDeviceMemory,

  kLaneKind,
  kLaneRank,
  kLaneProcess,
  kLaneNumber,
  kLaneName,
  kLanePriority,
  kLaneHandle,

  kKind,
  kLane,
  kName,
  kStart,
  kDuration,
  kCallCorrelation,
  kWorkCorrelation,
  kCallExternalKind,
  kCallExternalId,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegistersPerThread,
  kSharedMemory,
  kBlocksPerSmLimit,
  kKernelPriority,
  kGraphNode,
  kCollectiveFunction,
  kCollectiveName,
  kCollectiveDtype,
  kCollectiveGroup,
  kCollectiveInElements,
  kCollectiveOutElements,
  kCollectiveGroupSize,
  kCollectiveSequence,
  kCollectiveElementBytes,
  kCollectiveChannels,
  kCollectiveInBuffer,
  kCollectiveOutBuffer,
  kCollectivePartAlignment,
  kCollectiveOwnPartAlignment,
  kCopyBytes,
  kCopySource,
  kCopyDestination,
  kCopyPeer,
  kSyncKind,
  kSyncStream,
  kSyncEvent,
  kSyncRecord,
  kSyncRecordStream,
  kRangeKind,
  kRangeSequenceNumber,
  kRangeForwardThread,
  kRangeForwardOp,
  kRangePayloadType,
  kRangePayload,
  kRangeCategory,
  kRangeIsOpen,
  kAllocationAction,
  kAllocationAddress,
  kAllocationBytes,
  kAllocationTotalAllocated,
  kAllocationTotalReserved,
  kAllocationStream,
  kAllocationOnDevice,
  kAllocationRequested,
  kAllocationStreamHandle,
  kAllocationKnowsBlock,

  kDiagnosticCode,
  kDiagnosticSeverity,
  kDiagnosticMeaning,
  kDiagnosticAdvice,
  kDiagnosticCount,
  kDiagnosticFirstPlace,

  kEndStrings,
  kEndRanks,
  kEndLanes,
  kEndOperations,
  kEndDiagnostics,
  kEndAllocatorStates,
  kEndSyncs,
  kEndClocks,
  kEndLedger,

  kStateRank,
  kStateDevice,
  kStateTime,
  kStateSettings,
  kStateSegments,
  kSegmentAddress,
  kSegmentBytes,
  kSegmentStreamHandle,
  kSegmentIsLarge,
  kSegmentIsExpandable,
  kSegmentPoolFirst,
  kSegmentPoolSecond,
  kSegmentBlocks,
  kBlockAddress,
  kBlockBytes,
  kBlockRequested,
  kBlockState,

  kSyncsRank,
  kSyncsCorrelation,
  kSyncsKind,
  kSyncsStream,
  kSyncsEvent,
  kSyncsRecord,

  kClocksRank,
  kClocksTime,
  kClocksRealtime,
  kClocksMonotonic,
  kClocksMonotonicRaw,
  kClocksWidth,

  kLedgerRank,
  kLedgerTime,
  kLedgerState,
  kLedgerLaunched,
  kLedgerRecorded,
  kLedgerUntimed,
  kLedgerRefused,
  kLedgerUndelivered,
  kLedgerPending,
  kLedgerUnlaunched,
  kLedgerDeviceWork,
  kLedgerDropped,
};
// clang-format on
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::kLedgerDropped) + 1;

/// What the schema says of a column, and what the reader needs of it.
struct ColumnSpec {
  Column column;
  ChunkType table;
  std::string_view name;
  Encoding encoding;
  bool optional = false;                                   ///< a row may have no value
  bool required = false;                                   ///< a row without it cannot be understood
  std::string_view unit;                                   ///< empty for names, numbers of things and codes
  std::uint8_t values = 0;                                 ///< of an enumeration: how many are known; else 0
  std::string_view (*value_name)(std::uint8_t) = nullptr;  ///< of an enumeration
};

/// In the order of Column.
extern const std::array<ColumnSpec, kColumns> kColumnSpecs;
[[nodiscard]] inline const ColumnSpec& spec(Column column) { return kColumnSpecs[static_cast<std::size_t>(column)]; }

struct ValueRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
/// Of the numbers in a column (docs/ilt_format.md, limits): those that are multiplied with others or added up have
/// bounds.
[[nodiscard]] constexpr ValueRange allowed(Column column) {
  switch (column) {
    case Column::kGridX: return {1, kLargestGrid[0]};
    case Column::kGridY: return {1, kLargestGrid[1]};
    case Column::kGridZ: return {1, kLargestGrid[2]};
    case Column::kBlockX: return {1, kLargestBlock[0]};
    case Column::kBlockY: return {1, kLargestBlock[1]};
    case Column::kBlockZ: return {1, kLargestBlock[2]};
    case Column::kSharedMemory:
    case Column::kAllocationBytes:
    case Column::kSegmentBytes:
    case Column::kBlockBytes:
    case Column::kBlockRequested:
    case Column::kCollectiveInElements:
    case Column::kCollectiveOutElements: return {0, kLargestAmount};
    case Column::kCollectiveElementBytes: return {0, kLargestElement};
    // Not added up; a program may ask for any.
    case Column::kCopyBytes:
    case Column::kAllocationRequested: return {0, std::numeric_limits<std::int64_t>::max()};
    // Below 0 where memory is given back that was got before the recording began.
    case Column::kAllocationTotalAllocated:
    case Column::kAllocationTotalReserved: return {-kLargestAmount, kLargestAmount};
    default: return {};
  }
}
/// "unknown" for a type that this version does not know.
[[nodiscard]] std::string_view to_string(ChunkType type);
[[nodiscard]] bool is_known(std::uint16_t chunk_type);

/// The columns of an end chunk, each with the table whose rows it counts: every table but the schema and `end` itself,
/// so that no chunk can be lost uncounted.
struct EndTotal {
  Column column;
  ChunkType table;
};
inline constexpr std::array<EndTotal, 9> kEndTotals{{{Column::kEndStrings, ChunkType::kStrings},
                                                     {Column::kEndRanks, ChunkType::kRanks},
                                                     {Column::kEndLanes, ChunkType::kLanes},
                                                     {Column::kEndOperations, ChunkType::kOperations},
                                                     {Column::kEndDiagnostics, ChunkType::kDiagnostics},
                                                     {Column::kEndAllocatorStates, ChunkType::kAllocatorStates},
                                                     {Column::kEndSyncs, ChunkType::kSyncs},
                                                     {Column::kEndClocks, ChunkType::kClocks},
                                                     {Column::kEndLedger, ChunkType::kLedger}}};

}  // namespace interlace::trace::ilt
