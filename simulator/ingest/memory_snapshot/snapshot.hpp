#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/allocator_state.hpp"

namespace interlace::ingest::memory_snapshot {

/// One event of the allocator's history.
struct Event {
  trace::AllocationAction action = trace::AllocationAction::kAlloc;
  std::uint64_t address = 0;        ///< 0 of an out of memory
  Bytes bytes = 0;                  ///< as asked for; of segment events what the driver gave
  std::uint64_t stream_handle = 0;  ///< of the stream that the block or segment belongs to
  Nanoseconds time = 0;             ///< since 1970, to the microsecond

  bool operator==(const Event&) const = default;
};

/// Where a record_function scope begins or ends.
struct AnnotationMark {
  std::size_t name = 0;  ///< of Snapshot::names
  Nanoseconds time = 0;
  bool is_start = false;
};

/// What a snapshot says of one device.
struct DeviceSnapshot {
  std::int64_t device = 0;                        ///< CUDA's ordinal, as the process sees it
  std::vector<trace::AllocatorSegment> segments;  ///< when the snapshot was taken, by address
  std::vector<Event> events;                      ///< before that, in the order in which they happened
  std::vector<AnnotationMark> marks;              ///< in the order of the file
};

/// What torch.cuda.memory._dump_snapshot wrote.
struct Snapshot {
  std::filesystem::path file;
  std::vector<DeviceSnapshot> devices;  ///< those with memory or history, by ordinal
  std::vector<std::string> names;       ///< of annotations
  std::string settings;                 ///< as of PYTORCH_CUDA_ALLOC_CONF; empty: PyTorch's defaults
  Diagnostics diagnostics;
};

/// Decodes a snapshot: its history, its segments with their blocks, its settings and its annotations. Of the stacks of
/// the allocations it is only counted how many there are.
/// Throws Error: pickle.* (simulator/ingest/pickle), memory_snapshot.not_a_snapshot.
[[nodiscard]] Snapshot decode_snapshot(std::string_view pickle, const std::filesystem::path& file);

}  // namespace interlace::ingest::memory_snapshot
