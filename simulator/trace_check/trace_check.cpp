#include "simulator/trace_check/trace_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "simulator/check/findings.hpp"
#include "simulator/graph/graph.hpp"
#include "simulator/graph/rules/rules.hpp"
#include "simulator/graph/stream_queues.hpp"
#include "simulator/trace/lane_name.hpp"
#include "simulator/trace_check/accesses.hpp"
#include "simulator/trace_check/doubts.hpp"
#include "simulator/trace_check/host_reads.hpp"
#include "simulator/trace_check/order.hpp"
#include "simulator/trace_check/races.hpp"
#include "simulator/trace_check/reuse.hpp"
#include "simulator/trace_check/staleness.hpp"

namespace interlace::trace_check {

namespace {

using check::HazardKind;
using trace::OperationId;

std::string datum_name(const DatumKey& key) { return std::string(schedule::traits_of(key.resource).name); }

class Checker {
 public:
  Checker(const trace::Trace& trace, const StagedWork& staged, TraceCheckOptions options, Diagnostics& diagnostics)
      : trace_(&trace), staged_(&staged), options_(std::move(options)), graph_(trace, diagnostics), queues_(trace) {
    result_.collectives_unmatched = diagnostics.count_of(graph::kCollectiveUnmatched.code);
  }

  TraceCheck run() {
    count_waits();
    result_.stage_runs = std::ssize(staged_->runs);
    const std::vector<graph::VertexId> order = along_time(graph_);
    for (std::uint32_t r = 0; r < trace_->ranks().size(); ++r) check_rank({r}, order);
    for (auto& [key, hazard] : hazards_) sort_in(key, std::move(hazard));
    return std::move(result_);
  }

 private:
  enum class Verdict : std::uint8_t { kHazard, kUndecided, kHeldByHost };
  /// Hazards that differ in rank, batch and time only are one; streams of the ranks are the same by their names.
  using Key =
      std::tuple<Verdict, HazardKind, schedule::Resource, schedule::Stage, schedule::Stage, std::string, std::string>;

  void count_waits() {
    for (const graph::ResolvedWait& wait : graph_.waits()) {
      if (wait.evidence == graph::Evidence::kRecorded) {
        ++result_.waits_recorded;
      } else if (wait.evidence == graph::Evidence::kUnknown) {
        ++result_.waits_unknown;
      } else {
        ++result_.waits_inferred;
      }
    }
  }

  void check_rank(trace::RankId rank, const std::vector<graph::VertexId>& along_time) {
    const Accesses accesses =
        find_accesses(*trace_, *staged_, queues_, rank, {.feature_processors = options_.feature_processors});
    result_.checked += accesses.checked;
    result_.unchecked += accesses.unchecked;
    const RecordedOrder order(graph_, queues_, along_time, rank);
    std::vector<Race> races = find_races(*trace_, *staged_, accesses, queues_, order);
    const Reuse reuse = find_reuse(*trace_, *staged_, accesses, queues_, order, rank);
    races.insert(races.end(), reuse.races.begin(), reuse.races.end());
    const std::vector<Race> reads = find_unfinished_host_reads(*trace_, *staged_, graph_, order, rank);
    races.insert(races.end(), reads.begin(), reads.end());
    // An order with doubts is as dear as one without, and mostly nobody asks for it.
    const Doubts doubts(graph_, rank);
    const auto at_most = [&](bool is_needed, bool host_waits) -> std::optional<RecordedOrder> {
      if (!is_needed || doubts.empty()) return std::nullopt;
      return RecordedOrder(graph_, queues_, along_time, rank, {.host_waits = host_waits, .doubts = &doubts});
    };
    const auto with_doubts = at_most(!races.empty(), true);
    for (const Race& race : races) {
      add(race, rank, may_be_ordered(race, with_doubts) ? Verdict::kUndecided : Verdict::kHazard);
    }
    result_.blocks_checked += reuse.checked;
    result_.blocks_recorded += reuse.recorded;
    result_.has_memory = result_.has_memory || reuse.has_events;

    const RecordedOrder by_device(graph_, queues_, along_time, rank, {.host_waits = false});
    std::vector<Race> held = find_races(*trace_, *staged_, accesses, queues_, by_device);
    const Reuse held_reuse = find_reuse(*trace_, *staged_, accesses, queues_, by_device, rank);
    held.insert(held.end(), held_reuse.races.begin(), held_reuse.races.end());
    std::erase_if(held, [&](const Race& race) { return !order.before(race.earlier, race.later); });
    const auto by_device_with_doubts = at_most(!held.empty(), false);
    for (const Race& race : held) {
      if (!may_be_ordered(race, by_device_with_doubts)) add(race, rank, Verdict::kHeldByHost);
    }
    for (TraceStaleness& staleness : staleness_of(*staged_, accesses)) merge(std::move(staleness));
  }

