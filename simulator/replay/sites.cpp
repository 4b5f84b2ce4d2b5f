#include "simulator/replay/sites.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>

#include "simulator/contention/multiplication_tiles.hpp"
#include "simulator/graph/blocking_copies.hpp"
#include "simulator/graph/communication_streams.hpp"
#include "simulator/graph/streams_of_rank.hpp"
#include "simulator/replay/devices_of_ranks.hpp"
#include "simulator/replay/host_copies.hpp"
#include "simulator/replay/left_out.hpp"
#include "simulator/replay/lone_rank.hpp"
#include "simulator/replay/long_calls.hpp"
#include "simulator/replay/site_costs.hpp"
#include "simulator/stages/own_time.hpp"

namespace interlace::replay {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

constexpr Nanoseconds kBlockingCopyCall = 6 * kMicrosecond;
constexpr Nanoseconds kSyncCall = 4 * kMicrosecond;

WorkKind kind_of(const Trace& trace, OperationId op) {
  switch (trace.kind(op)) {
    case OperationKind::kCollective: return WorkKind::kCollective;
    case OperationKind::kMemset: return WorkKind::kMemset;
    case OperationKind::kCopy: {
      const trace::CopyDetail* copy = trace.copy(op);
      const auto on_host = [](trace::MemorySpace s) {
        return s == trace::MemorySpace::kPinned || s == trace::MemorySpace::kPageable;
      };
      return on_host(copy->source) || on_host(copy->destination) ? WorkKind::kHostCopy : WorkKind::kDeviceCopy;
    }
    default: return WorkKind::kKernel;
  }
}

/// Copies to pageable memory always do; others where the recorded call returned behind them.
bool blocks_host(const Trace& trace, OperationId call, OperationId op) {
  const trace::CopyDetail* copy = trace.copy(op);
  if (copy == nullptr) return false;
  if (copy->destination == trace::MemorySpace::kPageable) return true;
  const bool may_wait = copy->source != trace::MemorySpace::kPageable || stages::is_staged(trace, op);
  return may_wait && graph::returned_behind(trace, call, op);
}

class SiteFinder {
 public:
  SiteFinder(const Trace& trace, const stages::Cut& cut, const Communicators& communicators)
      : trace_(&trace), cut_(&cut), communicators_(&communicators) {}

  SiteTable run() {
    table_.communicators = communicators_->all();
    find_collective_streams();
    for (const stages::RankCut& rank : cut_->ranks) {
      main_stream_ = optimizer_stream(rank);
      table_.rank_numbers.push_back(trace_->ranks()[rank.rank.index()].number);
      auto& iterations = table_.ranks.emplace_back();
      for (const stages::Iteration& iteration : rank.iterations) iterations.push_back(record(rank, iteration));
    }
    leave_out_idle_blocks();
    return std::move(table_);
  }

 private:
  void leave_out_idle_blocks() {
    contention::MatrixExtents extents;
    const auto for_each_kernel = [&](auto visit) {
      for (Site& site : table_.sites) {
        if (const trace::KernelDetail* kernel = trace_->kernel(site.instances.front())) visit(site, *kernel);
      }
    };
    for_each_kernel([&](const Site& site, const trace::KernelDetail& kernel) { extents.see(site.name, kernel); });
    for_each_kernel([&](Site& site, const trace::KernelDetail& kernel) {
      site.shape.blocks = extents.blocks_with_work(site.name, kernel);
    });
  }

  void find_collective_streams() {
    const std::vector<bool> is_communication = graph::communication_streams(*trace_);
    for (std::uint32_t r = 0; r < trace_->ranks().size(); ++r) {
      std::uint32_t number = 0;
      for (const LaneId stream : graph::streams_of_rank(*trace_, {r})) {
        if (!is_communication[stream.index()]) continue;
        if (table_.collective_streams.size() <= number) table_.collective_streams.resize(number + 1, 0);
        std::int32_t& priority = table_.collective_streams[number];
        priority = std::min(priority, trace_->lane(stream).priority.value_or(0));
        collective_stream_[stream] = number++;
      }
    }
  }

