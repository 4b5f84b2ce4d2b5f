#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/trace/allocator_state.hpp"
#include "simulator/trace/operation.hpp"

namespace interlace::trace {

enum class LaneKind : std::uint8_t { kHostThread, kStream };

/// Where operations happen one after another: a host thread or a stream of one rank. (Operations of a stream lane may
/// overlap in time where the hardware lets them; ranges of a thread nest.)
struct Lane {
  LaneKind kind = LaneKind::kHostThread;
  RankId rank;
  std::int64_t process = 0;              ///< process id (thread) or device ordinal (stream)
  std::int64_t number = 0;               ///< thread id, or stream id as the profiler numbers it
  std::string name;                      ///< as recorded; may be empty
  std::optional<std::int32_t> priority;  ///< of a stream: CUDA's, lower is more urgent
  /// Of a stream: cudaStream_t as a number, by which the allocator knows it; where recorded or inferred.
  std::optional<std::uint64_t> handle;

  bool operator==(const Lane&) const = default;
};

/// A GPU as its rank saw it. 0 where the format does not tell.
struct Device {
  std::int64_t ordinal = 0;
  std::string name;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::int32_t sm_count = 0;
  std::int32_t max_threads_per_sm = 0;
  std::int64_t registers_per_sm = 0;
  Bytes shared_memory_per_sm = 0;
  Bytes memory = 0;

  bool operator==(const Device&) const = default;
};

/// One process of the recorded job.
struct Rank {
  std::int32_t number = 0;  ///< its rank in the job
  std::optional<std::int32_t> world_size;
  std::string source;       ///< the file it was read from, as the user named it
  std::string recorded_as;  ///< of an .ilt file: what that says it was made from or was called then; else empty
  std::int64_t process_id = 0;
  std::string host_name;
  std::string producer;  ///< what wrote the recording, e.g. "kineto schema 1, CUDA 13.0"
  std::string run_id;    ///< equal for ranks of one run where the format tells; else empty
  std::vector<Device> devices;

  bool operator==(const Rank&) const = default;
};

class TraceBuilder;

/// What happened (or is predicted to happen) in a job: operations of all ranks on one time axis, column by column.
///
/// Immutable; only TraceBuilder makes one. Operations are ordered by (start, lane), ranges before what they hold, then
/// by order of arrival; ids are positions in that order. Time zero is the earliest start; `origin()` says where that
/// lies on the recording's clock.
class Trace {
 public:
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }

  // Columns, one value an operation.
  [[nodiscard]] std::span<const OperationKind> kinds() const { return kinds_; }
  [[nodiscard]] std::span<const LaneId> lanes_of_operations() const { return lane_of_; }
  [[nodiscard]] std::span<const Nanoseconds> starts() const { return starts_; }
  [[nodiscard]] std::span<const Nanoseconds> durations() const { return durations_; }
  [[nodiscard]] std::span<const StringId> names() const { return names_; }

  [[nodiscard]] OperationKind kind(OperationId op) const { return kinds_[op.index()]; }
  [[nodiscard]] LaneId lane_of(OperationId op) const { return lane_of_[op.index()]; }
  [[nodiscard]] RankId rank_of(OperationId op) const { return lanes_[lane_of(op).index()].rank; }
  [[nodiscard]] Nanoseconds start(OperationId op) const { return starts_[op.index()]; }
  [[nodiscard]] Nanoseconds duration(OperationId op) const { return durations_[op.index()]; }
  [[nodiscard]] Nanoseconds end(OperationId op) const { return start(op) + duration(op); }
  [[nodiscard]] std::string_view name(OperationId op) const { return text(names_[op.index()]); }

  // Details; null where the kind has none or the recording did not tell.
  [[nodiscard]] const KernelDetail* kernel(OperationId op) const;
  [[nodiscard]] const CollectiveDetail* collective(OperationId op) const;
  [[nodiscard]] const CopyDetail* copy(OperationId op) const;
  [[nodiscard]] const SyncDetail* sync(OperationId op) const;
  [[nodiscard]] const RangeDetail* range(OperationId op) const;
  [[nodiscard]] const AllocationDetail* allocation(OperationId op) const;

  /// Null for most.
  [[nodiscard]] const Note* note(OperationId op) const;
  [[nodiscard]] std::span<const std::pair<OperationId, Note>> notes() const { return notes_; }  ///< by operation

  /// The host call that launched this device work. None where the recording lost it.
  [[nodiscard]] std::optional<OperationId> launch_of(OperationId device_work) const;
  /// The device work that this host call launched, in stream order (a graph launch has many).
  [[nodiscard]] std::span<const OperationId> launched_by(OperationId host_call) const;
  /// Host calls that launched a kernel which the recording lacks, by start; none of a rank without any device work.
  [[nodiscard]] std::span<const OperationId> launches_without_work() const { return launches_without_work_; }

  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  [[nodiscard]] const Lane& lane(LaneId id) const { return lanes_[id.index()]; }
  /// Operations of one lane, by start.
  [[nodiscard]] std::span<const OperationId> on_lane(LaneId lane) const;
  [[nodiscard]] std::span<const Rank> ranks() const { return ranks_; }

  /// What the allocators of the ranks held, at times of this trace; in the order in which they were added.
  [[nodiscard]] std::span<const AllocatorState> allocator_states() const { return allocator_states_; }

  [[nodiscard]] std::string_view text(StringId id) const { return strings_[id.index()]; }
  [[nodiscard]] std::span<const std::string> strings() const { return strings_; }

  /// Nanoseconds of the recording's own clock at time zero of this trace.
  [[nodiscard]] Nanoseconds origin() const { return origin_; }
  /// The latest end; 0 for an empty trace.
  [[nodiscard]] Nanoseconds length() const { return length_; }

 private:
  friend class TraceBuilder;
  Trace() = default;

  /// Positions in the detail tables: one 32-bit word an operation, plus a second for collectives with a detail.
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  std::vector<OperationKind> kinds_;
  std::vector<LaneId> lane_of_;
  std::vector<Nanoseconds> starts_;
  std::vector<Nanoseconds> durations_;
  std::vector<StringId> names_;
  std::vector<std::uint32_t> detail_rows_;
  std::vector<std::uint32_t> launch_of_;

  std::vector<KernelDetail> kernels_;
  std::vector<std::uint32_t> collective_rows_;  ///< a row of collectives_ for each kernel row of a collective
  std::vector<CollectiveDetail> collectives_;
  std::vector<CopyDetail> copies_;
  std::vector<SyncDetail> syncs_;
  std::vector<RangeDetail> ranges_;
  std::vector<AllocationDetail> allocations_;
  std::vector<std::pair<OperationId, Note>> notes_;

  std::vector<std::uint32_t> launched_begin_;  ///< compressed rows: operation -> launched_
  std::vector<OperationId> launched_;
  std::vector<OperationId> launches_without_work_;
  std::vector<std::uint32_t> lane_begin_;  ///< compressed rows: lane -> on_lane_
  std::vector<OperationId> on_lane_;

  std::vector<Lane> lanes_;
  std::vector<Rank> ranks_;
  std::vector<AllocatorState> allocator_states_;
  std::vector<std::string> strings_;
  Nanoseconds origin_ = 0;
  Nanoseconds length_ = 0;
};

}  // namespace interlace::trace
