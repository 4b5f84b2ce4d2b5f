#include "simulator/trace_check/accesses.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace interlace::trace_check {

namespace {

using schedule::Resource;
using schedule::Stage;
using stages::Piece;
using trace::LaneId;
using trace::OperationId;

struct Effects {
  std::vector<Resource> reads;
  std::vector<Resource> writes;

  void add(const Effects& other) {
    reads.insert(reads.end(), other.reads.begin(), other.reads.end());
    writes.insert(writes.end(), other.writes.begin(), other.writes.end());
  }
};

/// What the language says of the whole stage. Reads under locks clash with nothing.
Effects whole(Stage stage) {
  Effects effects;
  const schedule::StageEffects& said = schedule::effects_of(stage);
  for (const schedule::Read& read : said.reads) {
    if (!read.locked) effects.reads.push_back(read.resource);
  }
  effects.writes.assign(said.writes.begin(), said.writes.end());
  return effects;
}

const Effects kTableUpdate{{Resource::kKjt, Resource::kTables}, {Resource::kTables}};
const Effects kTableOrder{{Resource::kKjt}, {}};
const Effects kBatchOrder{{Resource::kActivations}, {}};  // data-parallel features are kept for backward
const Effects kDenseBackward{{Resource::kActivations, Resource::kDenseParameters}, {Resource::kDenseGradients}};
const Effects kGradientReduction{{Resource::kDenseGradients}, {Resource::kDenseGradients}};
const Effects kSplitsExchange{{Resource::kSplits}, {Resource::kSplits}};

class AccessFinder {
 public:
  AccessFinder(const trace::Trace& trace, const StagedWork& staged, const graph::StreamQueues& queues,
               trace::RankId rank, const AccessOptions& options)
      : trace_(&trace), staged_(&staged), queues_(&queues), rank_(rank), options_(options) {}

  Accesses run() {
    find_lookup_streams();
    for (const OperationId op : work_by_launch()) enter(op);
    return std::move(accesses_);
  }

 private:
  [[nodiscard]] std::vector<OperationId> work_by_launch() const {
    std::vector<OperationId> work;
    for (std::uint32_t i = 0; i < trace_->size(); ++i) {
      if (trace::is_device_work(trace_->kind({i})) && trace_->rank_of({i}) == rank_) work.push_back({i});
    }
    std::ranges::stable_sort(work, {}, [&](OperationId op) { return queues_->queued_at(op); });
    return work;
  }

  [[nodiscard]] bool is_collective(OperationId op) const {
    return trace_->kind(op) == trace::OperationKind::kCollective;
  }

  void find_lookup_streams() {
    for (std::uint32_t i = 0; i < trace_->size(); ++i) {
      if (!trace::is_device_work(trace_->kind({i})) || trace_->rank_of({i}) != rank_ || is_collective({i})) continue;
      const StageRun* run = staged_->run({i});
      if (run != nullptr && run->stage == Stage::kEmbeddingLookup) lookup_streams_.insert(trace_->lane_of({i}));
      if (run != nullptr && run->stage == Stage::kDenseForward) dense_streams_.insert(trace_->lane_of({i}));
    }
  }

  void enter(OperationId op) {
    const auto run = staged_->run_of[op.index()];
    const Effects effects = run ? effects_of(staged_->runs[*run], op) : Effects{};
    if (effects.reads.empty() && effects.writes.empty()) {
      ++accesses_.unchecked;
      return;
    }
    ++accesses_.checked;
    const auto [known, is_new] = group_of_.try_emplace({*run, trace_->lane_of(op), is_collective(op)},
                                                       static_cast<std::uint32_t>(accesses_.groups.size()));
    if (is_new) {
      accesses_.groups.push_back({*run, trace_->lane_of(op), is_collective(op), {}});
      for (const Resource resource : effects.reads) touch(known->second, resource).reads = true;
      for (const Resource resource : effects.writes) touch(known->second, resource).writes = true;
    }
    accesses_.groups[known->second].work.push_back(op);
  }

  Touch& touch(std::uint32_t group, Resource resource) {
    const StageRun& run = staged_->runs[accesses_.groups[group].run];
    const schedule::ResourceTraits& traits = schedule::traits_of(resource);
    DatumKey key{resource, std::nullopt};
    if (traits.per_batch) key.batch = run.batch;
    std::vector<Touch>& touches = accesses_.data[key];
    const auto module = traits.per_module ? run.module : std::nullopt;
    // A group touches all that it does when it is made.
    if (touches.empty() || touches.back().group != group) touches.push_back({group, module});
    return touches.back();
  }

  [[nodiscard]] Effects effects_of(const StageRun& run, OperationId op) const {
    switch (run.stage) {
      case Stage::kInputDistStart:
        if (is_collective(op)) return kSplitsExchange;
        return run.piece == Piece::kExchange ? Effects{{}, {Resource::kSplits}} : whole(run.stage);
      case Stage::kInputDistWait:
        return run.piece == Piece::kSplits ? Effects{{Resource::kSplits}, {}} : whole(run.stage);
      case Stage::kEmbeddingLookup: {
        if (is_collective(op)) return {};  // it moves what was looked up, not tables
        Effects effects = whole(run.stage);
        if (options_.feature_processors) effects.reads.push_back(Resource::kDenseParameters);
        return effects;
      }
      case Stage::kBackward: return backward(run, op);
      default: return whole(run.stage);
    }
  }

  [[nodiscard]] Effects backward(const StageRun& run, OperationId op) const {
    if (is_collective(op)) {
      const trace::CollectiveDetail* detail = trace_->collective(op);
      const bool reduces = detail != nullptr && detail->function == trace::CollectiveFunction::kAllReduce;
      return reduces && run.piece != Piece::kGradDist ? kGradientReduction : Effects{};
    }
    switch (run.piece) {
      case Piece::kUpdate: return run.module ? kTableUpdate : kDenseBackward;
      case Piece::kOrder: return run.module ? kTableOrder : kBatchOrder;
      case Piece::kGradDist: return {};
      case Piece::kDense: return kDenseBackward;
      default: break;
    }
    if (run.module) return kTableUpdate;
    // Autograd runs the backward of a lookup on its stream, and dense layers on theirs; where that is one, both.
    const LaneId stream = trace_->lane_of(op);
    Effects effects;
    if (lookup_streams_.contains(stream)) effects.add(kTableUpdate);
    if (dense_streams_.contains(stream) || !lookup_streams_.contains(stream)) effects.add(kDenseBackward);
    return effects;
  }

  const trace::Trace* trace_;
  const StagedWork* staged_;
  const graph::StreamQueues* queues_;
  trace::RankId rank_;
  AccessOptions options_;
  std::set<LaneId> lookup_streams_;
  std::set<LaneId> dense_streams_;
  std::map<std::tuple<std::uint32_t, LaneId, bool>, std::uint32_t> group_of_;
  Accesses accesses_;
};

}  // namespace

std::optional<OperationId> last_queued(const AccessGroup& group, const graph::StreamQueues& queues, Nanoseconds time) {
  const auto after =
      std::ranges::upper_bound(group.work, time, {}, [&](OperationId work) { return queues.queued_at(work); });
  return after == group.work.begin() ? std::nullopt : std::optional(*std::prev(after));
}

Accesses find_accesses(const trace::Trace& trace, const StagedWork& staged, const graph::StreamQueues& queues,
                       trace::RankId rank, const AccessOptions& options) {
  return AccessFinder(trace, staged, queues, rank, options).run();
}

}  // namespace interlace::trace_check
