#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/id.hpp"
#include "simulator/base/units.hpp"

namespace interlace::trace {

using OperationId = Id<struct OperationTag>;
using StringId = Id<struct StringTag>;
using LaneId = Id<struct LaneTag>;
using RankId = Id<struct RankTag>;

/// What one operation of a trace is. Device work (kKernel to kMemset) lies on stream lanes; everything else on the
/// lane of the host thread that did it, except kDeviceRange (a stream lane).
enum class OperationKind : std::uint8_t {
  kKernel,       ///< a compute kernel; KernelDetail
  kCollective,   ///< a communication kernel (NCCL); KernelDetail and, where known, CollectiveDetail
  kCopy,         ///< a device-side copy; CopyDetail
  kMemset,       ///< a device-side fill; CopyDetail (bytes)
  kHostCall,     ///< a CUDA runtime or driver call that is none of the next three
  kEventRecord,  ///< host call: records an event on a stream; SyncDetail where known
  kStreamWait,   ///< host call: makes a stream wait for an event; SyncDetail
  kHostSync,     ///< host call that blocks the thread until device work is done; SyncDetail
  kRange,        ///< a named span of a host thread; RangeDetail
  kDeviceRange,  ///< a named span as it appeared on a stream; RangeDetail
  kAllocation,   ///< one event of the caching allocator, at an instant of a host thread; AllocationDetail
};
inline constexpr std::size_t kOperationKinds = 11;

[[nodiscard]] std::string_view to_string(OperationKind kind);
[[nodiscard]] constexpr bool is_device_work(OperationKind kind) { return kind <= OperationKind::kMemset; }

struct KernelDetail {
  std::array<std::int32_t, 3> grid{1, 1, 1};
  std::array<std::int32_t, 3> block{1, 1, 1};
  std::int32_t registers_per_thread = 0;
  Bytes shared_memory = 0;                          ///< static and dynamic, a block
  std::optional<std::int32_t> blocks_per_sm_limit;  ///< as the profiler says the hardware allows, where it does
  std::optional<std::int32_t> priority;             ///< of the stream, as the profiler gave it
  std::optional<std::int64_t> graph_node;           ///< set where a CUDA graph launched the kernel

  [[nodiscard]] std::int64_t blocks() const { return std::int64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::int32_t threads_per_block() const { return block[0] * block[1] * block[2]; }
  bool operator==(const KernelDetail&) const = default;
};

enum class CollectiveFunction : std::uint8_t {
  kUnknown,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSendRecv,
  kBarrier,
};
[[nodiscard]] std::string_view to_string(CollectiveFunction function);

/// Bytes that NCCL moves at once where they begin at a multiple of that.
inline constexpr std::int32_t kWidestCopy = 16;

/// The largest power of two up to kWidestCopy that `offset` is a multiple of.
[[nodiscard]] inline std::int32_t alignment_of(std::uint64_t offset) {
  return static_cast<std::int32_t>(std::uint64_t{1} << static_cast<unsigned>(std::countr_zero(offset | kWidestCopy)));
}

struct CollectiveDetail {
  CollectiveFunction function = CollectiveFunction::kUnknown;
  StringId name;   ///< as recorded, e.g. "all_to_allv"
  StringId dtype;  ///< as recorded, e.g. "Float"
  StringId group;  ///< process group name
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int32_t group_size = 0;           ///< 0 where not recorded
  std::optional<std::int64_t> sequence;  ///< number within its group, where recorded
  Bytes element_bytes = 0;               ///< 0 where dtype is unknown
  std::int32_t channels = 0;             ///< that carry it, of several in one kernel the most; 0 where not recorded
  /// Where the data of this rank begins, where recorded; of several in one kernel, of the first.
  std::optional<std::uint64_t> in_buffer;
  std::optional<std::uint64_t> out_buffer;
  /// Bytes that the parts which go to and come from other ranks all begin at a multiple of, a power of two up to
  /// kWidestCopy; 0 where not recorded.
  std::int32_t part_alignment = 0;
  std::int32_t own_part_alignment = 0;  ///< the same of what stays on the rank

