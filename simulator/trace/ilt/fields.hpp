#pragma once

#include <optional>
#include <type_traits>

#include "simulator/trace/ilt/columns.hpp"
#include "simulator/trace/ilt/session_rows.hpp"
#include "simulator/trace/trace.hpp"

/// Which field of a row stands in which column, said once for both directions: `Stream` is a ColumnWriter (then `Row`
/// is const) or the reader's source of values. Both visit the fields in the order given here.
namespace interlace::trace::ilt {

template <class Stream, class Row>
void rank_fields(Stream& stream, Row& rank) {
  stream.field(Column::kRankNumber, rank.number);
  stream.field(Column::kRankWorldSize, rank.world_size);
  stream.field(Column::kRankSource, rank.source);
  stream.field(Column::kRankProcessId, rank.process_id);
  stream.field(Column::kRankHostName, rank.host_name);
  stream.field(Column::kRankProducer, rank.producer);
  stream.field(Column::kRankRunId, rank.run_id);
}

template <class Stream, class Row>
void device_fields(Stream& stream, Row& device) {
  stream.field(Column::kDeviceOrdinal, device.ordinal);
  stream.field(Column::kDeviceName, device.name);
  stream.field(Column::kDeviceComputeMajor, device.compute_major);
  stream.field(Column::kDeviceComputeMinor, device.compute_minor);
  stream.field(Column::kDeviceSmCount, device.sm_count);
  stream.field(Column::kDeviceMaxThreadsPerSm, device.max_threads_per_sm);
  stream.field(Column::kDeviceRegistersPerSm, device.registers_per_sm);
  stream.field(Column::kDeviceSharedMemoryPerSm, device.shared_memory_per_sm);
  stream.field(Column::kDeviceMemory, device.memory);
}

/// Without the rank, which the two directions number differently.
template <class Stream, class Row>
void lane_fields(Stream& stream, Row& lane) {
  stream.field(Column::kLaneKind, lane.kind);
  stream.field(Column::kLaneProcess, lane.process);
  stream.field(Column::kLaneNumber, lane.number);
  stream.field(Column::kLaneName, lane.name);
  stream.field(Column::kLanePriority, lane.priority);
  stream.field(Column::kLaneHandle, lane.handle);
}

template <class Stream, class Row>
void kernel_fields(Stream& stream, Row& kernel) {
  stream.field(Column::kGridX, kernel.grid[0]);
  stream.field(Column::kGridY, kernel.grid[1]);
  stream.field(Column::kGridZ, kernel.grid[2]);
  stream.field(Column::kBlockX, kernel.block[0]);
  stream.field(Column::kBlockY, kernel.block[1]);
  stream.field(Column::kBlockZ, kernel.block[2]);
  stream.field(Column::kRegistersPerThread, kernel.registers_per_thread);
  stream.field(Column::kSharedMemory, kernel.shared_memory);
  stream.field(Column::kBlocksPerSmLimit, kernel.blocks_per_sm_limit);
  stream.field(Column::kKernelPriority, kernel.priority);
  stream.field(Column::kGraphNode, kernel.graph_node);
}

/// Without the function, whose presence says whether the operation has a CollectiveDetail.
template <class Stream, class Row>
void collective_fields(Stream& stream, Row& collective) {
  stream.field(Column::kCollectiveName, collective.name);
  stream.field(Column::kCollectiveDtype, collective.dtype);
  stream.field(Column::kCollectiveGroup, collective.group);
  stream.field(Column::kCollectiveInElements, collective.in_elements);
  stream.field(Column::kCollectiveOutElements, collective.out_elements);
  stream.field(Column::kCollectiveGroupSize, collective.group_size);
  stream.field(Column::kCollectiveSequence, collective.sequence);
  stream.field(Column::kCollectiveElementBytes, collective.element_bytes);
  stream.field(Column::kCollectiveChannels, collective.channels);
  stream.field(Column::kCollectiveInBuffer, collective.in_buffer);
  stream.field(Column::kCollectiveOutBuffer, collective.out_buffer);
  stream.field(Column::kCollectivePartAlignment, collective.part_alignment);
  stream.field(Column::kCollectiveOwnPartAlignment, collective.own_part_alignment);
}

template <class Stream, class Row>
void copy_fields(Stream& stream, Row& copy) {
  stream.field(Column::kCopyBytes, copy.bytes);
  stream.field(Column::kCopySource, copy.source);
  stream.field(Column::kCopyDestination, copy.destination);
  stream.field(Column::kCopyPeer, copy.peer);
}

/// Without the kind, whose presence says whether the operation has a SyncDetail.
template <class Stream, class Row>
void sync_fields(Stream& stream, Row& sync) {
  stream.field(Column::kSyncStream, sync.stream);
  stream.field(Column::kSyncEvent, sync.event);
  stream.field(Column::kSyncRecord, sync.record);
  stream.field(Column::kSyncRecordStream, sync.record_stream);
}

template <class Stream, class Row>
void range_fields(Stream& stream, Row& range) {
  stream.field(Column::kRangeKind, range.kind);
  stream.field(Column::kRangeSequenceNumber, range.sequence_number);
  stream.field(Column::kRangeForwardThread, range.forward_thread);
  stream.field(Column::kRangeForwardOp, range.forward_op);
}

/// A pair of columns of which the first, a code, says whether there is a value.
template <class Stream, class Optional, class Code, class Value>
void optional_fields(Stream& stream, Optional& value, Column code_column, Code code, Column column, Value rest) {
  auto known = value ? std::optional((*value).*code) : std::nullopt;
  stream.field(code_column, known);
  if (!known) return;
  if constexpr (std::is_const_v<Optional>) {
    stream.field(column, (*value).*rest);
  } else {
    if (!value) value.emplace();
    (*value).*code = *known;
    stream.field(column, (*value).*rest);
  }
}

template <class Stream, class Row>
void range_note_fields(Stream& stream, Row& note) {
  optional_fields(stream, note.payload, Column::kRangePayloadType, &Number::type, Column::kRangePayload, &Number::bits);
  stream.field(Column::kRangeCategory, note.category);
  stream.field(Column::kRangeIsOpen, note.is_open);
}

/// Of a host call.
template <class Stream, class External>
void external_fields(Stream& stream, External& external) {
  optional_fields(stream, external, Column::kCallExternalKind, &ExternalId::kind, Column::kCallExternalId,
                  &ExternalId::id);
}

template <class Stream, class Row>
void allocation_fields(Stream& stream, Row& allocation) {
  stream.field(Column::kAllocationAction, allocation.action);
  stream.field(Column::kAllocationAddress, allocation.address);
  stream.field(Column::kAllocationBytes, allocation.bytes);
  stream.field(Column::kAllocationTotalAllocated, allocation.total_allocated);
  stream.field(Column::kAllocationTotalReserved, allocation.total_reserved);
  stream.field(Column::kAllocationStream, allocation.stream);
  stream.field(Column::kAllocationOnDevice, allocation.on_device);
  stream.field(Column::kAllocationRequested, allocation.requested);
  stream.field(Column::kAllocationStreamHandle, allocation.stream_handle);
  stream.field(Column::kAllocationKnowsBlock, allocation.knows_block);
}

/// Without the rank, which the two directions number differently, and the number of segments.
template <class Stream, class Row>
void state_fields(Stream& stream, Row& state) {
  stream.field(Column::kStateDevice, state.device);
  stream.field(Column::kStateTime, state.time);
  stream.field(Column::kStateSettings, state.settings);
}

/// Without the number of blocks.
template <class Stream, class Row>
void segment_fields(Stream& stream, Row& segment) {
  stream.field(Column::kSegmentAddress, segment.address);
  stream.field(Column::kSegmentBytes, segment.bytes);
  stream.field(Column::kSegmentStreamHandle, segment.stream_handle);
  stream.field(Column::kSegmentIsLarge, segment.is_large);
  stream.field(Column::kSegmentIsExpandable, segment.is_expandable);
  stream.field(Column::kSegmentPoolFirst, segment.pool[0]);
  stream.field(Column::kSegmentPoolSecond, segment.pool[1]);
}

template <class Stream, class Row>
void block_fields(Stream& stream, Row& block) {
  stream.field(Column::kBlockAddress, block.address);
  stream.field(Column::kBlockBytes, block.bytes);
  stream.field(Column::kBlockRequested, block.requested);
  stream.field(Column::kBlockState, block.state);
}

template <class Stream, class Row>
void diagnostic_fields(Stream& stream, Row& diagnostic) {
  stream.field(Column::kDiagnosticCode, diagnostic.code);
  stream.field(Column::kDiagnosticSeverity, diagnostic.severity);
  stream.field(Column::kDiagnosticMeaning, diagnostic.meaning);
  stream.field(Column::kDiagnosticAdvice, diagnostic.advice);
  stream.field(Column::kDiagnosticCount, diagnostic.count);
  stream.field(Column::kDiagnosticFirstPlace, diagnostic.first_place);
}

/// Without the rank, which the two directions number differently, as in the next two.
template <class Stream, class Row>
void sync_fact_fields(Stream& stream, Row& fact) {
  stream.field(Column::kSyncsCorrelation, fact.correlation);
  stream.field(Column::kSyncsKind, fact.kind);
  stream.field(Column::kSyncsStream, fact.stream);
  stream.field(Column::kSyncsEvent, fact.event);
  stream.field(Column::kSyncsRecord, fact.record);
}

template <class Stream, class Row>
void clock_fields(Stream& stream, Row& clock) {
  stream.field(Column::kClocksTime, clock.time);
  stream.field(Column::kClocksRealtime, clock.realtime);
  stream.field(Column::kClocksMonotonic, clock.monotonic);
  stream.field(Column::kClocksMonotonicRaw, clock.monotonic_raw);
  stream.field(Column::kClocksWidth, clock.width);
}

template <class Stream, class Row>
void ledger_fields(Stream& stream, Row& ledger) {
  stream.field(Column::kLedgerTime, ledger.time);
  stream.field(Column::kLedgerState, ledger.state);
  stream.field(Column::kLedgerLaunched, ledger.launched);
  stream.field(Column::kLedgerRecorded, ledger.recorded);
  stream.field(Column::kLedgerUntimed, ledger.untimed);
  stream.field(Column::kLedgerRefused, ledger.refused);
  stream.field(Column::kLedgerUndelivered, ledger.undelivered);
  stream.field(Column::kLedgerPending, ledger.pending);
  stream.field(Column::kLedgerUnlaunched, ledger.unlaunched);
  stream.field(Column::kLedgerDeviceWork, ledger.device_work);
  stream.field(Column::kLedgerDropped, ledger.dropped);
}

}  // namespace interlace::trace::ilt
