#include "simulator/trace_check/host_reads.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "simulator/trace_check/doubts.hpp"

namespace interlace::trace_check {

namespace {

using graph::EdgeKind;
using graph::Graph;
using trace::MemorySpace;
using trace::OperationId;
using trace::OperationKind;

/// A host that waited for work of a run of validate_output.
struct Wait {
  OperationId work;
  Nanoseconds start = 0;
  bool for_event = false;
};

class UnfinishedReadFinder {
 public:
  UnfinishedReadFinder(const trace::Trace& trace, const StagedWork& staged, const Graph& graph,
                       const RecordedOrder& order, trace::RankId rank)
      : trace_(&trace), staged_(&staged), graph_(&graph), order_(&order), rank_(rank) {}

  std::vector<Race> run() {
    std::vector<OperationId> copies;
    for (std::uint32_t i = 0; i < trace_->size(); ++i) {
      const OperationId op{i};
      if (trace_->rank_of(op) != rank_) continue;
      if (trace_->kind(op) == OperationKind::kHostSync) note_waits(op);
      if (trace_->kind(op) == OperationKind::kCopy && is_validated(op) && to_host(op)) copies.push_back(op);
    }
    std::vector<Race> races;
    for (const OperationId copy : copies) {
      const auto call = trace_->launch_of(copy);
      if (!call || is_waited_for(copy, *call)) continue;
      races.push_back(race(copy, *call));
      races.back().may_be_waited_for = has_untold_wait(copy, *call);
    }
    return races;
  }

 private:
  [[nodiscard]] bool is_validated(OperationId work) const {
    const StageRun* run = staged_->run(work);
    return run != nullptr && run->stage == schedule::Stage::kValidateOutput;
  }

  [[nodiscard]] bool to_host(OperationId copy) const {
    const trace::CopyDetail& detail = *trace_->copy(copy);
    return !detail.peer && detail.destination != MemorySpace::kDevice;
  }

  void note_waits(OperationId sync) {
    const trace::SyncDetail* detail = trace_->sync(sync);
    if (waits_for_untold_event(*trace_, sync)) untold_.push_back(sync);
    const bool for_event = detail != nullptr && detail->record_stream.has_value();
    graph_->for_each_predecessor(Graph::end_of(sync), [&](graph::VertexId from, EdgeKind kind) {
      if (kind != EdgeKind::kHostSync) return;
      const OperationId work = *graph_->operation_of(from);
      if (is_validated(work)) waits_[*staged_->run_of[work.index()]].push_back({work, trace_->start(sync), for_event});
    });
  }

  [[nodiscard]] bool is_waited_for(OperationId copy, OperationId call) const {
    bool by_its_call = false;
    graph_->for_each_predecessor(Graph::end_of(call), [&](graph::VertexId from, EdgeKind kind) {
      by_its_call = by_its_call || (kind == EdgeKind::kBlockingCopy && from == Graph::end_of(copy));
    });
    if (by_its_call) return true;
    const auto waits = waits_.find(*staged_->run_of[copy.index()]);
    if (waits == waits_.end()) return false;
    const auto goes_on = launch_of_other_stages(copy, call);
    return std::ranges::any_of(waits->second, [&](const Wait& wait) {
      const bool in_time = wait.for_event || !goes_on || wait.start < *goes_on;
      return in_time && (wait.work == copy || order_->before(copy, wait.work));
    });
  }

  /// The stage that makes the copy waits for an event behind it, of which the recording does not tell where it is.
  [[nodiscard]] bool has_untold_wait(OperationId copy, OperationId call) const {
    return std::ranges::any_of(untold_, [&](OperationId sync) {
      return staged_->run_of[sync.index()] == staged_->run_of[copy.index()] &&
             trace_->start(sync) > trace_->start(call);
    });
  }

  /// When the thread launches work of another run the next time; none where it does not.
  [[nodiscard]] std::optional<Nanoseconds> launch_of_other_stages(OperationId copy, OperationId call) const {
    const auto on_thread = trace_->on_lane(trace_->lane_of(call));
    const auto after =
        std::ranges::upper_bound(on_thread, trace_->start(call), {}, [&](OperationId op) { return trace_->start(op); });
    const auto next = std::find_if(after, on_thread.end(), [&](OperationId op) {
      const auto launched = trace_->launched_by(op);
      return !launched.empty() && staged_->run_of[launched.front().index()] != staged_->run_of[copy.index()];
    });
    return next == on_thread.end() ? std::nullopt : std::optional(trace_->start(*next));
  }

  [[nodiscard]] Race race(OperationId copy, OperationId call) const {
    const std::uint32_t run = *staged_->run_of[copy.index()];
    return {check::HazardKind::kUnfinishedHostRead,
            {schedule::Resource::kHostBatch, staged_->runs[run].batch},
            copy,
            call,
            run,
            run,
            trace_->end(call) - trace_->end(copy)};
  }

  const trace::Trace* trace_;
  const StagedWork* staged_;
  const Graph* graph_;
  const RecordedOrder* order_;
  trace::RankId rank_;
  std::map<std::uint32_t, std::vector<Wait>> waits_;  ///< by run
  std::vector<OperationId> untold_;                   ///< waits for events that are not told
};

}  // namespace

std::vector<Race> find_unfinished_host_reads(const trace::Trace& trace, const StagedWork& staged,
                                             const graph::Graph& graph, const RecordedOrder& order,
                                             trace::RankId rank) {
  return UnfinishedReadFinder(trace, staged, graph, order, rank).run();
}

}  // namespace interlace::trace_check
