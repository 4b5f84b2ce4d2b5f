#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/trace/operation.hpp"

namespace interlace::ingest::kineto {

/// A text within the table of its EventTable.
using TextIndex = std::uint32_t;

/// The texts of one slice, each once. Moved, not copied: the entries point into the index.
class TextTable {
 public:
  TextTable() = default;
  TextTable(TextTable&&) noexcept = default;
  TextTable& operator=(TextTable&&) noexcept = default;

  TextIndex add(std::string_view text);
  [[nodiscard]] std::string_view operator[](TextIndex index) const { return *texts_[index]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, TextIndex, Hash, std::equal_to<>> index_;
  std::vector<const std::string*> texts_;
};

/// When and where an event was, as the file says. Times in nanoseconds, without the file's base time.
struct Span {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  std::int64_t process = 0;  ///< process id, or device ordinal of device work
  std::int64_t number = 0;   ///< thread id, or stream
  TextIndex name = 0;
};

struct CollectiveArguments {
  TextIndex name = 0;
  TextIndex dtype = 0;
  TextIndex group = 0;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int32_t group_size = 0;
  std::optional<std::int64_t> sequence;
  std::vector<std::int64_t> in_splits;  ///< elements for each rank of the group; none where they are equal or unknown
  std::vector<std::int64_t> out_splits;
  std::vector<std::int64_t> group_ranks;
};

struct KernelEvent {
  Span span;
  std::optional<std::int64_t> correlation;
  trace::KernelDetail detail;
  std::optional<std::uint32_t> collective;  ///< row of EventTable::collectives
};

struct CopyEvent {
  Span span;
  std::optional<std::int64_t> correlation;
  Bytes bytes = 0;
  bool is_memset = false;
};

struct HostCallEvent {
  Span span;
  std::optional<std::int64_t> correlation;
};

/// cuda_sync: what a host call waited for. cuda_event: what a host call recorded (kind kEventRecord).
struct SyncEvent {
  std::int64_t correlation = 0;
  trace::SyncKind kind = trace::SyncKind::kUnknown;
  std::int64_t device = 0;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> event;
  std::optional<std::int64_t> record_correlation;
  std::optional<std::int64_t> record_stream;
};

struct RangeEvent {
  Span span;
  trace::RangeDetail detail;
};

struct AllocationEvent {
  Span span;
  trace::AllocationDetail detail;
};

/// One end of an arrow.
struct FlowEvent {
  bool is_start = false;
  std::int64_t id = 0;
  std::int64_t process = 0;
  std::int64_t number = 0;
  Nanoseconds at = 0;
};

struct LaneNameEvent {
  std::int64_t process = 0;
  std::int64_t number = 0;
  TextIndex name = 0;
  bool is_process = false;  ///< it names the process; `number` means nothing

  bool operator==(const LaneNameEvent&) const = default;
};

/// Something not used, by what it is, with the byte where it first stood.
struct Tally {
  std::int64_t count = 0;
  std::size_t first_byte = 0;

  void add(std::size_t byte) {
    if (count++ == 0) first_byte = byte;
  }
};

/// The events of one slice of traceEvents, sorted by what they are; within a kind as they came.
struct EventTable {
  TextTable texts;
  std::vector<KernelEvent> kernels;
  std::vector<CollectiveArguments> collectives;
  std::vector<CopyEvent> copies;
  std::vector<HostCallEvent> calls;
  std::vector<SyncEvent> syncs;
  std::vector<RangeEvent> ranges;
  std::vector<RangeEvent> device_ranges;
  std::vector<AllocationEvent> allocations;
  std::vector<FlowEvent> forward_backward;
  std::vector<FlowEvent> launches;  ///< ac2g
  std::vector<LaneNameEvent> lane_names;

  std::int64_t events = 0;
  std::map<std::string, Tally, std::less<>> ignored;  ///< by category
  Tally malformed;                                    ///< events that lack what their category needs
  Tally repaired;                                     ///< invalid JSON that could be mended
  Tally unreadable;                                   ///< invalid JSON that could not
  Tally named_lanes;                                  ///< process or thread ids that are texts
};

}  // namespace interlace::ingest::kineto
