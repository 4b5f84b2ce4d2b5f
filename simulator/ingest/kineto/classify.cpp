#include "simulator/ingest/kineto/classify.hpp"

#include <algorithm>
#include <limits>

#include "simulator/ingest/unless_none.hpp"
#include "simulator/trace/limits.hpp"

namespace interlace::ingest::kineto {

namespace {

using trace::RangeKind;
using trace::SyncKind;

/// Kineto moves the row of a stream's synchronisations aside by this much.
constexpr std::int64_t kSyncRowOffset = 1'000'000;

std::int32_t to_int32(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

/// A number for an id that is a text: FNV-1a, cut to 62 bits and set apart from real ids by the 63rd.
std::int64_t number_of_text(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return static_cast<std::int64_t>((hash >> 2U) | (std::uint64_t{1} << 62U));
}

std::optional<std::int64_t> lane_number(const RawEvent& event, Key key) {
  if (!event.has(key)) return 0;
  if (const auto number = event.integer(key)) return number;
  const auto number = parse_unsigned(event.text(key));  // thread ids of pthreads use all 64 bits
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::int64_t lane_part(const RawEvent& event, Key key) {
  const auto number = lane_number(event, key);
  return number ? *number : number_of_text(event.text(key));
}

/// Process and thread of an event. Where the thread is a text, the lane is named so.
void set_lane(const RawEvent& event, std::size_t byte, Span& span, EventTable& table) {
  const auto process = lane_number(event, Key::kProcess);
  const auto number = lane_number(event, Key::kThread);
  span.process = process ? *process : number_of_text(event.text(Key::kProcess));
  span.number = number ? *number : number_of_text(event.text(Key::kThread));
  if (!process || !number) table.named_lanes.add(byte);
  if (number) return;
  const LaneNameEvent name{span.process, span.number, table.texts.add(event.text(Key::kThread)), false};
  if (table.lane_names.empty() || table.lane_names.back() != name) table.lane_names.push_back(name);
}

/// None without a time, or without a duration where `duration` is none.
std::optional<Span> span_of(const RawEvent& event, std::optional<Nanoseconds> duration, std::size_t byte,
                            EventTable& table) {
  const auto start = parse_microseconds(event.text(Key::kTime));
  if (!start || !duration) return std::nullopt;
  Span span{*start, *duration, 0, 0, table.texts.add(event.text(Key::kName))};
  set_lane(event, byte, span, table);
  return span;
}

/// Of an event that lasts. It may last for nothing, but it must say so: work of unknown length is lost.
std::optional<Span> lasting_span_of(const RawEvent& event, std::size_t byte, EventTable& table) {
  return span_of(event, parse_microseconds(event.text(Key::kDuration)), byte, table);
}

/// The same, on the stream that did it.
std::optional<Span> device_span_of(const RawEvent& event, std::size_t byte, EventTable& table) {
  auto span = lasting_span_of(event, byte, table);
  if (!span) return span;
  const auto device = event.integer(event.has(Key::kDevice) ? Key::kDevice : Key::kInDevice);
  if (device) span->process = *device;
  if (const auto stream = event.integer(Key::kStream)) span->number = *stream;
  return span;
}

/// A size or a number of elements: 0 where absent, none where it is negative or too large.
std::optional<std::int64_t> amount(const RawEvent& event, Key key) {
  if (!event.has(key)) return 0;
  const auto value = event.integer(key);
  return value && *value >= 0 && *value <= trace::kLargestAmount ? value : std::nullopt;
}

/// What allocations come to; none where that is too much.
std::optional<Bytes> total(const RawEvent& event, Key key) {
  const auto value = event.integer(key);
  return value && *value >= -trace::kLargestAmount && *value <= trace::kLargestAmount ? value : std::nullopt;
}

/// Those of a list in full; PyTorch cuts long ones short.
std::vector<std::int64_t> integers(const RawEvent& event, Key key) {
  return parse_integers(event.text(key)).value_or(std::vector<std::int64_t>{});
}

bool add_kernel(const RawEvent& event, const Span& span, EventTable& table) {
  const auto shared_memory = amount(event, Key::kSharedMemory);
  const auto in_elements = amount(event, Key::kInElements);
  const auto out_elements = amount(event, Key::kOutElements);
  if (!shared_memory || !in_elements || !out_elements) return false;
  KernelEvent kernel{span, event.integer(Key::kCorrelation), {}, std::nullopt};
  kernel.detail.grid = event.grid;
  kernel.detail.block = event.block;
  kernel.detail.registers_per_thread = to_int32(event.integer(Key::kRegisters).value_or(0));
  kernel.detail.shared_memory = *shared_memory;
  if (const auto blocks = event.integer(Key::kActiveBlocks)) kernel.detail.blocks_per_sm_limit = to_int32(*blocks);
  if (const auto priority = event.integer(Key::kPriority)) kernel.detail.priority = to_int32(*priority);
  if (const auto node = event.integer(Key::kGraphNode); node && *node != 0) kernel.detail.graph_node = node;
  if (event.has(Key::kCollectiveName)) {
    kernel.collective = static_cast<std::uint32_t>(table.collectives.size());
    table.collectives.push_back({table.texts.add(event.text(Key::kCollectiveName)),
                                 table.texts.add(event.text(Key::kDtype)), table.texts.add(event.text(Key::kGroupName)),
                                 *in_elements, *out_elements, to_int32(event.integer(Key::kGroupSize).value_or(0)),
                                 event.integer(Key::kSequence), integers(event, Key::kInSplits),
                                 integers(event, Key::kOutSplits), integers(event, Key::kGroupRanks)});
  }
  table.kernels.push_back(kernel);
  return true;
}

bool add_copy(const RawEvent& event, const Span& span, bool is_memset, EventTable& table) {
  const auto bytes = amount(event, Key::kBytes);
  if (!bytes) return false;
  table.copies.push_back({span, event.integer(Key::kCorrelation), *bytes, is_memset});
  return true;
}

SyncKind sync_kind_of(std::string_view text) {
  if (text == "Event Sync") return SyncKind::kEventSync;
  if (text == "Stream Wait Event") return SyncKind::kStreamWaitEvent;
  if (text == "Stream Sync") return SyncKind::kStreamSync;
  if (text == "Context Sync") return SyncKind::kDeviceSync;
  return SyncKind::kUnknown;
}

bool add_sync(const RawEvent& event, bool is_record, EventTable& table) {
  const auto correlation = event.integer(Key::kCorrelation);
  if (!correlation) return false;
  SyncEvent sync{*correlation, SyncKind::kEventRecord, 0, {}, {}, {}, {}};
  const auto device = event.integer(Key::kDevice);
  sync.device = device ? *device : lane_part(event, Key::kProcess);
  sync.stream = unless_none(event.integer(Key::kStream));
  if (!event.has(Key::kStream)) {
    sync.stream = unless_none(event.integer(Key::kThread));
    if (sync.stream && *sync.stream >= kSyncRowOffset) *sync.stream -= kSyncRowOffset;
  }
  if (is_record) {
    sync.event = unless_none(event.integer(Key::kEventId));
  } else {
    sync.kind = sync_kind_of(event.has(Key::kSyncKind) ? event.text(Key::kSyncKind) : event.text(Key::kName));
    sync.event = unless_none(event.integer(Key::kWaitOnEvent));
    sync.record_correlation = unless_none(event.integer(Key::kWaitOnRecord));
    sync.record_stream = unless_none(event.integer(Key::kWaitOnStream));
  }
  table.syncs.push_back(sync);
  return true;
}

void add_range(const RawEvent& event, const Span& span, RangeKind kind, std::vector<RangeEvent>& ranges) {
  RangeEvent range{span, {}};
  range.detail.kind = kind;
  range.detail.sequence_number = event.integer(Key::kSequenceNumber);
  range.detail.forward_thread = event.integer(Key::kForwardThread);
  ranges.push_back(range);
}

bool add_instant(const RawEvent& event, std::size_t byte, EventTable& table) {
  const std::string_view name = event.text(Key::kName);
  const bool is_out_of_memory = name == "[OutOfMemory]";
  if (name != "[memory]" && !is_out_of_memory) {
    table.ignored["cpu_instant_event"].add(byte);
    return true;
  }
  const auto span = span_of(event, Nanoseconds{0}, byte, table);
  const auto bytes = event.integer(Key::kMemoryBytes);
  if (!span || !bytes || *bytes < -trace::kLargestAmount || *bytes > trace::kLargestAmount) return false;
  AllocationEvent allocation{*span, {}};
  trace::AllocationDetail& detail = allocation.detail;
  detail.action = is_out_of_memory ? trace::AllocationAction::kOutOfMemory
                  : *bytes < 0     ? trace::AllocationAction::kFree
                                   : trace::AllocationAction::kAlloc;
  detail.bytes = *bytes < 0 ? -*bytes : *bytes;
  const std::string_view address = event.text(Key::kAddress);
  if (const auto number = parse_unsigned(address)) {
    detail.address = *number;
  } else if (const auto signed_number = parse_integer(address)) {
    detail.address = static_cast<std::uint64_t>(*signed_number);
  }
  detail.total_allocated = total(event, Key::kTotalAllocated);
  detail.total_reserved = total(event, Key::kTotalReserved);
  detail.on_device = event.integer(Key::kDeviceType).value_or(1) != 0;
  table.allocations.push_back(allocation);
  return true;
}

void tally_ignored(std::string_view what, std::size_t byte, EventTable& table) {
  const auto known = table.ignored.find(what);
  (known == table.ignored.end() ? table.ignored[std::string(what)] : known->second).add(byte);
}

/// False where the event lacks what its category needs.
bool add_complete(const RawEvent& event, Category category, std::size_t byte, EventTable& table) {
  switch (category) {
    case Category::kKernel:
    case Category::kMemcpy:
    case Category::kMemset:
    case Category::kDeviceAnnotation: {
      const auto span = device_span_of(event, byte, table);
      if (!span) return false;
      if (category == Category::kKernel) return add_kernel(event, *span, table);
      if (category != Category::kDeviceAnnotation) return add_copy(event, *span, category == Category::kMemset, table);
      add_range(event, *span, RangeKind::kAnnotation, table.device_ranges);
      return true;
    }
    case Category::kSync:
    case Category::kCudaEvent: return add_sync(event, category == Category::kCudaEvent, table);
    case Category::kHostCall:
    case Category::kCpuOp:
    case Category::kAnnotation:
    case Category::kPython:
    case Category::kOverhead: {
      const auto span = lasting_span_of(event, byte, table);
      if (!span) return false;
      if (category == Category::kHostCall) {
        table.calls.push_back({*span, event.integer(Key::kCorrelation)});
      } else {
        const RangeKind kind = category == Category::kCpuOp        ? RangeKind::kCpuOp
                               : category == Category::kAnnotation ? RangeKind::kAnnotation
                               : category == Category::kPython     ? RangeKind::kPython
                                                                   : RangeKind::kProfilerOverhead;
        add_range(event, *span, kind, table.ranges);
      }
      return true;
    }
    default: tally_ignored(event.text(Key::kCategory), byte, table); return true;
  }
}

bool add_flow(const RawEvent& event, Category category, bool is_start, EventTable& table) {
  const auto id = event.integer(Key::kId);
  const auto at = parse_microseconds(event.text(Key::kTime));
  if (!id || !at) return false;
  const FlowEvent flow{is_start, *id, lane_part(event, Key::kProcess), lane_part(event, Key::kThread), *at};
  (category == Category::kLaunch ? table.launches : table.forward_backward).push_back(flow);
  return true;
}

void add_metadata(const RawEvent& event, std::size_t byte, EventTable& table) {
  const bool is_process = event.text(Key::kName) == "process_name";
  if ((is_process || event.text(Key::kName) == "thread_name") && event.has(Key::kArgsName)) {
    table.lane_names.push_back({lane_part(event, Key::kProcess), lane_part(event, Key::kThread),
                                table.texts.add(event.text(Key::kArgsName)), is_process});
  } else {
    tally_ignored("metadata", byte, table);
  }
}

}  // namespace

TextIndex TextTable::add(std::string_view text) {
  if (const auto known = index_.find(text); known != index_.end()) return known->second;
  const auto entry = index_.emplace(text, static_cast<TextIndex>(texts_.size())).first;
  texts_.push_back(&entry->first);
  return entry->second;
}

void classify(const RawEvent& event, std::size_t byte, EventTable& table) {
  ++table.events;
  const std::string_view phase = event.text(Key::kPhase);
  const char letter = phase.size() == 1 ? phase.front() : '?';
  const Category category = category_of(event.text(Key::kCategory));
  bool is_whole = true;
  if (letter == 'X') {
    is_whole = add_complete(event, category, byte, table);
  } else if (letter == 's' || letter == 'f' || letter == 't') {
    if (category == Category::kLaunch || category == Category::kForwardBackward) {
      is_whole = add_flow(event, category, letter == 's', table);
    } else {
      tally_ignored("flow", byte, table);
    }
  } else if (letter == 'i' && category == Category::kInstant) {
    is_whole = add_instant(event, byte, table);
  } else if (letter == 'M') {
    add_metadata(event, byte, table);
  } else if (letter == 'i' || letter == 'I') {
    tally_ignored("instant", byte, table);
  } else if (letter == '?' || ((letter == 'B' || letter == 'E') && category != Category::kOther)) {
    is_whole = false;  // Kineto writes complete events; halves of what is needed are not put together
  } else {
    tally_ignored("phase " + std::string(phase), byte, table);
  }
  if (!is_whole) table.malformed.add(byte);
}

}  // namespace interlace::ingest::kineto
