#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/lane_key.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::trace {

/// The only way to make a Trace. Operations are added in any order; `build` sorts them, links device work to the host
/// calls that launched it and checks the invariants. Control characters in texts become blanks. Ids that `add` returns
/// are provisional: they name operations while building (SyncDetail::record, RangeDetail::forward_op) and are
/// renumbered by `build`.
class TraceBuilder {
 public:
  /// The same text gives the same id.
  StringId intern(std::string_view text);
  RankId add_rank(Rank rank);
  /// The lane with this identity (kind, rank, process, number), made on first use.
  LaneId lane(LaneKind kind, RankId rank, std::int64_t process, std::int64_t number);
  void name_lane(LaneId lane, std::string_view name);
  void set_priority(LaneId stream, std::int32_t priority);
  void set_handle(LaneId stream, std::uint64_t handle);
  /// Its time is on the recording's clock.
  void add_allocator_state(AllocatorState state);

  /// Makes room for so many operations in all; only speed depends on it.
  void reserve(std::size_t operations);

  /// What every operation has. Times are on the recording's clock, in nanoseconds.
  struct Common {
    LaneId lane;
    StringId name;
    Nanoseconds start = 0;
    Nanoseconds duration = 0;  ///< >= 0
    /// Joins device work with the host call of the same rank that launched it.
    std::optional<std::int64_t> correlation;
    const Note* note = nullptr;  ///< is copied
  };
  OperationId add_kernel(const Common& common, const KernelDetail& detail);
  OperationId add_collective(const Common& common, const KernelDetail& detail,
                             const std::optional<CollectiveDetail>& collective);
  OperationId add_copy(const Common& common, const CopyDetail& detail);
  OperationId add_memset(const Common& common, const CopyDetail& detail);
  OperationId add_host_call(const Common& common);
  /// kind: kEventRecord, kStreamWait or kHostSync; also kHostCall for a call with a SyncDetail (an event query).
  OperationId add_sync(OperationKind kind, const Common& common, const SyncDetail& detail);
  OperationId add_range(const Common& common, const RangeDetail& detail);
  OperationId add_device_range(const Common& common, const RangeDetail& detail);
  OperationId add_allocation(const Common& common, const AllocationDetail& detail);

  /// To complete a detail that is known later (a sync record that arrives after its host call).
  [[nodiscard]] SyncDetail& sync_detail(OperationId provisional);
  [[nodiscard]] RangeDetail& range_detail(OperationId provisional);

  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  [[nodiscard]] const Lane& lane_info(LaneId lane) const { return lanes_[lane.index()]; }

  /// Counts here: trace.device_work_before_launch, trace.device_work_without_launch, trace.launch_without_device_work,
  /// trace.negative_duration (clamped to 0), trace.duplicate_correlation (two host calls of one rank with one
  /// correlation: the earlier one keeps it, without being counted where it encloses the later on its thread),
  /// trace.duplicate_operation (left out). The builder is spent afterwards.
  [[nodiscard]] Trace build(Diagnostics& diagnostics) &&;

 private:
  OperationId add(OperationKind kind, const Common& common, std::uint32_t detail_row);

  void clamp_durations(Diagnostics& diagnostics);
  /// By (start, lane, range before what it holds, arrival).
  void sort_by_time();
  [[nodiscard]] bool comes_before(std::uint32_t a, std::uint32_t b) const;
  /// Leaves out what is there a second time; to be called when sorted.
  void drop_duplicates(Diagnostics& diagnostics);
  /// Of two rows of one kind, lane, name, start, duration and correlation.
  [[nodiscard]] bool is_duplicate(std::uint32_t first, std::uint32_t second) const;
  /// Row i becomes that of order[i]; a reference to row r becomes one to new_id[r].
  void reorder(const std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& new_id);
  /// Sets launch_of_ and launches_without_work_.
  void find_launches(Trace& trace, Diagnostics& diagnostics) const;
  void find_launches_without_work(Trace& trace, const std::vector<bool>& keeps_correlation,
                                  Diagnostics& diagnostics) const;

  std::vector<OperationKind> kinds_;
  std::vector<LaneId> lane_of_;
  std::vector<Nanoseconds> starts_;
  std::vector<Nanoseconds> durations_;
  std::vector<StringId> names_;
  std::vector<std::uint32_t> detail_rows_;
  std::vector<std::int64_t> correlations_;
  std::vector<bool> has_correlation_;

  std::vector<KernelDetail> kernels_;
  std::vector<std::uint32_t> collective_rows_;
  std::vector<CollectiveDetail> collectives_;
  std::vector<CopyDetail> copies_;
  std::vector<SyncDetail> syncs_;
  std::vector<RangeDetail> ranges_;
  std::vector<AllocationDetail> allocations_;
  std::vector<std::pair<OperationId, Note>> notes_;

  std::vector<Lane> lanes_;
  std::vector<Rank> ranks_;
  std::vector<AllocatorState> allocator_states_;
  std::vector<std::string> strings_;

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, StringId, TextHash, std::equal_to<>> string_ids_;
  std::unordered_map<LaneKey, LaneId, LaneKeyHash> lane_ids_;
};

inline constexpr DiagnosticKind kDeviceWorkBeforeLaunch{
    "trace.device_work_before_launch", Severity::kWarning,
    "device work that starts more than 50 us before the host call that launched it: the recorded clocks of host and "
    "device differ",
    "what is told of launches, idle devices and waiting hosts is off by as much; record again"};
inline constexpr DiagnosticKind kDeviceWorkWithoutLaunch{
    "trace.device_work_without_launch", Severity::kWarning,
    "device work whose host call is not in the recording (launched before it began, or lost)",
    "it is kept on the timeline; predictions leave out steps that may have launched it where others remain"};
inline constexpr DiagnosticKind kDuplicateOperation{
    "trace.duplicate_operation", Severity::kWarning,
    "operations that stand in the recording twice, with one lane, name, time and correlation; one of each is used",
    "check whether a tool has joined the file with itself"};
inline constexpr DiagnosticKind kLaunchWithoutDeviceWork{
    "trace.launch_without_device_work", Severity::kDataLoss,
    "launches of kernels that are not in the recording (lost, or still to come when it ended)",
    "predictions leave out steps with such launches where others remain; record again, or a shorter span"};
inline constexpr DiagnosticKind kNegativeDuration{"trace.negative_duration", Severity::kWarning,
                                                  "operations that end before they start; counted as instants",
                                                  "the recorder's clock was adjusted or its records are damaged"};
inline constexpr DiagnosticKind kDuplicateCorrelation{
    "trace.duplicate_correlation", Severity::kWarning, "host calls that share a correlation id within one rank",
    "the first keeps its device work; check that the file holds one process only"};

}  // namespace interlace::trace
