#include "cupti_collector/trace_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "simulator/trace/limits.hpp"

namespace interlace::collector {

namespace {

using trace::MemorySpace;
using trace::OperationKind;
using trace::SyncKind;

constexpr unsigned kContextShift = 32;

/// The least that PyTorch's allocator takes for a request.
Bytes least_block(Bytes requested) {
  constexpr Bytes kStep = 512;
  return std::max(kStep, (requested + kStep - 1) / kStep * kStep);
}

MemorySpace space_of(MemoryClass memory) {
  switch (memory) {
    case MemoryClass::kPageable: return MemorySpace::kPageable;
    case MemoryClass::kPinned: return MemorySpace::kPinned;
    case MemoryClass::kDevice:
    case MemoryClass::kArray: return MemorySpace::kDevice;
    case MemoryClass::kManaged: return MemorySpace::kManaged;
    case MemoryClass::kUnknown: break;
  }
  return MemorySpace::kUnknown;
}

SyncKind sync_kind(CallRole role, std::string_view name) {
  switch (role) {
    case CallRole::kEventRecord: return SyncKind::kEventRecord;
    case CallRole::kStreamWait: return SyncKind::kStreamWaitEvent;
    case CallRole::kQuery: return SyncKind::kEventQuery;
    case CallRole::kSync: break;
    default: return SyncKind::kUnknown;
  }
  if (name.find("Event") != std::string_view::npos) return SyncKind::kEventSync;
  return name.find("Stream") != std::string_view::npos ? SyncKind::kStreamSync : SyncKind::kDeviceSync;
}

SyncKind sync_kind(SyncType type) {
  switch (type) {
    case SyncType::kEvent: return SyncKind::kEventSync;
    case SyncType::kStreamWait: return SyncKind::kStreamWaitEvent;
    case SyncType::kStream: return SyncKind::kStreamSync;
    case SyncType::kContext: return SyncKind::kDeviceSync;
    case SyncType::kUnknown: break;
  }
  return SyncKind::kUnknown;
}

std::optional<OperationKind> sync_operation(CallRole role) {
  switch (role) {
    case CallRole::kEventRecord: return OperationKind::kEventRecord;
    case CallRole::kStreamWait: return OperationKind::kStreamWait;
    case CallRole::kSync: return OperationKind::kHostSync;
    case CallRole::kQuery: return OperationKind::kHostCall;
    default: return std::nullopt;
  }
}

std::optional<std::int64_t> to_signed(std::optional<std::uint64_t> value) {
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

}  // namespace

TraceRows::TraceRows(trace::IltWriter& writer, trace::RankId rank, Source source, LaunchLedger& ledger)
    : writer_(writer),
      rank_(rank),
      source_(std::move(source)),
      ledger_(ledger),
      memory_name_(writer.intern("[memory]")) {}

const TraceRows::CachedCall& TraceRows::cached(ApiDomain domain, std::uint32_t function) {
  auto& calls = calls_[static_cast<std::size_t>(domain)];
  // A number beyond any API is damage; it shares one place.
  constexpr std::uint32_t kMostFunctions = 1U << 16U;
  const std::size_t index = std::min(function, kMostFunctions);
  if (index >= calls.size()) calls.resize(index + 1);
  if (!calls[index]) {
    const CallTable::Call call = source_.call(domain, function);
    calls[index] = CachedCall{writer_.intern(call.name), call.role, sync_kind(call.role, call.name)};
  }
  return *calls[index];
}

trace::StringId TraceRows::name_of_program(std::string_view name) {
  if (const auto known = writer_.known(name)) return *known;
  const auto bytes = static_cast<Bytes>(name.size());
  if (program_names_ >= source_.most_names || program_name_bytes_ + bytes > source_.most_name_bytes) {
    ++left_out_names_;
    return writer_.intern("(other names)");
  }
  ++program_names_;
  program_name_bytes_ += bytes;
  return writer_.intern(name);
}

trace::LaneId TraceRows::thread_lane(std::int64_t thread) {
  const auto known = thread_lanes_.find(thread);
  if (known != thread_lanes_.end()) return known->second;
  const trace::LaneId lane = writer_.lane(trace::LaneKind::kHostThread, rank_, source_.process, thread);
  const std::string name = source_.thread_name(thread);
  if (!name.empty()) writer_.name_lane(lane, name);
  thread_lanes_.emplace(thread, lane);
  return lane;
}

trace::LaneId TraceRows::stream_lane(std::uint32_t device, StreamKey key) {
  const auto known = stream_lanes_.find(key);
  if (known != stream_lanes_.end()) return known->second;
  // Streams are numbered within their context; a second context's need other numbers.
  const auto owner = context_of_number_.try_emplace({device, key.stream}, key.context).first->second;
  std::int64_t number = key.stream;
  if (owner != key.context) number += std::int64_t{key.context} << kContextShift;
  const trace::LaneId lane = writer_.lane(trace::LaneKind::kStream, rank_, device, number);
  stream_lanes_.emplace(key, lane);
  if (const auto facts = streams_.find(key); facts != streams_.end()) describe_stream(lane, facts->second);
  if (const auto handle = handles_.find(key); handle != handles_.end()) writer_.set_handle(lane, handle->second);
  learn_device(key.context, device);
  return lane;
}

void TraceRows::describe_stream(trace::LaneId lane, const StreamRecord& stream) {
  writer_.set_priority(lane, stream.priority);
  switch (stream.flag) {
    case StreamFlag::kNull: writer_.name_lane(lane, "default"); break;
    case StreamFlag::kBlocking: writer_.name_lane(lane, "blocking"); break;
    case StreamFlag::kNonBlocking: writer_.name_lane(lane, "non-blocking"); break;
    case StreamFlag::kUnknown: break;
  }
}

void TraceRows::learn_device(std::uint32_t context, std::uint32_t device) {
  if (!device_of_context_.try_emplace(context, device).second) return;
  for (WaitingFact& waiting : std::exchange(waiting_, {})) write_fact(waiting.fact, waiting.stream);
}

void TraceRows::write_fact(trace::SyncFact fact, std::optional<StreamKey> stream) {
  if (stream) {
    const auto device = device_of_context_.find(stream->context);
    if (device == device_of_context_.end()) {
      waiting_.push_back({fact, *stream});
      return;
    }
    fact.stream = stream_lane(device->second, *stream);
  }
  writer_.add_sync_fact(fact);
}

void TraceRows::stopped(Nanoseconds time) {
  stopped_at_ = time;
  edge_ends_ = std::numeric_limits<std::int64_t>::max();
}

void TraceRows::resumed() {
  constexpr std::int64_t kRoundsOfAnEdge = 5;
  if (!stopped_at_) return;
  stopped_at_.reset();
  first_call_.reset();
  edge_ends_ = rounds_ + kRoundsOfAnEdge;
}

template <class Record>
bool TraceRows::has_to_wait(const Record& record) {
  if (rounds_ >= edge_ends_ || is_settling_) return false;
  const std::int64_t correlation = correlations_.widen(record.correlation);
  if (ledger_.knows_call(correlation)) return false;
  at_edge_.push_back({record, correlation, rounds_});
  return true;
}

bool TraceRows::is_left_out(std::int64_t correlation, std::uint64_t start) const {
  const bool is_after = stopped_at_ && static_cast<Nanoseconds>(start) > *stopped_at_;
  return is_after || !first_call_ || correlation < *first_call_;
}

void TraceRows::settle_edge() {
  ++rounds_;
  is_settling_ = true;
  std::vector<Waiting> left;
  for (Waiting& waiting : std::exchange(at_edge_, {})) {
    const auto start = std::visit([](const auto& work) { return work.start; }, waiting.work);
    if (ledger_.knows_call(waiting.correlation)) {
      std::visit([this](const auto& work) { on(work); }, waiting.work);
    } else if (waiting.round + 1 >= rounds_) {
      left.push_back(std::move(waiting));  // its call may come with the next buffers
    } else if (!is_left_out(waiting.correlation, start)) {
      std::visit([this](const auto& work) { on(work); }, waiting.work);
    }
  }
  at_edge_ = std::move(left);
  is_settling_ = false;
}

template <class Record>
std::optional<trace::IltWriter::Common> TraceRows::device_work(const Record& record) {
  const std::int64_t correlation = correlations_.widen(record.correlation);
  const bool is_timed = record.start != 0 && record.end >= record.start;
  ledger_.work(correlation, is_timed);
  if (!is_timed) return std::nullopt;
  trace::IltWriter::Common common;
  common.lane = stream_lane(record.device, {record.context, record.stream});
  common.start = static_cast<Nanoseconds>(record.start);
  common.duration = static_cast<Nanoseconds>(record.end - record.start);
  common.correlation = correlation;
  return common;
}

namespace {

// What a damaged record says, or a program that asks for more memory than there is, would make readers refuse the file,
// and all else in it.

std::array<std::int32_t, 3> within(const std::array<std::int32_t, 3>& told, const std::array<std::int32_t, 3>& most) {
  std::array<std::int32_t, 3> sound{};
  for (std::size_t i = 0; i < sound.size(); ++i) sound[i] = std::clamp(told[i], 1, most[i]);
  return sound;
}

std::int64_t amount(std::int64_t told) { return std::clamp<std::int64_t>(told, 0, trace::kLargestAmount); }

std::optional<Bytes> total(const std::optional<Bytes>& told) {
  return told ? std::optional(std::clamp(*told, -trace::kLargestAmount, trace::kLargestAmount)) : std::nullopt;
}

trace::KernelDetail detail_of(const KernelRecord& kernel) {
  trace::KernelDetail detail;
  detail.grid = within(kernel.grid, trace::kLargestGrid);
  detail.block = within(kernel.block, trace::kLargestBlock);
  detail.registers_per_thread = kernel.registers;
  detail.shared_memory = amount(kernel.shared_bytes);
  detail.graph_node = to_signed(kernel.graph_node);
  return detail;
}

}  // namespace

void TraceRows::on(const KernelRecord& kernel) {
  if (has_to_wait(kernel)) return;
  const KernelNames::Known& name = kernel_names_.find(kernel.name, writer_);
  if (name.function) {
    WaitingCollective collective{kernel, name.id, *name.function, rounds_};
    // NCCL says nothing of what a graph launches.
    if (collectives_.is_used() && !kernel.graph_node) {
      waiting_collectives_.push_back(collective);
    } else {
      write_collective(collective, std::nullopt);
    }
    return;
  }
  auto common = device_work(kernel);
  if (!common) return;
  common->name = name.id;
  writer_.add_kernel(*common, detail_of(kernel));
}

void TraceRows::write_collective(const WaitingCollective& waiting, const std::optional<CollectiveFacts>& facts) {
  auto common = device_work(waiting.kernel);
  if (!common) return;
  common->name = waiting.name;
  trace::CollectiveDetail detail;
  if (facts) {
    detail.function = facts->function;
    detail.name = writer_.intern(facts->name);
    detail.dtype = writer_.intern(facts->dtype);
    detail.group = writer_.intern(facts->group);
    detail.in_elements = amount(facts->in_elements);
    detail.out_elements = amount(facts->out_elements);
    detail.group_size = facts->group_size;
    detail.sequence = facts->sequence;
    detail.element_bytes = facts->element_bytes;
    detail.channels = facts->channels;
    detail.in_buffer = facts->in_buffer;
    detail.out_buffer = facts->out_buffer;
    detail.part_alignment = facts->part_alignment;
    detail.own_part_alignment = facts->own_part_alignment;
  } else {
    detail.function = waiting.function;
    detail.name = writer_.intern(collective_name(waiting.function));
    detail.dtype = detail.group = writer_.intern("");
    ++undescribed_;
  }
  writer_.add_collective(*common, detail_of(waiting.kernel), detail);
}

void TraceRows::settle_collectives(bool all) {
  constexpr std::int64_t kMostRounds = 50;
  constexpr int kLastRounds = 8;
  for (int i = 0; i < (all ? kLastRounds : 1); ++i) collectives_.settle();
  std::erase_if(waiting_collectives_, [&](const WaitingCollective& waiting) {
    const auto facts = collectives_.take(correlations_.widen(waiting.kernel.correlation));
    if (!facts && !all && rounds_ - waiting.round < kMostRounds) return false;
    write_collective(waiting, facts);
    return true;
  });
}

void TraceRows::on(const CopyRecord& copy) {
  if (has_to_wait(copy)) return;
  auto common = device_work(copy);
  if (!common) return;
  // What the name is made of.
  const std::uint32_t key = (copy.is_memset ? 1U << 24U : 0U) | std::uint32_t{copy.direction} << 16U |
                            static_cast<std::uint32_t>(copy.source) << 8U |
                            static_cast<std::uint32_t>(copy.destination);
  const auto known = copy_names_.find(key);
  common->name = known != copy_names_.end() ? known->second
                                            : copy_names_.emplace(key, writer_.intern(copy_name(copy))).first->second;
  constexpr std::uint8_t kPeerToPeer = 10;
  trace::CopyDetail detail;
  detail.bytes = amount(copy.bytes);
  detail.source = copy.is_memset ? MemorySpace::kDevice : space_of(copy.source);
  detail.destination = space_of(copy.destination);
  detail.peer = !copy.is_memset && copy.direction == kPeerToPeer;
  if (copy.is_memset) {
    writer_.add_memset(*common, detail);
  } else {
    writer_.add_copy(*common, detail);
  }
}

void TraceRows::on(const GraphRecord& graph) {
  if (has_to_wait(graph)) return;
  auto common = device_work(graph);
  if (!common) return;
  common->name = name_of_program("CUDA graph " + std::to_string(graph.graph));
  writer_.add_kernel(*common, {});
}

void TraceRows::account(const CallRecord& call, CallRole role, std::int64_t correlation) {
  const bool succeeded = call.result == 0;
  if (succeeded && (role == CallRole::kLaunch || role == CallRole::kCopy)) {
    ledger_.call(correlation, role == CallRole::kLaunch);
  }
  if (succeeded && role == CallRole::kBeginCapture) captures_.begin(call.domain, call.thread, correlation);
  if (role == CallRole::kEndCapture) {  // one that fails ends the capture all the same
    if (const auto begin = captures_.end(call.domain, call.thread)) ledger_.capture(*begin, correlation);
  }
}

void TraceRows::on(const CallRecord& call) {
  const CachedCall& known = cached(call.domain, call.function);
  const std::int64_t correlation = correlations_.widen(call.correlation);
  const bool succeeded = call.result == 0;
  account(call, known.role, correlation);
  if (!first_call_ || correlation < *first_call_) first_call_ = correlation;
  if (known.role == CallRole::kMemory) memory_.call(correlation, call.thread);
  trace::Note note;
  const auto external = externals_.extract(correlation);
  if (call.start == 0 || call.end < call.start) {  // CUPTI could not collect its times
    ++untimed_;
    if (external) ++left_out_externals_;
    return;
  }
  if (collectives_.is_used()) {
    const auto end = static_cast<Nanoseconds>(call.end);
    if (succeeded && known.role == CallRole::kLaunch) collectives_.launch(call.thread, end, correlation);
    collectives_.called(call.thread, end);
  }
  if (external) note.external = external.mapped();
  const trace::IltWriter::Common common{.lane = thread_lane(call.thread),
                                        .name = known.name,
                                        .start = static_cast<Nanoseconds>(call.start),
                                        .duration = static_cast<Nanoseconds>(call.end - call.start),
                                        .correlation = correlation,
                                        .note = external ? &note : nullptr};
  const auto sync = sync_operation(known.role);
  // A query that found work undone orders nothing.
  if (sync && (succeeded || known.role != CallRole::kQuery)) {
    writer_.add_sync(*sync, common, {.kind = known.sync});
  } else {
    writer_.add_host_call(common);
  }
}

void TraceRows::on(const EventRecord& event) {
  if (event.device) learn_device(event.context, *event.device);
  write_fact({.rank = rank_,
              .correlation = correlations_.widen(event.correlation),
              .kind = SyncKind::kEventRecord,
              .event = event.event,
              .record = to_signed(event.number)},
             StreamKey{event.context, event.stream});
}

void TraceRows::on(const SyncRecord& sync) {
  std::optional<StreamKey> stream;
  if (sync.stream) stream = StreamKey{sync.context, *sync.stream};
  write_fact({.rank = rank_,
              .correlation = correlations_.widen(sync.correlation),
              .kind = sync_kind(sync.type),
              .event = sync.event ? std::optional<std::int64_t>(*sync.event) : std::nullopt,
              .record = to_signed(sync.number)},
             stream);
}

void TraceRows::on(const StreamRecord& stream) {
  const StreamKey key{stream.context, stream.stream};
  streams_.insert_or_assign(key, stream);
  if (const auto lane = stream_lanes_.find(key); lane != stream_lanes_.end()) describe_stream(lane->second, stream);
}

void TraceRows::on(const ContextRecord& context) {
  first_context_.try_emplace(context.device, context);
  stream_made({context.context, context.null_stream, 0});
  learn_device(context.context, context.device);
}

void TraceRows::stream_made(const StreamMade& stream) {
  const StreamKey key{stream.context, stream.stream};
  handles_.insert_or_assign(key, stream.handle);
  stream_of_handle_.insert_or_assign({stream.context, stream.handle}, key);
  if (const auto lane = stream_lanes_.find(key); lane != stream_lanes_.end()) {
    writer_.set_handle(lane->second, stream.handle);
  }
}

std::optional<trace::LaneId> TraceRows::lane_of_handle(std::uint32_t device, std::uint64_t handle) {
  const auto context = first_context_.find(device);
  if (context == first_context_.end()) return std::nullopt;
  constexpr std::uint64_t kLegacyStream = 1;  // cudaStreamLegacy is the default stream by another name
  const auto stream =
      stream_of_handle_.find({context->second.context, handle == kLegacyStream ? std::uint64_t{0} : handle});
  if (stream == stream_of_handle_.end()) return std::nullopt;
  return stream_lane(device, stream->second);
}

void TraceRows::allocator_event(const AllocatorRow& row) {
  using enum trace::AllocationAction;
  const hook::Event& event = row.event;
  trace::AllocationDetail detail;
  detail.address = event.address;
  detail.bytes = static_cast<Bytes>(std::min<std::uint64_t>(event.bytes, trace::kLargestAmount));
  bool is_of_block = false;
  switch (event.action) {
    case hook::Action::kAlloc:
      detail.action = kAlloc;
      is_of_block = true;
      break;
    case hook::Action::kFreeRequested:
      detail.action = kFreeRequested;
      is_of_block = true;
      break;
    case hook::Action::kFreeCompleted:
      detail.action = kFreeCompleted;
      is_of_block = true;
      break;
    case hook::Action::kSegmentAlloc: detail.action = kSegmentAlloc; break;
    case hook::Action::kSegmentFree: detail.action = kSegmentFree; break;
    case hook::Action::kSegmentMap: detail.action = kSegmentMap; break;
    case hook::Action::kSegmentUnmap: detail.action = kSegmentUnmap; break;
    case hook::Action::kOutOfMemory: detail.action = kOutOfMemory; break;
    case hook::Action::kRecordStream: detail.action = kRecordStream; break;
    case hook::Action::kSnapshot: return;
  }
  if (is_of_block) {
    detail.requested = detail.bytes;
    detail.bytes = row.block.value_or(least_block(detail.bytes));
    detail.knows_block = row.block.has_value();
  } else if (detail.action == kRecordStream) {
    detail.bytes = row.block.value_or(0);
    detail.knows_block = row.block.has_value();
  }
  detail.total_allocated = total(row.allocated);
  detail.total_reserved = total(row.reserved);
  detail.stream_handle = event.stream;
  if (event.device >= 0) detail.stream = lane_of_handle(static_cast<std::uint32_t>(event.device), event.stream);
  writer_.add_allocation({.lane = thread_lane(row.thread), .name = memory_name_, .start = row.time}, detail);
}

void TraceRows::on(const DeviceRecord&) {}  // stands in the rank, which is written first

void TraceRows::on(const OverheadRecord& overhead) {
  if (overhead.start == 0 || overhead.end < overhead.start || !overhead.thread) return;
  writer_.add_range({.lane = thread_lane(*overhead.thread),
                     .name = writer_.intern(overhead_name(overhead.kind)),
                     .start = static_cast<Nanoseconds>(overhead.start),
                     .duration = static_cast<Nanoseconds>(overhead.end - overhead.start)},
                    {.kind = trace::RangeKind::kProfilerOverhead});
}

/// CUPTI tells of them before the call.
void TraceRows::on(const ExternalRecord& external) {
  constexpr std::size_t kMostWaiting = 1U << 16U;
  const std::int64_t correlation = correlations_.widen(external.correlation);
  if (!externals_.try_emplace(correlation, trace::ExternalId{external.kind, external.id}).second) {
    ++left_out_externals_;
  }
  for (; externals_.size() > kMostWaiting; ++left_out_externals_) externals_.erase(externals_.begin());
}

void TraceRows::on(const AllocationRecord& allocation) {
  memory_.add(allocation, correlations_.widen(allocation.correlation));
}

void TraceRows::write_memory(bool all) {
  for (const DriverMemory::Event& event : memory_.take(all)) {
    const AllocationRecord& record = event.record;
    const bool is_on_host = record.memory == MemoryClass::kPageable || record.memory == MemoryClass::kPinned;
    if (has_allocator_ && !is_on_host) {
      ++left_out_memory_;
      continue;
    }
    if (record.time == 0) {  // what it gave or took counts in the totals all the same
      ++untimed_;
      continue;
    }
    using enum trace::AllocationAction;
    trace::AllocationDetail detail;
    // Memory of the driver itself is to the program's allocator a segment; that of the driver's pools, a block.
    if (record.stream) {
      detail.action = record.is_release ? kFree : kAlloc;
      detail.stream = stream_lane(record.device, {record.context, *record.stream});
    } else {
      detail.action = record.is_release ? kSegmentFree : kSegmentAlloc;
    }
    detail.address = record.address;
    detail.bytes = amount(record.bytes);
    detail.total_reserved = total(event.total);
    detail.on_device = !is_on_host;
    const trace::LaneId lane = thread_lane(event.thread.value_or(source_.process));
    writer_.add_allocation({.lane = lane, .name = memory_name_, .start = static_cast<Nanoseconds>(record.time)},
                           detail);
  }
}

void TraceRows::settle() {
  settle_edge();
  settle_collectives(false);
  write_memory(false);
}

void TraceRows::range(const NamedRange& range) {
  trace::Note note{.payload = range.payload, .is_open = range.is_open};
  if (!range.category.empty()) note.category = name_of_program(range.category);
  // What a range without an end divides is not known.
  const bool divides = !range.is_of_library && !range.is_open;
  const auto named = range.is_operator ? trace::RangeKind::kCpuOp : trace::RangeKind::kAnnotation;
  writer_.add_range({.lane = thread_lane(range.thread),
                     .name = name_of_program(range.name),
                     .start = range.start,
                     .duration = range.end - range.start,
                     .note = note == trace::Note() ? nullptr : &note},
                    {.kind = divides ? named : trace::RangeKind::kOther,
                     .sequence_number = range.sequence_number,
                     .forward_thread = range.forward_thread,
                     .forward_op = std::nullopt});
}

void TraceRows::name_thread(std::int64_t thread, std::string_view name) {
  writer_.name_lane(thread_lane(thread), name);
}

void TraceRows::finish() {
  settle_edge();
  settle_edge();
  settle_collectives(true);
  write_memory(true);
  if (const auto begin = captures_.first_open()) ledger_.capture(*begin, std::numeric_limits<std::int64_t>::max());
  for (const WaitingFact& waiting : std::exchange(waiting_, {})) writer_.add_sync_fact(waiting.fact);
  left_out_externals_ += static_cast<std::int64_t>(std::exchange(externals_, {}).size());
}

}  // namespace interlace::collector
