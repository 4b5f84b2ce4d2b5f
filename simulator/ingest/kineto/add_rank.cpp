#include <array>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "simulator/ingest/clock.hpp"
#include "simulator/ingest/kineto/flaws.hpp"
#include "simulator/ingest/kineto/rank_file.hpp"
#include "simulator/ingest/names.hpp"
#include "simulator/trace/correlation_index.hpp"
#include "simulator/trace/limits.hpp"

namespace interlace::ingest::kineto {

namespace {

using trace::LaneId;
using trace::LaneKind;
using trace::OperationId;
using trace::OperationKind;
using trace::SyncKind;
using trace::TraceBuilder;

/// The lanes of one rank by the numbers in its file.
class Lanes {
 public:
  Lanes(TraceBuilder& builder, trace::RankId rank) : builder_(builder), rank_(rank) {}

  LaneId of(LaneKind kind, std::int64_t process, std::int64_t number) {
    Last& last = last_[static_cast<std::size_t>(kind)];
    if (last.lane && last.process == process && last.number == number) return *last.lane;
    last = {process, number, builder_.lane(kind, rank_, process, number)};
    known_.insert_or_assign({kind, process, number}, *last.lane);
    return *last.lane;
  }
  LaneId thread(const Span& span) { return of(LaneKind::kHostThread, span.process, span.number); }
  LaneId stream(const Span& span) { return of(LaneKind::kStream, span.process, span.number); }

  /// Names a lane that holds something.
  void name(LaneKind kind, std::int64_t process, std::int64_t number, std::string_view text) {
    const auto lane = known_.find({kind, process, number});
    if (lane != known_.end()) builder_.name_lane(lane->second, text);
  }
  void name_threads(std::int64_t process, std::string_view text) {
    static constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    for (auto at = known_.lower_bound({LaneKind::kHostThread, process, kLeast}); at != known_.end(); ++at) {
      const auto [kind, of_process, number] = at->first;
      if (kind != LaneKind::kHostThread || of_process != process) break;
      builder_.name_lane(at->second, text);
    }
  }

 private:
  struct Last {
    std::int64_t process = 0;
    std::int64_t number = 0;
    std::optional<LaneId> lane;
  };
  TraceBuilder& builder_;
  trace::RankId rank_;
  std::array<Last, 2> last_;
  std::map<std::tuple<LaneKind, std::int64_t, std::int64_t>, LaneId> known_;
};

/// What a name means, worked out once a slice and name.
struct Meaning {
  trace::StringId id;
  std::optional<CallRole> role;
  std::optional<trace::CopyDetail> copy;
  std::optional<bool> is_collective;
};

class RankAdder {
 public:
  RankAdder(const RankFile& rank_file, std::int32_t number, trace::RankId rank, TraceBuilder& builder,
            Diagnostics& diagnostics)
      : file_(rank_file),
        number_(number),
        place_(rank_file.file.string()),
        builder_(builder),
        diagnostics_(diagnostics),
        lanes_(builder, rank),
        calls_(call_correlations()) {}

  void add() {
    attach_syncs();
    for (const EventTable& slice : file_.slices) {
      meanings_.clear();
      for (TextIndex i = 0; i < slice.texts.size(); ++i)
        meanings_.push_back({builder_.intern(slice.texts[i]), {}, {}, {}});
      add_calls(slice);
      add_device_work(slice);
      add_ranges(slice);
    }
    join_records();
    join_forward_backward();
    check_launch_flows();
    name_lanes();
  }

 private:
  using EndKey = std::tuple<std::int64_t, std::int64_t, Nanoseconds>;
  struct AddedCall {
    OperationId operation;
    OperationKind kind = OperationKind::kHostCall;
  };
  /// A range that starts where an arrow begins or ends.
  struct ArrowEnd {
    std::optional<OperationId> range;
    Nanoseconds duration = 0;
  };

  std::vector<std::optional<std::int64_t>> call_correlations() {
    std::vector<std::optional<std::int64_t>> correlations;
    for (const EventTable& slice : file_.slices) {
      for (const HostCallEvent& call : slice.calls) {
        correlations.push_back(call.correlation);
        call_starts_.push_back(call.span.start);
      }
    }
    return correlations;
  }

  void attach_syncs() {
    sync_of_call_.assign(call_starts_.size(), nullptr);
    for (const EventTable& slice : file_.slices) {
      for (const SyncEvent& sync : slice.syncs) {
        const auto call = calls_.find(sync.correlation);
        if (!call) {
          diagnostics_.count(kSyncWithoutCall, place_);
        } else if (sync_of_call_[*call] != nullptr) {
          diagnostics_.count(kDuplicateSync, place_);
        } else {
          sync_of_call_[*call] = &sync;
        }
      }
      for (const FlowEvent& flow : slice.forward_backward) {
        arrow_ends_.try_emplace(EndKey{flow.process, flow.number, flow.at});
      }
    }
  }

