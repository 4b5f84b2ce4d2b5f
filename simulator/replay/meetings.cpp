#include "simulator/replay/meetings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "simulator/replay/observation.hpp"
#include "simulator/replay/recorded_works.hpp"

namespace interlace::replay {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::Trace;

/// What starts later than this behind the release waited for something else as well: what is released starts within 1.5
/// to 5 us (docs/contention.md).
constexpr Nanoseconds kLongestLatency = 8 * kMicrosecond;
/// Of two works that end closer together, by less than a release takes, either may be what released a third.
constexpr Nanoseconds kTogether = 3 * kMicrosecond;

/// A work as it was launched.
struct Launched {
  OperationId op;
  SiteId site;
  Nanoseconds called = 0;
  std::optional<LaneId> issuing;  ///< collectives: the stream that was launched on before, for which it waits
  std::size_t behind = 0;         ///< how many works that stream had been given by then
};

using Queue = std::vector<Launched>;  // of one stream

/// The launches of one rank, and where two works met.
class Rank {
 public:
  Rank(const Trace& trace, const SiteTable& table, const std::vector<RecordedIteration>& iterations)
      : trace_(&trace), table_(&table) {
    for (const RecordedIteration& iteration : iterations) {
      for_each_work(iteration, [this](const RecordedCall& call, const RecordedWork& work) { add(call, work); });
    }
  }

  /// Calls met(collective, kernel's site, meeting, kernel_was_first) for each meeting. The kernel is that work which
  /// was released: a fill of a microsecond may stand in front of it.
  template <class Met>
  void for_each_meeting(Met met) const {
    for (const auto& [lane, queue] : queues_) {
      for (std::size_t i = 1; i < queue.size(); ++i) {
        if (kind(queue[i]) != WorkKind::kCollective || !queue[i].issuing) continue;
        behind_kernel(queue[i - 1], queue[i], met);
        if (kind(queue[i - 1]) == WorkKind::kCollective) behind_collective(lane, queue[i - 1], queue[i], met);
      }
    }
  }

 private:
  void add(const RecordedCall& call, const RecordedWork& work) {
    if (!work.work || !call.call) return;
    Launched launched{*work.work, work.site, trace_->start(*call.call), std::nullopt, 0};
    const LaneId lane = trace_->lane_of(*work.work);
    if (!work.on_collective_stream) {
      last_ = lane;
    } else if (last_) {
      launched.issuing = last_;
      launched.behind = queues_[*last_].size();
    }
    queues_[lane].push_back(launched);
  }

  [[nodiscard]] WorkKind kind(const Launched& work) const { return table_->sites[work.site.index()].kind; }
  [[nodiscard]] Nanoseconds start(const Launched& work) const { return trace_->start(work.op); }
  [[nodiscard]] Nanoseconds end(const Launched& work) const { return trace_->end(work.op); }

  /// The kernel that was released at this time at place `next` of a queue, if one was.
  [[nodiscard]] const Launched* released(const Queue& queue, std::size_t next, Nanoseconds at) const {
    if (next >= queue.size() || queue[next].called + kQueuedEarly > at) return nullptr;
    if (start(queue[next]) < at || start(queue[next]) > at + kLongestLatency) return nullptr;
    const std::size_t kernel = kind(queue[next]) == WorkKind::kMemset ? next + 1 : next;
    return kernel < queue.size() && kind(queue[kernel]) == WorkKind::kKernel ? &queue[kernel] : nullptr;
  }

  template <class Met>
  void behind_kernel(const Launched& before, const Launched& collective, Met met) const {
    const Queue& queue = queues_.at(*collective.issuing);
    if (collective.behind == 0) return;
    const Nanoseconds at = end(queue[collective.behind - 1]);
    if (end(before) + kTogether > at || collective.called + kQueuedEarly > at || start(collective) < at) return;
    const Launched* kernel = released(queue, collective.behind, at);
    if (kernel == nullptr) return;
    met(collective, queue[collective.behind].site, Meeting::kBehindKernel, start(*kernel) < start(collective));
  }

  template <class Met>
  void behind_collective(LaneId lane, const Launched& before, const Launched& collective, Met met) const {
    const Nanoseconds at = end(before);
    if (collective.called + kQueuedEarly > at || start(collective) < at) return;
    for (const auto& [other, queue] : queues_) {
      const auto next = std::ranges::upper_bound(queue, at, {}, [&](const Launched& w) { return start(w); });
      if (other == lane || next == queue.begin() || end(*std::prev(next)) > at) continue;
      const auto place = static_cast<std::size_t>(next - queue.begin());
      const Launched* kernel = released(queue, place, at);
      if (kernel == nullptr) continue;
      const bool kernel_was_first = start(*kernel) < start(collective);
      if (start(collective) > (kernel_was_first ? end(*kernel) : at + kLongestLatency)) continue;
      const Meeting meeting = other == collective.issuing ? Meeting::kOnIssuingStream : Meeting::kOnAnotherStream;
      met(collective, queue[place].site, meeting, kernel_was_first);
    }
  }

  const Trace* trace_;
  const SiteTable* table_;
  std::map<LaneId, Queue> queues_;
  std::optional<LaneId> last_;  ///< the stream launched on last that is none of collectives
};

}  // namespace

void learn_races(const Trace& trace, SiteTable& table) {
  struct Met {
    Launched collective;
    SiteId kernel;
    Meeting meeting;
    bool kernel_was_first;
  };
  std::vector<Met> meetings;
  std::array<MeetingsSeen, kMeetings> all{};
  for (const std::vector<RecordedIteration>& iterations : table.ranks) {
    const auto met = [&](const Launched& collective, SiteId kernel, Meeting meeting, bool kernel_was_first) {
      meetings.push_back({collective, kernel, meeting, kernel_was_first});
      all[static_cast<std::size_t>(meeting)].add(kernel_was_first);
    };
    Rank(trace, table, iterations).for_each_meeting(met);
  }
  for (Site& site : table.sites) {
    if (site.kind == WorkKind::kCollective) site.races = RaceOdds(all);
  }
  for (const Met& met : meetings) {
    table.sites[met.collective.site.index()].races.see(met.collective.op, met.kernel, met.meeting,
                                                       met.kernel_was_first);
  }
}

}  // namespace interlace::replay
