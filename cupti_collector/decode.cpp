#include "cupti_collector/decode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace interlace::collector {

namespace {

/// CUPTI's mark for "no such thing"; written as 32 bits also into wider fields.
constexpr std::uint64_t kNone = CUPTI_SYNCHRONIZATION_INVALID_VALUE;

/// A record's bytes, which may be fewer than the struct of our headers has.
struct RawRecord {
  const CUpti_Activity* at = nullptr;
  std::size_t bytes = 0;

  /// A copy; fields that the record lacks are zero.
  template <class Struct>
  [[nodiscard]] Struct as() const {
    static_assert(std::is_trivially_copyable_v<Struct>);
    Struct copy{};
    std::memcpy(&copy, at, std::min(bytes, sizeof(copy)));
    return copy;
  }
};

std::optional<std::uint32_t> unless_none(std::uint32_t value) {
  return value == kNone ? std::nullopt : std::optional(value);
}

/// An event that was never recorded has number 0; old libraries have no numbers, which reads as 0 too.
std::optional<std::uint64_t> record_number(std::uint64_t value) {
  return value == 0 || value == kNone || value == UINT64_MAX ? std::nullopt : std::optional(value);
}

std::optional<std::uint64_t> graph_node(std::uint64_t node) { return node == 0 ? std::nullopt : std::optional(node); }

MemoryClass memory_class(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return MemoryClass::kPageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return MemoryClass::kPinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC: return MemoryClass::kDevice;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY: return MemoryClass::kArray;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC: return MemoryClass::kManaged;
    default: return MemoryClass::kUnknown;
  }
}

void give(const CUpti_ActivityKernel10& raw, RecordSink& sink) {
  sink.on(KernelRecord{.start = raw.start,
                       .end = raw.end,
                       .device = raw.deviceId,
                       .context = raw.contextId,
                       .stream = raw.streamId,
                       .correlation = raw.correlationId,
                       .name = raw.name,
                       .grid = {raw.gridX, raw.gridY, raw.gridZ},
                       .block = {raw.blockX, raw.blockY, raw.blockZ},
                       .registers = raw.registersPerThread,
                       .shared_bytes = std::int64_t{raw.staticSharedMemory} + raw.dynamicSharedMemory,
                       .graph_node = graph_node(raw.graphNodeId)});
}

/// What copies of all kinds, and memsets, say alike.
template <class Raw>
CopyRecord copy_of(const Raw& raw) {
  CopyRecord copy;
  copy.start = raw.start;
  copy.end = raw.end;
  copy.device = raw.deviceId;
  copy.context = raw.contextId;
  copy.stream = raw.streamId;
  copy.correlation = raw.correlationId;
  copy.bytes = static_cast<std::int64_t>(raw.bytes);
  copy.graph_node = graph_node(raw.graphNodeId);
  return copy;
}

void give(const CUpti_ActivityMemcpy6& raw, RecordSink& sink) {
  CopyRecord copy = copy_of(raw);
  copy.direction = raw.copyKind;
  copy.source = memory_class(raw.srcKind);
  copy.destination = memory_class(raw.dstKind);
  sink.on(copy);
}

void give(const CUpti_ActivityMemcpyPtoP4& raw, RecordSink& sink) {
  CopyRecord copy = copy_of(raw);
  copy.direction = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  copy.source = memory_class(raw.srcKind);
  copy.destination = memory_class(raw.dstKind);
  sink.on(copy);
}

void give(const CUpti_ActivityMemset4& raw, RecordSink& sink) {
  CopyRecord memset = copy_of(raw);
  memset.is_memset = true;
  memset.destination = memory_class(raw.memoryKind);
  sink.on(memset);
}

void give(const CUpti_ActivityGraphTrace2& raw, RecordSink& sink) {
  sink.on(GraphRecord{.start = raw.start,
                      .end = raw.end,
                      .device = raw.deviceId,
                      .context = raw.contextId,
                      .stream = raw.streamId,
                      .correlation = raw.correlationId,
                      .graph = raw.graphId});
}

void give(const CUpti_ActivityAPI& raw, RecordSink& sink) {
  sink.on(CallRecord{.domain = raw.kind == CUPTI_ACTIVITY_KIND_DRIVER ? ApiDomain::kDriver : ApiDomain::kRuntime,
                     .function = raw.cbid,
                     .start = raw.start,
                     .end = raw.end,
                     .process = raw.processId,
                     .thread = raw.threadId,
                     .correlation = raw.correlationId,
                     .result = raw.returnValue});
}