  std::optional<TraceBuilder::Common> common(LaneId lane, const Span& span,
                                             std::optional<std::int64_t> correlation = {}) {
    const auto start = on_clock(file_.header.base_time, span.start, span.duration);
    if (!start) {
      diagnostics_.count(kTimeOutOfRange, place_);
      return std::nullopt;
    }
    return TraceBuilder::Common{lane, meanings_[span.name].id, *start, span.duration, correlation};
  }

  LaneId stream_of(const SyncEvent& sync, std::int64_t number) {
    return lanes_.of(LaneKind::kStream, sync.device, number);
  }

  void add_calls(const EventTable& slice) {
    for (const HostCallEvent& call : slice.calls) {
      const SyncEvent* const sync = sync_of_call_[call_operations_.size()];
      std::optional<AddedCall>& added = call_operations_.emplace_back();
      const auto all = common(lanes_.thread(call.span), call.span, call.correlation);
      if (!all) continue;
      Meaning& meaning = meanings_[call.span.name];
      if (!meaning.role) meaning.role = call_role(slice.texts[call.span.name]);
      const OperationKind kind = meaning.role->kind;
      if (meaning.role->sync == SyncKind::kUnknown && sync == nullptr) {
        added = {builder_.add_host_call(*all), kind};
      } else {
        added = {builder_.add_sync(kind, *all, sync_detail(*meaning.role, sync)), kind};
      }
    }
  }

  /// The record of the wait is joined later: it may stand in a later slice.
  trace::SyncDetail sync_detail(const CallRole& role, const SyncEvent* sync) {
    trace::SyncDetail detail;
    detail.kind = role.sync;
    if (sync != nullptr) {
      if (role.sync == SyncKind::kUnknown) detail.kind = sync->kind;
      if (sync->stream) detail.stream = stream_of(*sync, *sync->stream);
      if (sync->record_stream) detail.record_stream = stream_of(*sync, *sync->record_stream);
      detail.event = sync->event;
    }
    const bool waits_for_event = role.kind == OperationKind::kStreamWait ||
                                 (role.kind == OperationKind::kHostSync && role.sync == SyncKind::kEventSync);
    if (waits_for_event && (sync == nullptr || !sync->record_correlation))
      diagnostics_.count(kWaitWithoutRecord, place_);
    return detail;
  }

  void join_records() {
    for (std::size_t row = 0; row < call_operations_.size(); ++row) {
      const SyncEvent* const sync = sync_of_call_[row];
      if (sync == nullptr || !sync->record_correlation || !call_operations_[row]) continue;
      const auto record_row = calls_.find(*sync->record_correlation);
      const auto record = record_row ? call_operations_[*record_row] : std::nullopt;
      if (!record || record->kind != OperationKind::kEventRecord) {
        diagnostics_.count(kRecordNotFound, place_);
        continue;
      }
      trace::SyncDetail& wait = builder_.sync_detail(call_operations_[row]->operation);
      wait.record = record->operation;
      // A wait also tells where its event was recorded, which the record itself may not.
      trace::SyncDetail& recorded = builder_.sync_detail(record->operation);
      if (!recorded.stream) recorded.stream = wait.record_stream;
      if (!recorded.event) recorded.event = wait.event;
      if (!wait.record_stream) wait.record_stream = recorded.stream;
    }
  }

  void add_device_work(const EventTable& slice) {
    for (const KernelEvent& kernel : slice.kernels) {
      const LaneId lane = lanes_.stream(kernel.span);
      if (kernel.detail.priority) builder_.set_priority(lane, *kernel.detail.priority);
      const auto all = common(lane, kernel.span, kernel.correlation);
      if (!all) continue;
      Meaning& meaning = meanings_[kernel.span.name];
      const std::string_view name = slice.texts[kernel.span.name];
      if (!meaning.is_collective) meaning.is_collective = is_collective_kernel(name);
      if (kernel.collective || *meaning.is_collective) {
        builder_.add_collective(*all, kernel.detail, collective_detail(slice, kernel, name));
      } else {
        builder_.add_kernel(*all, kernel.detail);
      }
    }
    for (const CopyEvent& copy : slice.copies) {
      const auto all = common(lanes_.stream(copy.span), copy.span, copy.correlation);
      if (!all) continue;
      Meaning& meaning = meanings_[copy.span.name];
      if (!meaning.copy) meaning.copy = copy_of_name(slice.texts[copy.span.name]);
      trace::CopyDetail detail = *meaning.copy;
      detail.bytes = copy.bytes;
      if (copy.is_memset) {
        builder_.add_memset(*all, detail);
      } else {
        builder_.add_copy(*all, detail);
      }
    }
    for (const RangeEvent& range : slice.device_ranges) {
      const auto all = common(lanes_.stream(range.span), range.span);
      if (all) builder_.add_device_range(*all, range.detail);
    }
  }

