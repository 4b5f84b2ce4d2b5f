#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "cupti_collector/allocator_log.hpp"
#include "cupti_collector/calls.hpp"
#include "cupti_collector/capture_watch.hpp"
#include "cupti_collector/collective_join.hpp"
#include "cupti_collector/correlation.hpp"
#include "cupti_collector/driver_memory.hpp"
#include "cupti_collector/host_ranges.hpp"
#include "cupti_collector/launch_ledger.hpp"
#include "cupti_collector/names.hpp"
#include "cupti_collector/records.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::collector {

/// Turns records into rows of an .ilt file: finds lanes and names, widens correlations, keeps the ledger. Nothing waits
/// here for a partner: calls, device work, event records and waits are written as they come and joined by the reader.
/// The one exception are facts of a stream whose context is on a device not yet known.
class TraceRows : public RecordSink {
 public:
  struct Source {
    std::int64_t process = 0;
    /// What a CUDA function is called; see CallTable.
    std::function<CallTable::Call(ApiDomain, std::uint32_t)> call;
    /// The name of a thread of this process; may be empty.
    std::function<std::string(std::int64_t)> thread_name;
    /// So many different names the program may give, and so many bytes of them: they are kept for ever.
    std::int64_t most_names = std::int64_t{1} << 20;
    Bytes most_name_bytes = Bytes{64} << 20;
  };
  /// writer and ledger must outlive this; rank: of the file.
  TraceRows(trace::IltWriter& writer, trace::RankId rank, Source source, LaunchLedger& ledger);

  void on(const KernelRecord& kernel) override;
  void on(const CopyRecord& copy) override;
  void on(const GraphRecord& graph) override;
  void on(const CallRecord& call) override;
  void on(const EventRecord& event) override;
  void on(const SyncRecord& sync) override;
  void on(const StreamRecord& stream) override;
  void on(const ContextRecord& context) override;
  void on(const DeviceRecord& device) override;
  void on(const OverheadRecord& overhead) override;
  void on(const AllocationRecord& allocation) override;
  void on(const ExternalRecord& external) override;

  /// A span of a thread that the program named.
  void range(const NamedRange& range);

  void name_thread(std::int64_t thread, std::string_view name);

  void stream_made(const StreamMade& stream);
  void communicator(const NcclCommunicator& communicator) { collectives_.communicator(communicator); }
  void nccl_task(std::int64_t thread, Nanoseconds time, const NcclTask& task) { collectives_.task(thread, time, task); }
  /// One event of PyTorch's allocator.
  void allocator_event(const AllocatorRow& row);
  /// From here on what the driver hands out on devices is no row: PyTorch's allocator has it for its segments, and
  /// other memory is not its.
  void leave_out_driver_memory() { has_allocator_ = true; }
  /// So many kernels of collectives were written without a word of NCCL since the last call, where it says some.
  [[nodiscard]] std::int64_t undescribed_collectives() { return std::exchange(undescribed_, 0); }
  /// So many events of the driver were left out since the last call.
  [[nodiscard]] std::int64_t left_out_memory() { return std::exchange(left_out_memory_, 0); }
  /// So many names of the program were left out since the last call: it has given too many different ones.
  [[nodiscard]] std::int64_t left_out_names() { return std::exchange(left_out_names_, 0); }
  /// So many calls and events of the driver's memory were left out since the last call: they came without times.
  [[nodiscard]] std::int64_t untimed_records() { return std::exchange(untimed_, 0); }
  /// So many ids of the program's own were left out since the last call: their calls are not recorded, or have one.
  [[nodiscard]] std::int64_t left_out_externals() { return std::exchange(left_out_externals_, 0); }

  /// Recording stopped or went on at this time. Work around such times may be of launches that are left out.
  void stopped(Nanoseconds time);
  void resumed();
  /// To be called once all that CUPTI had of a round is through: writes what waited for other records of its moment.
  void settle();
  /// Writes what still waits for a device, without its stream.
  void finish();

 private:
  struct CachedCall {
    trace::StringId name;
    CallRole role = CallRole::kOther;
    trace::SyncKind sync = trace::SyncKind::kUnknown;
  };
  struct StreamKey {
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    auto operator<=>(const StreamKey&) const = default;
  };
  /// A fact of a stream whose device is not known yet.
  struct WaitingFact {
    trace::SyncFact fact;
    StreamKey stream;
  };