  bool operator==(const CollectiveDetail&) const = default;
};

enum class MemorySpace : std::uint8_t { kUnknown, kDevice, kPinned, kPageable, kManaged };
[[nodiscard]] std::string_view to_string(MemorySpace space);

struct CopyDetail {
  Bytes bytes = 0;
  MemorySpace source = MemorySpace::kUnknown;  ///< kDevice for a memset
  MemorySpace destination = MemorySpace::kUnknown;
  bool peer = false;  ///< between two devices

  bool operator==(const CopyDetail&) const = default;
};

enum class SyncKind : std::uint8_t {
  kUnknown,
  kEventRecord,
  kStreamWaitEvent,
  kEventSync,
  kStreamSync,
  kDeviceSync,
  kEventQuery
};
[[nodiscard]] std::string_view to_string(SyncKind kind);

struct SyncDetail {
  SyncKind kind = SyncKind::kUnknown;
  std::optional<LaneId> stream;         ///< stream that records, waits or is synchronised
  std::optional<std::int64_t> event;    ///< event object; reused over time
  std::optional<OperationId> record;    ///< the kEventRecord waited for, where the format tells
  std::optional<LaneId> record_stream;  ///< the stream that event was recorded on, where the format tells

  bool operator==(const SyncDetail&) const = default;
};

enum class RangeKind : std::uint8_t { kAnnotation, kCpuOp, kPython, kProfilerOverhead, kOther };
[[nodiscard]] std::string_view to_string(RangeKind kind);

struct RangeDetail {
  RangeKind kind = RangeKind::kOther;
  std::optional<std::int64_t> sequence_number;  ///< autograd: pairs a forward op with its backward
  std::optional<std::int64_t> forward_thread;   ///< autograd: the id of the thread that ran the forward
  std::optional<OperationId> forward_op;        ///< fwdbwd flow: the forward range this one is the backward of

  bool operator==(const RangeDetail&) const = default;
};

enum class AllocationAction : std::uint8_t {
  kAlloc,
  kFree,  ///< freed, as told by a recorder that does not see when the free is complete
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kRecordStream,  ///< the block is used on a stream that is not its own
  kOutOfMemory,
  kSegmentMap,  ///< an expandable segment takes in memory
  kSegmentUnmap,
};
[[nodiscard]] std::string_view to_string(AllocationAction action);

struct AllocationDetail {
  AllocationAction action = AllocationAction::kAlloc;
  std::uint64_t address = 0;
  Bytes bytes = 0;                       ///< of the block or segment; never negative
  std::optional<Bytes> total_allocated;  ///< after the event, where recorded
  std::optional<Bytes> total_reserved;
  std::optional<LaneId> stream;  ///< the stream the block belongs to (of a record_stream: the other), where known
  bool on_device = true;
  std::optional<Bytes> requested;              ///< what the program asked for, where recorded
  std::optional<std::uint64_t> stream_handle;  ///< of that stream: cudaStream_t as a number, where recorded
  /// False where only `requested` is recorded; `bytes` is then the least that a block for it can have.
  bool knows_block = true;

  bool operator==(const AllocationDetail&) const = default;
};

enum class NumberType : std::uint8_t { kInt64, kUint64, kDouble };
[[nodiscard]] std::string_view to_string(NumberType type);

/// A number that a program attached to a range or mark (NVTX's payload).
struct Number {
  NumberType type = NumberType::kInt64;
  std::uint64_t bits = 0;  ///< in two's complement, or as IEEE 754 has them

  bool operator==(const Number&) const = default;
};
[[nodiscard]] std::string to_string(const Number& number);

/// Of which kind of users an external id is (CUpti_ExternalCorrelationKind).
enum class ExternalKind : std::uint8_t { kUnknown, kOpenAcc, kCustom0, kCustom1, kCustom2 };
[[nodiscard]] std::string_view to_string(ExternalKind kind);

struct ExternalId {
  ExternalKind kind = ExternalKind::kUnknown;
  std::uint64_t id = 0;

  bool operator==(const ExternalId&) const = default;
};

/// What the program said of an operation beside its name; few operations have one.
struct Note {
  std::optional<Number> payload;       ///< of a range
  std::optional<StringId> category;    ///< of a range
  bool is_open = false;                ///< of a range: its end is not known, so it is given no length
  std::optional<ExternalId> external;  ///< of a host call: the number that the program knows it by

  bool operator==(const Note&) const = default;
};

}  // namespace interlace::trace