  /// Of an exchange of uneven parts, by where they begin in its buffers, which the caching allocator aligns.
  void note_alignments(const CollectiveArguments& told, trace::CollectiveDetail& detail) const {
    const std::size_t ranks = told.in_splits.size();
    if (ranks == 0 || told.out_splits.size() != ranks || told.group_ranks.size() != ranks) return;
    detail.part_alignment = detail.own_part_alignment = trace::kWidestCopy;
    const auto element_bytes = static_cast<std::uint64_t>(detail.element_bytes);
    std::uint64_t sent = 0;  // elements to and from the ranks before
    std::uint64_t received = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
      const auto sends = static_cast<std::uint64_t>(told.in_splits[i]);
      const auto receives = static_cast<std::uint64_t>(told.out_splits[i]);
      const std::uint64_t offsets = (sends > 0 ? sent : 0) | (receives > 0 ? received : 0);
      std::int32_t& alignment = told.group_ranks[i] == number_ ? detail.own_part_alignment : detail.part_alignment;
      alignment = std::min(alignment, trace::alignment_of(offsets * element_bytes));
      sent += sends;
      received += receives;
    }
  }

  trace::CollectiveDetail collective_detail(const EventTable& slice, const KernelEvent& kernel,
                                            std::string_view kernel_name) {
    trace::CollectiveDetail detail;
    if (!kernel.collective) {
      diagnostics_.count(kCollectiveWithoutMetadata, place_);
      detail.function = collective_function(kernel_name);
      detail.name = detail.dtype = detail.group = builder_.intern("");
      return detail;
    }
    const CollectiveArguments& told = slice.collectives[*kernel.collective];
    detail.function = collective_function(slice.texts[told.name]);
    if (detail.function == trace::CollectiveFunction::kUnknown) detail.function = collective_function(kernel_name);
    detail.name = meanings_[told.name].id;
    detail.dtype = meanings_[told.dtype].id;
    detail.group = meanings_[told.group].id;
    detail.in_elements = told.in_elements;
    detail.out_elements = told.out_elements;
    detail.group_size = told.group_size;
    detail.sequence = told.sequence;
    const auto bytes = element_bytes(slice.texts[told.dtype]);
    if (!bytes) diagnostics_.count(kUnknownDtype, place_);
    detail.element_bytes = bytes.value_or(0);
    if (bytes) note_alignments(told, detail);
    return detail;
  }

  void add_ranges(const EventTable& slice) {
    for (const RangeEvent& range : slice.ranges) {
      const auto all = common(lanes_.thread(range.span), range.span);
      if (!all) continue;
      const OperationId operation = builder_.add_range(*all, range.detail);
      if (range.detail.sequence_number && !arrow_ends_.empty()) note_arrow_end(range, operation);
    }
    for (const AllocationEvent& allocation : slice.allocations) {
      const auto all = common(lanes_.thread(allocation.span), allocation.span);
      if (!all) continue;
      if (allocation.detail.bytes > trace::kLargestAmountInAll - bytes_in_all_) {
        diagnostics_.count(kMalformedEvent, place_);
        continue;
      }
      bytes_in_all_ += allocation.detail.bytes;
      builder_.add_allocation(*all, allocation.detail);
    }
  }

  /// Of ranges that start together, the arrow means the innermost.
  void note_arrow_end(const RangeEvent& range, OperationId operation) {
    const auto end = arrow_ends_.find(EndKey{range.span.process, range.span.number, range.span.start});
    if (end == arrow_ends_.end()) return;
    if (end->second.range && end->second.duration < range.span.duration) return;
    end->second = {operation, range.span.duration};
  }

  void join_forward_backward() {
    std::unordered_map<std::int64_t, OperationId> forward;
    const auto range_at = [&](const FlowEvent& flow) {
      return arrow_ends_.at(EndKey{flow.process, flow.number, flow.at}).range;
    };
    const auto each = [&](bool starts, auto&& act) {
      for (const EventTable& slice : file_.slices) {
        for (const FlowEvent& flow : slice.forward_backward) {
          if (flow.is_start == starts) act(flow);
        }
      }
    };
    each(true, [&](const FlowEvent& flow) {
      if (const auto range = range_at(flow)) forward.try_emplace(flow.id, *range);
    });
    each(false, [&](const FlowEvent& flow) {
      const auto range = range_at(flow);
      const auto from = forward.find(flow.id);
      if (range && from != forward.end()) {
        builder_.range_detail(*range).forward_op = from->second;
      } else {
        diagnostics_.count(kUnmatchedForwardBackward, place_);
      }
    });
  }