  [[nodiscard]] const CachedCall& cached(ApiDomain domain, std::uint32_t function);
  /// The name, or what stands for all where the program has given too many.
  [[nodiscard]] trace::StringId name_of_program(std::string_view name);
  [[nodiscard]] trace::LaneId thread_lane(std::int64_t thread);
  [[nodiscard]] trace::LaneId stream_lane(std::uint32_t device, StreamKey key);
  void describe_stream(trace::LaneId lane, const StreamRecord& stream);
  void learn_device(std::uint32_t context, std::uint32_t device);
  void write_fact(trace::SyncFact fact, std::optional<StreamKey> stream);
  /// Tells the ledger of launches and captures.
  void account(const CallRecord& call, CallRole role, std::int64_t correlation);
  void write_memory(bool all);
  /// The lane of the stream that has this handle on the device; none where it is not known.
  [[nodiscard]] std::optional<trace::LaneId> lane_of_handle(std::uint32_t device, std::uint64_t handle);
  /// Whether the work waits for its call: then it is kept until `settle`.
  template <class Record>
  [[nodiscard]] bool has_to_wait(const Record& record);
  [[nodiscard]] bool is_left_out(std::int64_t correlation, std::uint64_t start) const;
  void settle_edge();
  void settle_collectives(bool all);
  /// None where the work has no times; the ledger has it then.
  template <class Record>
  [[nodiscard]] std::optional<trace::IltWriter::Common> device_work(const Record& record);

  trace::IltWriter& writer_;
  trace::RankId rank_;
  Source source_;
  LaunchLedger& ledger_;
  CorrelationWidener correlations_;
  CaptureWatch captures_;
  /// Around a stop: work whose call is not known, with the round it came in.
  struct Waiting {
    std::variant<KernelRecord, CopyRecord, GraphRecord> work;
    std::int64_t correlation = 0;
    std::int64_t round = 0;
  };
  std::vector<Waiting> at_edge_;
  std::optional<Nanoseconds> stopped_at_;
  std::optional<std::int64_t> first_call_;  ///< since recording went on
  bool is_settling_ = false;
  std::int64_t rounds_ = 0;
  std::int64_t edge_ends_ = 0;  ///< in which round
  CollectiveJoin collectives_;
  /// The kernel of a collective, until it is known what NCCL said of it.
  struct WaitingCollective {
    KernelRecord kernel;
    trace::StringId name;
    trace::CollectiveFunction function = trace::CollectiveFunction::kUnknown;
    std::int64_t round = 0;
  };
  void write_collective(const WaitingCollective& waiting, const std::optional<CollectiveFacts>& facts);
  std::vector<WaitingCollective> waiting_collectives_;
  DriverMemory memory_;
  bool has_allocator_ = false;
  std::int64_t left_out_memory_ = 0;
  std::int64_t untimed_ = 0;  ///< calls, and events of the driver's memory
  std::int64_t undescribed_ = 0;
  std::map<std::int64_t, trace::ExternalId> externals_;  ///< by correlation, of calls that are still to come
  std::int64_t left_out_externals_ = 0;
  trace::StringId memory_name_;
  std::int64_t program_names_ = 0;
  Bytes program_name_bytes_ = 0;
  std::int64_t left_out_names_ = 0;
  KernelNames kernel_names_;
  std::map<std::uint32_t, trace::StringId> copy_names_;
  std::array<std::vector<std::optional<CachedCall>>, 2> calls_;  ///< by domain and function
  std::unordered_map<std::int64_t, trace::LaneId> thread_lanes_;
  std::map<StreamKey, trace::LaneId> stream_lanes_;
  std::map<StreamKey, StreamRecord> streams_;
  std::map<std::uint32_t, std::uint32_t> device_of_context_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> context_of_number_;  ///< (device, stream) taken by
  std::vector<WaitingFact> waiting_;
  std::map<StreamKey, std::uint64_t> handles_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, StreamKey> stream_of_handle_;  ///< by context and handle
  std::map<std::uint32_t, ContextRecord> first_context_;                           ///< by device
};

}  // namespace interlace::collector