void give(const CUpti_ActivityCudaEvent2& raw, RecordSink& sink) {
  EventRecord event{.correlation = raw.correlationId,
                    .context = raw.contextId,
                    .stream = raw.streamId,
                    .event = raw.eventId,
                    .device = std::nullopt,
                    .number = record_number(raw.cudaEventSyncId)};
  // Number and device came with one version: without the first, the second is no device 0.
  if (event.number) event.device = raw.deviceId;
  sink.on(event);
}

void give(const CUpti_ActivitySynchronization2& raw, RecordSink& sink) {
  SyncType type = SyncType::kUnknown;
  switch (raw.type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE: type = SyncType::kEvent; break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT: type = SyncType::kStreamWait; break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE: type = SyncType::kStream; break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE: type = SyncType::kContext; break;
    default: break;
  }
  sink.on(SyncRecord{.type = type,
                     .correlation = raw.correlationId,
                     .context = raw.contextId,
                     .stream = unless_none(raw.streamId),
                     .event = unless_none(raw.cudaEventId),
                     .number = record_number(raw.cudaEventSyncId)});
}

void give(const CUpti_ActivityStream& raw, RecordSink& sink) {
  StreamFlag flag = StreamFlag::kUnknown;
  switch (raw.flag) {
    case CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT: flag = StreamFlag::kBlocking; break;
    case CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING: flag = StreamFlag::kNonBlocking; break;
    case CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL: flag = StreamFlag::kNull; break;
    default: break;
  }
  // CUDA's priorities are negative where urgent; CUPTI gives them in an unsigned field.
  sink.on(StreamRecord{.context = raw.contextId,
                       .stream = raw.streamId,
                       .priority = static_cast<std::int32_t>(raw.priority),
                       .flag = flag});
}

void give(const CUpti_ActivityContext3& raw, RecordSink& sink) {
  sink.on(ContextRecord{.context = raw.contextId, .device = raw.deviceId, .null_stream = raw.nullStreamId});
}

void give(const CUpti_ActivityDevice5& raw, RecordSink& sink) {
  sink.on(DeviceRecord{
      .device = raw.id,
      .name = raw.name,
      .compute_major = static_cast<std::int32_t>(raw.computeCapabilityMajor),
      .compute_minor = static_cast<std::int32_t>(raw.computeCapabilityMinor),
      .multiprocessors = static_cast<std::int32_t>(raw.numMultiprocessors),
      .threads_per_multiprocessor = static_cast<std::int32_t>(raw.maxWarpsPerMultiprocessor * raw.numThreadsPerWarp),
      .registers_per_multiprocessor = raw.maxRegistersPerMultiprocessor,
      .shared_bytes_per_multiprocessor = raw.maxSharedMemoryPerMultiprocessor,
      .memory_bytes = static_cast<std::int64_t>(raw.globalMemorySize)});
}

void give(const CUpti_ActivityOverhead3& raw, RecordSink& sink) {
  OverheadRecord overhead{
      .kind = static_cast<std::uint32_t>(raw.overheadKind), .start = raw.start, .end = raw.end, .thread = std::nullopt};
  if (raw.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) overhead.thread = raw.objectId.pt.threadId;
  sink.on(overhead);
}

void give(const CUpti_ActivityMemory4& raw, RecordSink& sink) {
  AllocationRecord allocation{.is_release = raw.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
                              .memory = memory_class(static_cast<std::uint32_t>(raw.memoryKind)),
                              .address = raw.address,
                              .bytes = static_cast<std::int64_t>(raw.bytes),
                              .time = raw.timestamp,
                              .device = raw.deviceId,
                              .context = raw.contextId,
                              .correlation = raw.correlationId,
                              .stream = std::nullopt};
  if (raw.isAsync != 0) allocation.stream = unless_none(raw.streamId);
  sink.on(allocation);
}

void give(const CUpti_ActivityExternalCorrelation& raw, RecordSink& sink) {
  trace::ExternalKind kind = trace::ExternalKind::kUnknown;
  switch (raw.externalKind) {
    case CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC: kind = trace::ExternalKind::kOpenAcc; break;
    case CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0: kind = trace::ExternalKind::kCustom0; break;
    case CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1: kind = trace::ExternalKind::kCustom1; break;
    case CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2: kind = trace::ExternalKind::kCustom2; break;
    default: break;
  }
  sink.on(ExternalRecord{.correlation = raw.correlationId, .kind = kind, .id = raw.externalId});
}