  /// Launches are joined by correlation; the arrows that Kineto draws must say the same.
  void check_launch_flows() {
    std::unordered_set<std::int64_t> on_device;
    bool has_device_set = false;
    for (const EventTable& slice : file_.slices) {
      for (const FlowEvent& flow : slice.launches) {
        const auto call = calls_.find(flow.id);
        bool agrees = call && (!flow.is_start || call_starts_[*call] == flow.at);
        if (!call && !flow.is_start) {  // launched before the recording began
          if (!has_device_set) collect_device_correlations(on_device);
          has_device_set = true;
          agrees = on_device.contains(flow.id);
        }
        if (!agrees) diagnostics_.count(kContradictingFlow, place_);
      }
    }
  }

  void collect_device_correlations(std::unordered_set<std::int64_t>& correlations) const {
    for (const EventTable& slice : file_.slices) {
      for (const KernelEvent& kernel : slice.kernels) correlations.insert(kernel.correlation.value_or(0));
      for (const CopyEvent& copy : slice.copies) correlations.insert(copy.correlation.value_or(0));
      for (const SyncEvent& sync : slice.syncs) correlations.insert(sync.correlation);
    }
  }

  /// Threads without a name get that of their process. Of several names of one process or lane, the last counts.
  void name_lanes() {
    std::map<std::int64_t, std::string_view> processes;  // each is named once, however often the file does
    for_each_name([&](const LaneNameEvent& lane, std::string_view text) {
      if (lane.is_process) processes[lane.process] = text;
    });
    for (const auto& [process, text] : processes) lanes_.name_threads(process, text);
    for_each_name([&](const LaneNameEvent& lane, std::string_view text) {
      if (lane.is_process) return;
      const LaneKind kind = text.starts_with("stream ") ? LaneKind::kStream : LaneKind::kHostThread;
      lanes_.name(kind, lane.process, lane.number, text);
    });
  }

  template <class Act>
  void for_each_name(Act act) const {
    for (const EventTable& slice : file_.slices) {
      for (const LaneNameEvent& lane : slice.lane_names) {
        const std::string_view text = slice.texts[lane.name];
        act(lane, text.substr(0, text.find_last_not_of(' ') + 1));  // Kineto writes "stream 7 "
      }
    }
  }

  struct EndKeyHash {
    std::size_t operator()(const EndKey& key) const noexcept {
      const auto at = static_cast<std::size_t>(std::get<2>(key)) * 0x9E3779B97F4A7C15ULL;
      return at ^ (at >> 32U) ^ static_cast<std::size_t>(std::get<1>(key));
    }
  };

  const RankFile& file_;
  const std::int32_t number_;
  const std::string place_;
  TraceBuilder& builder_;
  Diagnostics& diagnostics_;
  Lanes lanes_;
  std::vector<Nanoseconds> call_starts_;  ///< by row: calls in the order of the file, as in the next three
  trace::CorrelationIndex calls_;
  std::vector<const SyncEvent*> sync_of_call_;
  std::vector<std::optional<AddedCall>> call_operations_;
  std::vector<Meaning> meanings_;  ///< by TextIndex of the slice at hand
  std::unordered_map<EndKey, ArrowEnd, EndKeyHash> arrow_ends_;
  Bytes bytes_in_all_ = 0;  ///< of the allocations
};

std::int64_t process_id(const RankFile& rank_file) {
  for (const EventTable& slice : rank_file.slices) {
    if (!slice.calls.empty()) return slice.calls.front().span.process;
  }
  for (const EventTable& slice : rank_file.slices) {
    for (const RangeEvent& range : slice.ranges) {
      if (range.detail.kind == trace::RangeKind::kCpuOp) return range.span.process;
    }
  }
  return 0;
}

}  // namespace

void add_rank(const RankFile& rank_file, std::int32_t number, TraceBuilder& builder, Diagnostics& diagnostics) {
  trace::Rank rank;
  rank.number = number;
  rank.world_size = rank_file.header.world_size;
  rank.source = rank_file.file.string();
  rank.process_id = process_id(rank_file);
  rank.host_name = rank_file.header.host_name;
  rank.producer = rank_file.header.producer;
  rank.devices = rank_file.header.devices;
  RankAdder(rank_file, number, builder.add_rank(std::move(rank)), builder, diagnostics).add();
}

}  // namespace interlace::ingest::kineto