  /// The stream that the dense optimizer runs on is the main one, however little else runs there.
  std::optional<LaneId> optimizer_stream(const stages::RankCut& rank) const {
    std::map<LaneId, int> votes;
    std::map<LaneId, int> all;
    for (const stages::Iteration& iteration : rank.iterations) {
      for (const stages::Item& item : iteration.items) {
        for (const OperationId op : trace_->launched_by(item.call)) {
          if (collective_stream_.contains(trace_->lane_of(op))) continue;
          ++all[trace_->lane_of(op)];
          if (item.segment.stage == schedule::Stage::kOptimizerStep) ++votes[trace_->lane_of(op)];
        }
      }
    }
    const auto& by = votes.empty() ? all : votes;
    const auto most = std::ranges::max_element(by, {}, [](const auto& v) { return v.second; });
    return most == by.end() ? std::nullopt : std::optional(most->first);
  }

  RecordedIteration record(const stages::RankCut& rank, const stages::Iteration& iteration) {
    RecordedIteration result;
    std::map<std::tuple<stages::SegmentKey, trace::StringId, std::uint32_t>, std::uint32_t> seen;
    const std::vector<stages::MemoryItem> without_calls = first_events_without_calls(iteration);
    auto instant = without_calls.begin();
    const auto add_instants_before = [&](Nanoseconds t) {
      for (; instant != without_calls.end() && trace_->start(instant->event) < t; ++instant) {
        result.calls.push_back({.call = std::nullopt, .segment = *instant->segment});
      }
    };
    for (const stages::Item& item : iteration.items) {
      add_instants_before(trace_->start(item.call));
      const auto launched = trace_->launched_by(item.call);
      RecordedCall call{item.call,
                        item.segment,
                        item.gap,
                        stages::own_time(*trace_, item.call),
                        false,
                        static_cast<std::uint32_t>(result.works.size()),
                        static_cast<std::uint32_t>(launched.size())};
      if (launched.empty()) {
        call.synchronises = true;
        const trace::SyncDetail* sync = trace_->sync(item.call);
        call.whole_device = sync != nullptr && sync->kind == trace::SyncKind::kDeviceSync;
        call.duration = std::min(call.duration, kSyncCall);
      }
      for (const OperationId op : launched) {
        const std::uint32_t communicator = communicators_->of(op);
        const std::uint32_t ordinal = seen[{item.segment, trace_->names()[op.index()], communicator}]++;
        RecordedWork work{op, site_of(item.segment, op, {communicator, ordinal}, rank.rank), false, 0};
        const auto stream = collective_stream_.find(trace_->lane_of(op));
        work.on_collective_stream = stream != collective_stream_.end();
        if (work.on_collective_stream) work.collective_stream = stream->second;
        if (blocks_host(*trace_, item.call, op)) {
          call.duration = std::min(call.duration, kBlockingCopyCall);
          work.blocks_host = true;
          table_.sites[work.site.index()].blocks_host = true;
        }
        result.works.push_back(work);
      }
      result.calls.push_back(call);
    }
    add_instants_before(iteration.host.end);
    result.tail = iteration.tail;
    find_marks(result);
    return result;
  }

  /// Where a host waits for an event that the recording leads to, the last call before that event's record is marked,
  /// if it queued work on the stream of the event.
  void find_marks(RecordedIteration& iteration) const {
    for (std::size_t i = 0; i < iteration.calls.size(); ++i) {
      RecordedCall& call = iteration.calls[i];
      const trace::SyncDetail* sync = call.synchronises ? trace_->sync(*call.call) : nullptr;
      if (sync == nullptr || sync->kind != trace::SyncKind::kEventSync || !sync->record) continue;
      const trace::SyncDetail* record = trace_->sync(*sync->record);
      for (std::size_t j = i; j-- > 0;) {
        RecordedCall& before = iteration.calls[j];
        if (!before.call || trace_->start(*before.call) > trace_->start(*sync->record)) continue;
        const bool on_its_stream = before.works > 0 && record != nullptr && record->stream &&
                                   trace_->lane_of(*iteration.works[before.first_work].work) == *record->stream;
        if (on_its_stream) {
          before.marks = true;
          call.behind = before.call;
        }
        break;
      }
    }
  }