/// Gives a record that reaches at least to the end of what we cannot do without.
template <class Struct>
void give_if_long(const RawRecord& record, std::size_t needed_bytes, RecordSink& sink, DecodeResult& result) {
  if (record.bytes < needed_bytes) {
    ++result.too_short;
  } else {
    give(record.as<Struct>(), sink);
  }
}

/// The end of a field within its struct.
#define INTERLACE_END_OF(Struct, field) (offsetof(Struct, field) + sizeof(Struct::field))

void give_record(const RawRecord& record, RecordSink& sink, DecodeResult& result) {
  switch (record.at->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return give_if_long<CUpti_ActivityKernel10>(record, INTERLACE_END_OF(CUpti_ActivityKernel10, graphNodeId), sink,
                                                  result);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return give_if_long<CUpti_ActivityMemcpy6>(record, INTERLACE_END_OF(CUpti_ActivityMemcpy6, graphNodeId), sink,
                                                 result);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return give_if_long<CUpti_ActivityMemcpyPtoP4>(record, INTERLACE_END_OF(CUpti_ActivityMemcpyPtoP4, graphNodeId),
                                                     sink, result);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return give_if_long<CUpti_ActivityMemset4>(record, INTERLACE_END_OF(CUpti_ActivityMemset4, graphNodeId), sink,
                                                 result);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return give_if_long<CUpti_ActivityGraphTrace2>(record, INTERLACE_END_OF(CUpti_ActivityGraphTrace2, streamId),
                                                     sink, result);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return give_if_long<CUpti_ActivityAPI>(record, sizeof(CUpti_ActivityAPI), sink, result);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return give_if_long<CUpti_ActivityCudaEvent2>(record, INTERLACE_END_OF(CUpti_ActivityCudaEvent2, eventId), sink,
                                                    result);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return give_if_long<CUpti_ActivitySynchronization2>(
          record, INTERLACE_END_OF(CUpti_ActivitySynchronization2, cudaEventId), sink, result);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return give_if_long<CUpti_ActivityStream>(record, sizeof(CUpti_ActivityStream), sink, result);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return give_if_long<CUpti_ActivityContext3>(record, INTERLACE_END_OF(CUpti_ActivityContext3, nullStreamId), sink,
                                                  result);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return give_if_long<CUpti_ActivityDevice5>(record, INTERLACE_END_OF(CUpti_ActivityDevice5, name), sink, result);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return give_if_long<CUpti_ActivityOverhead3>(record, INTERLACE_END_OF(CUpti_ActivityOverhead3, end), sink,
                                                   result);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return give_if_long<CUpti_ActivityMemory4>(record, INTERLACE_END_OF(CUpti_ActivityMemory4, isAsync), sink,
                                                 result);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return give_if_long<CUpti_ActivityExternalCorrelation>(
          record, INTERLACE_END_OF(CUpti_ActivityExternalCorrelation, correlationId), sink, result);
    default: ++result.unknown;
  }
}

#undef INTERLACE_END_OF

}  // namespace

DecodeResult decode(const CuptiLibrary& cupti, std::uint8_t* buffer, std::size_t valid_bytes, RecordSink& sink,
                    Reading reading) {
  DecodeResult result;
  if (valid_bytes == 0) return result;
  CUpti_Activity* current = nullptr;
  CUptiResult status = cupti.get_next_record(buffer, valid_bytes, &current);
  while (status == CUPTI_SUCCESS) {
    CUpti_Activity* next = current;
    status = cupti.get_next_record(buffer, valid_bytes, &next);
    const std::uint8_t* end = status == CUPTI_SUCCESS ? reinterpret_cast<std::uint8_t*>(next) : buffer + valid_bytes;
    ++result.records;
    const RawRecord record{current, static_cast<std::size_t>(end - reinterpret_cast<std::uint8_t*>(current))};
    give_record(record, sink, result);
    if (reading == Reading::kLast && current->kind == CUPTI_ACTIVITY_KIND_OVERHEAD) {
      std::free(record.as<CUpti_ActivityOverhead3>().overheadData);  // CUPTI leaves it to the reader
    }
    current = next;
  }
  result.is_whole = status == CUPTI_ERROR_MAX_LIMIT_REACHED;
  return result;
}

}  // namespace interlace::collector