  void merge(TraceStaleness staleness) {
    const auto same = std::ranges::find_if(result_.staleness, [&](const TraceStaleness& known) {
      return known.stage == staleness.stage && known.resource == staleness.resource;
    });
    if (same == result_.staleness.end()) {
      result_.staleness.push_back(std::move(staleness));
    } else {
      same->least = std::min(same->least, staleness.least);
      same->most = std::max(same->most, staleness.most);
    }
  }

  /// Whether waits of which it is not known what they are for may keep the two apart.
  [[nodiscard]] static bool may_be_ordered(const Race& race, const std::optional<RecordedOrder>& with_doubts) {
    if (race.kind == HazardKind::kUnfinishedHostRead) return race.may_be_waited_for;
    return with_doubts && with_doubts->before(race.earlier, race.later);
  }

  void sort_in(const Key& key, TraceHazard hazard) {
    switch (std::get<Verdict>(key)) {
      case Verdict::kUndecided: result_.undecided.push_back(std::move(hazard)); break;
      case Verdict::kHeldByHost: result_.held_by_host.push_back(std::move(hazard)); break;
      case Verdict::kHazard: {
        const bool known = std::ranges::any_of(options_.known, [&](const schedule::KnownHazard& one) {
          return check::tells_of(one, hazard.kind, hazard.datum, std::get<3>(key), std::get<4>(key));
        });
        (known ? result_.known_hazards : result_.hazards).push_back(std::move(hazard));
      }
    }
  }

  void add(const Race& race, trace::RankId rank, Verdict verdict) {
    const StageRun& earlier = staged_->runs[race.earlier_run];
    const StageRun& later = staged_->runs[race.later_run];
    const Key key{verdict,
                  race.kind,
                  race.datum.resource,
                  earlier.stage,
                  later.stage,
                  trace::lane_name(*trace_, trace_->lane_of(race.earlier)),
                  trace::lane_name(*trace_, trace_->lane_of(race.later))};
    const auto [known, is_new] = hazards_.try_emplace(key);
    TraceHazard& hazard = known->second;
    if (is_new) {
      hazard.kind = race.kind;
      hazard.datum = race.kind == HazardKind::kUnfinishedHostRead ? "the copy" : datum_name(race.datum);
      hazard.largest_margin = race.margin;
    }
    const std::int32_t number = trace_->ranks()[rank.index()].number;
    if (hazard.ranks.empty() || hazard.ranks.back() != number) hazard.ranks.push_back(number);
    ++hazard.occurrences;
    if (race.margin < 0) ++hazard.overlapped;
    hazard.largest_margin = std::max(hazard.largest_margin, race.margin);
    if (!is_new && race.margin >= hazard.smallest_margin) return;
    hazard.smallest_margin = race.margin;
    hazard.at = trace_->start(race.later);
    const check::Verbs verbs = check::verbs_of(race.kind);
    hazard.earlier = side(race.earlier, earlier, verbs.earlier);
    hazard.later = side(race.later, later, verbs.later);
  }

  [[nodiscard]] Side side(OperationId op, const StageRun& run, std::string_view does) const {
    return {std::string(schedule::to_string(run.stage)), std::string(does),
            trace::lane_name(*trace_, trace_->lane_of(op)), std::string(trace_->name(op)), run.batch};
  }

  const trace::Trace* trace_;
  const StagedWork* staged_;
  TraceCheckOptions options_;
  graph::Graph graph_;
  graph::StreamQueues queues_;
  std::map<Key, TraceHazard> hazards_;
  TraceCheck result_;
};

}  // namespace

TraceCheck check(const trace::Trace& trace, const StagedWork& staged, const TraceCheckOptions& options,
                 Diagnostics& diagnostics) {
  return Checker(trace, staged, options, diagnostics).run();
}

}  // namespace interlace::trace_check