  /// The first memory event of each segment that has some but no calls.
  static std::vector<stages::MemoryItem> first_events_without_calls(const stages::Iteration& iteration) {
    std::set<stages::SegmentKey> known;
    for (const stages::Item& item : iteration.items) known.insert(item.segment);
    std::vector<stages::MemoryItem> first;
    for (const stages::MemoryItem& event : iteration.memory) {
      if (event.segment && known.insert(*event.segment).second) first.push_back(event);
    }
    return first;
  }

  struct Place {
    std::uint32_t communicator = Communicators::kAll;
    std::uint32_t ordinal = 0;
    auto operator<=>(const Place&) const = default;
  };

  SiteId site_of(const stages::SegmentKey& segment, OperationId op, Place place, trace::RankId rank) {
    const trace::StringId name = trace_->names()[op.index()];
    const auto [known, is_new] =
        ids_.try_emplace({segment, name, place}, SiteId{static_cast<std::uint32_t>(table_.sites.size())});
    if (is_new) table_.sites.push_back(describe(segment, op, place, rank));
    Site& site = table_.sites[known->second.index()];
    site.instances.push_back(op);
    if (const trace::CollectiveDetail* c = trace_->collective(op)) {
      site.function = c->function;
      site.bytes = std::max(site.bytes, bytes_moved(*c));
    }
    return known->second;
  }

  Site describe(const stages::SegmentKey& segment, OperationId op, Place place, trace::RankId rank) const {
    Site site;
    site.segment = segment;
    site.ordinal = place.ordinal;
    site.communicator = place.communicator;
    site.name = trace_->name(op);
    site.kind = kind_of(*trace_, op);
    site.on_side_stream = main_stream_ && trace_->lane_of(op) != *main_stream_;
    if (const trace::KernelDetail* kernel = trace_->kernel(op)) {
      const auto& devices = trace_->ranks()[rank.index()].devices;
      const std::int64_t ordinal_of_device = trace_->lane(trace_->lane_of(op)).process;
      const auto device = std::ranges::find(devices, ordinal_of_device, &trace::Device::ordinal);
      site.shape = contention::shape_of(*kernel, trace_->name(op), device == devices.end() ? nullptr : &*device);
      // A damaged recording may say anything.
      if (site.kind == WorkKind::kCollective)
        site.ctas = static_cast<std::int32_t>(std::min<std::int64_t>(kernel->blocks(), site.shape.sm_count));
    }
    if (const trace::CopyDetail* copy = trace_->copy(op)) {
      site.bytes = copy->bytes;
      // What is smaller goes with the commands, beside a copy of any size.
      if (site.kind == WorkKind::kHostCopy && copy->bytes >= kLeastHostCopy) {
        const bool is_to_device = copy->destination == trace::MemorySpace::kDevice;
        site.engine = is_to_device ? CopyEngine::kToDevice : CopyEngine::kToHost;
      }
    }
    return site;
  }

  const Trace* trace_;
  const stages::Cut* cut_;
  const Communicators* communicators_;
  SiteTable table_;
  std::map<LaneId, std::uint32_t> collective_stream_;
  std::map<std::tuple<stages::SegmentKey, trace::StringId, Place>, SiteId> ids_;
  std::optional<LaneId> main_stream_;
};

}  // namespace

SiteTable find_sites(const Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics,
                     const contention::MachineProfile* machine) {
  return find_sites(trace, cut, graph::ProcessGroups(trace, diagnostics), diagnostics, machine);
}

SiteTable find_sites(const Trace& trace, const stages::Cut& cut, const graph::ProcessGroups& groups,
                     Diagnostics& diagnostics, const contention::MachineProfile* machine) {
  const Communicators communicators(groups, cut);
  SiteTable table = SiteFinder(trace, cut, communicators).run();
  table.modules = cut.modules;
  const contention::MachineProfile unknown;
  estimate_costs(trace, table, diagnostics, machine == nullptr ? unknown : *machine);
  keep_order_of_exchanges(trace, cut, table);
  leave_out_iterations(cut, table, diagnostics);
  count_long_calls(trace, cut, table, diagnostics);
  count_other_devices(trace, cut, diagnostics);
  table.undisturbed = undisturbed_hosts(table, diagnostics);
  return table;
}

}  // namespace interlace::replay
