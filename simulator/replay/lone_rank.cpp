#include "simulator/replay/lone_rank.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace interlace::replay {

namespace {

using trace::OperationId;
using trace::Trace;

/// One range of c10d.
struct Exchange {
  OperationId range;
  bool is_silent = true;  ///< launches nothing
};

bool is_exchange(const Trace& trace, OperationId op) {
  const trace::RangeDetail* range = trace.range(op);
  return range != nullptr && range->kind == trace::RangeKind::kAnnotation && trace.name(op).starts_with("nccl:");
}

class LoneRank {
 public:
  LoneRank(const Trace& trace, trace::RankId rank, SiteTable& table) : trace_(&trace), table_(&table) {
    for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
      const trace::Lane& lane = trace.lane(trace::LaneId{i});
      if (lane.kind == trace::LaneKind::kHostThread && lane.rank == rank) find_exchanges(trace::LaneId{i});
    }
  }

  void rewrite(const Interval& host, RecordedIteration& iteration) {
    std::map<std::size_t, std::vector<OperationId>> behind;  // silent ones, by the call before them
    for (const Exchange& exchange : exchanges_) {
      const Nanoseconds start = trace_->start(exchange.range);
      if (!exchange.is_silent || !host.contains(start)) continue;
      if (const auto call = last_call_before(iteration, start)) behind[*call].push_back(exchange.range);
    }
    std::vector<RecordedWork> works;
    for (std::size_t i = 0; i < iteration.calls.size(); ++i) {
      RecordedCall& call = iteration.calls[i];
      const auto first = static_cast<std::uint32_t>(works.size());
      for (std::uint32_t w = 0; w < call.works; ++w) {
        works.push_back(iteration.works[call.first_work + w]);
        works.back().on_collective_stream = call.call && in_exchange_.contains(*call.call);
      }
      for (const OperationId range : behind[i]) {
        works.push_back({.work = std::nullopt, .site = silent_site(call.segment, range), .on_collective_stream = true});
      }
      call.first_work = first;
      call.works = static_cast<std::uint32_t>(works.size()) - first;
    }
    iteration.works = std::move(works);
  }

 private:
  void find_exchanges(trace::LaneId thread) {
    for (const OperationId op : trace_->on_lane(thread)) {
      if (is_exchange(*trace_, op)) {
        exchanges_.push_back({op});
      } else if (!exchanges_.empty() && !trace_->launched_by(op).empty() && is_within(op, exchanges_.back().range)) {
        exchanges_.back().is_silent = false;
        in_exchange_.insert(op);
      }
    }
  }

  [[nodiscard]] bool is_within(OperationId call, OperationId range) const {
    return trace_->lane_of(call) == trace_->lane_of(range) && trace_->start(call) < trace_->end(range);
  }

  [[nodiscard]] std::optional<std::size_t> last_call_before(const RecordedIteration& iteration, Nanoseconds at) const {
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < iteration.calls.size(); ++i) {
      if (iteration.calls[i].call && trace_->start(*iteration.calls[i].call) <= at) last = i;
    }
    return last;
  }

  SiteId silent_site(const stages::SegmentKey& segment, OperationId range) {
    const SiteId next{static_cast<std::uint32_t>(table_->sites.size())};
    const auto [known, is_new] = silent_.try_emplace({segment, std::string(trace_->name(range))}, next);
    if (is_new) {
      Site& site = table_->sites.emplace_back();
      site.segment = segment;
      site.name = trace_->name(range);
      site.kind = WorkKind::kDeviceCopy;
    }
    return known->second;
  }

  const Trace* trace_;
  SiteTable* table_;
  std::vector<Exchange> exchanges_;
  std::set<OperationId> in_exchange_;  ///< calls
  std::map<std::pair<stages::SegmentKey, std::string>, SiteId> silent_;
};

}  // namespace

void keep_order_of_exchanges(const Trace& trace, const stages::Cut& cut, SiteTable& table) {
  const bool has_collectives =
      std::ranges::any_of(table.sites, [](const Site& site) { return site.kind == WorkKind::kCollective; });
  if (has_collectives) return;
  table.lone_rank = true;
  for (std::size_t r = 0; r < cut.ranks.size(); ++r) {
    LoneRank rank(trace, cut.ranks[r].rank, table);
    for (std::size_t i = 0; i < cut.ranks[r].iterations.size(); ++i) {
      rank.rewrite(cut.ranks[r].iterations[i].host, table.ranks[r][i]);
    }
  }
}

}  // namespace interlace::replay
