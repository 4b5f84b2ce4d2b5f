#include "simulator/memory/lifetimes.hpp"

#include <algorithm>

#include "simulator/base/saturating.hpp"
#include "simulator/memory/last_use.hpp"
#include "simulator/memory/moved_block.hpp"
#include "simulator/memory/steps.hpp"

namespace interlace::memory {

namespace {

using schedule::KeptUntil;
using schedule::Schedule;
using schedule::Stage;
using schedule::StageStep;
using stages::ModuleId;
using stages::Piece;
using stages::SegmentKey;

bool backward_in_parts(const Schedule& schedule) {
  return std::ranges::any_of(stage_steps(schedule), [](const StageStep* step) { return step->part.has_value(); });
}

/// Stages whose results the pipeline itself hands from stage to stage.
bool hands_on(Stage stage) {
  return stage == Stage::kCopyBatchToGpu || stage == Stage::kInputDistStart || stage == Stage::kInputDistWait ||
         stage == Stage::kOutputDistWait;
}

/// The segment whose results a block that outlives its own is among. What the sending half of an output dist makes, and
/// neither half nor autograd lets go, are pooled embeddings: what a reduce-scatter brings (row-wise tables) needs no
/// rearrangement, so that the waiting half hands it on as it is.
/// A rank of its own hands on what the lookup makes, since it has nothing to distribute.
SegmentKey result_of(const BlockClass& kind, const ClassHistory& history, bool distributes) {
  if (kind.made_in.stage != (distributes ? Stage::kOutputDistStart : Stage::kEmbeddingLookup)) return kind.made_in;
  if (history.released && history.released->place.segment) {
    const Stage last = history.released->place.segment->stage;
    if (last == kind.made_in.stage || last == Stage::kOutputDistStart || last == Stage::kOutputDistWait ||
        last == Stage::kBackward)
      return kind.made_in;
  }
  return {Stage::kOutputDistWait, Piece::kWhole, kind.made_in.module};
}

class Rules {
 public:
  Rules(const RecordedMemory& memory, const Schedule& recorded, const Schedule& wanted)
      : memory_(&memory),
        recorded_(&recorded),
        wanted_(&wanted),
        splits_(!backward_in_parts(recorded) && backward_in_parts(wanted)),
        joins_(backward_in_parts(recorded) && !backward_in_parts(wanted)),
        distributes_(std::ranges::any_of(
            memory.classes, [](const auto& entry) { return entry.first.made_in.stage == Stage::kOutputDistStart; })) {
    for (const auto& [kind, history] : memory.classes) {
      const SegmentKey& segment = kind.made_in;
      if (segment.module) last_module_ = std::max(last_module_, segment.module);
      if (result_of(kind, history, distributes_).stage == Stage::kOutputDistWait && outlives_segment(kind, history)) {
        Bytes& pooled = pooled_[segment.module];
        pooled = saturating_sum(pooled, history.bytes);
        all_pooled_ = saturating_sum(all_pooled_, history.bytes);
      }
    }
  }

  Lifetimes run() {
    for (const auto& [kind, history] : memory_->classes) place(kind, history);
    for (auto& [segment, fates] : result_) {
      std::ranges::stable_sort(fates, {}, [](const Fate& f) { return std::pair(f.made.calls, f.made.blocks); });
    }
    return std::move(result_);
  }

 private:
  void place(const BlockClass& kind, const ClassHistory& history) {
    Fate fate = moved_block(*memory_, kind, *recorded_, *wanted_);
    if (outlives_segment(kind, history)) {
      const SegmentKey result = result_of(kind, history, distributes_);
      hold_results(fate, result, history.released.has_value());
      hold_for_autograd(fate, kind.made_in);
      if (result != kind.made_in && !memory_->knows_uses) use_where_awaited(fate, result);
    }
    if (splits_) split_backward(fate, kind, history);
    if (joins_) join_backward(fate, kind, history);
    result_[*fate.made.segment].push_back(std::move(fate));
  }

  /// Who waits for a collective calls record_stream on what came (TorchRec's Request).
  void use_where_awaited(Fate& fate, const SegmentKey& wait) const {
    if (const auto stream = stream_of(*wanted_, wait)) fate.used_on.push_back(*stream);
  }

  /// Rule 1.
  void hold_results(Fate& fate, const SegmentKey& segment, bool release_known) const {
    if (!hands_on(segment.stage)) return;
    const StageStep* before = step_of(*recorded_, segment);
    const StageStep* now = step_of(*wanted_, segment);
    if (now == nullptr) return;
    if (release_known && before != nullptr && before->kept_until == now->kept_until) return;
    fate.holders = {now->kept_until ? until(*now->kept_until, segment) : until_read(segment)};
  }

  [[nodiscard]] Release until(KeptUntil kept, const SegmentKey& segment) const {
    if (!kept.stage) return {};
    return {end_of_stage(*kept.stage, segment.module), 0};
  }

  /// The end of the last segment of a stage that concerns the module; of all where it is not one module's.
  [[nodiscard]] Place end_of_stage(Stage stage, std::optional<ModuleId> module) const {
    if (stage == Stage::kBackward) return end_of({stage, Piece::kUpdate, last_update()});
    if (stage == Stage::kDenseForward) return end_of({stage, Piece::kWhole, {}});
    return end_of({stage, Piece::kWhole, module ? module : last_module_});
  }

  /// Autograd comes to the modules in reverse.
  [[nodiscard]] std::optional<ModuleId> last_update() const {
    std::optional<ModuleId> first;
    for (const auto& [kind, history] : memory_->classes) {
      if (kind.made_in.piece == Piece::kUpdate && !first) first = kind.made_in.module;
    }
    return backward_in_parts(*wanted_) ? last_module_ : first;
  }

  [[nodiscard]] Release until_read(const SegmentKey& segment) const {
    if (segment.stage == Stage::kCopyBatchToGpu) return {end_of_stage(Stage::kDenseForward, {}), 0};
    if (segment.stage != Stage::kOutputDistWait) return {end_of_stage(Stage::kInputDistFinish, segment.module), 0};
    // The dense arches begin by putting the pooled embeddings of all modules side by side.
    const SegmentKey dense{Stage::kDenseForward, Piece::kWhole, {}};
    for (const auto& [kind, history] : memory_->classes) {
      if (kind.made_in == dense && history.bytes >= all_pooled_)
        return {{dense, history.calls + 1, kind.ordinal + 1}, 0};
    }
    return {end_of(dense), 0};
  }

  /// Rule 2.
  void hold_for_autograd(Fate& fate, const SegmentKey& segment) const {
    if (segment.stage != Stage::kInputDistFinish && segment.stage != Stage::kEmbeddingLookup) return;
    const Release& recorded = fate.holders.front();
    if (!recorded.place.segment) return;
    const SegmentKey lookup{Stage::kEmbeddingLookup, Piece::kWhole, segment.module};
    const SegmentKey update{Stage::kBackward, Piece::kUpdate, segment.module};
    if (recorded.place.segment == lookup && recorded.batches_later == 1) {
      fate.holders.push_back({end_of(update), 0});
    } else if (recorded.place.segment == update && recorded.batches_later == 0 && looks_ahead(*recorded_)) {
      fate.holders.push_back({end_of(lookup), 1});
    }
  }

  /// Does the lookup of a batch come before the backward of the one before it? Then a recording shows the update as the
  /// last to let go of what the lookup keeps.
  static bool looks_ahead(const Schedule& schedule) {
    const StageStep* lookup = step_of(schedule, {Stage::kEmbeddingLookup, Piece::kWhole, {}});
    return lookup != nullptr && lookup->batch > 0;
  }

  /// The contiguous gradient of a module's pooled embeddings: as large as they are. Rule 4.
  void split_backward(Fate& fate, const BlockClass& kind, const ClassHistory& history) const {
    const SegmentKey dense{Stage::kBackward, Piece::kDense, {}};
    const auto pooled = pooled_.find(kind.made_in.module);
    const bool made_for_exchange = kind.made_in.piece == Piece::kGradDist && history.calls == 0;
    if (made_for_exchange && pooled != pooled_.end() && history.bytes == pooled->second) {
      fate.made = end_of(dense);
      fate.made.blocks -= kind.made_in.module->value + 1;
      fate.holders = {Release{}};
    } else if (kind.made_in == dense && released_in(history, Piece::kGradDist)) {
      fate.holders = {{end_of(dense), 0}};
    }
  }

  void join_backward(Fate& fate, const BlockClass& kind, const ClassHistory& history) {
    const SegmentKey dense{Stage::kBackward, Piece::kDense, {}};
    if (kind.made_in != dense) return;
    if (!history.released || !history.released->place.segment) {
      // The .grad of a module's pooled embeddings; modules in the order of their sizes' first match.
      for (const auto& [module, bytes] : pooled_) {
        const SegmentKey exchange{Stage::kBackward, Piece::kGradDist, module};
        if (bytes != history.bytes || std::ranges::find(joined_, module) != joined_.end()) continue;
        joined_.push_back(module);
        fate.made = {exchange, 0, 0};
        fate.holders = {until_rearranged(exchange, bytes).value_or(until_sent(module))};
        return;
      }
      return;
    }
    if (history.bytes == all_pooled_ && history.released->place.segment == dense) {
      const auto& last = *pooled_.begin();
      const SegmentKey exchange{Stage::kBackward, Piece::kGradDist, last.first};
      fate.holders = {until_rearranged(exchange, last.second).value_or(Release{end_of(exchange), 0, {}})};
    }
  }

  /// Modules of column-wise tables bring the gradient into the order of the shards first, all of it, and have no use
  /// for it behind that.
  [[nodiscard]] std::optional<Release> until_rearranged(const SegmentKey& exchange, Bytes pooled) const {
    const auto first = memory_->classes.lower_bound({exchange, 0, 0});
    if (first == memory_->classes.end() || first->first.made_in != exchange) return std::nullopt;
    if (first->second.bytes != pooled) return std::nullopt;
    return Release{{exchange, first->second.calls + 1, first->first.ordinal + 1}, 0, {}};
  }

  /// How long a module's contiguous gradient is held for its exchange. Where that makes what it sends (which the wait
  /// in front of the update lets go), as long as the pieces of that; else it is itself sent.
  [[nodiscard]] Release until_sent(std::optional<ModuleId> module) const {
    const SegmentKey exchange{Stage::kBackward, Piece::kGradDist, module};
    const Release awaited{{SegmentKey{Stage::kBackward, Piece::kUpdate, module}, 0, 0}, 0, {}};
    const auto first = memory_->classes.lower_bound({exchange, 0, 0});
    const bool is_sent = first != memory_->classes.end() && first->first.made_in == exchange;
    if (!is_sent || !first->second.released) return {end_of(exchange), 0};
    const bool sends_copy = std::ranges::any_of(memory_->classes, [&](const auto& entry) {
      return entry.first.made_in == exchange && entry.second.released == awaited;
    });
    return sends_copy ? *first->second.released : awaited;
  }

  static bool released_in(const ClassHistory& history, Piece piece) {
    return history.released && history.released->place.segment && history.released->place.segment->piece == piece;
  }

  const RecordedMemory* memory_;
  const Schedule* recorded_;
  const Schedule* wanted_;
  bool splits_;
  bool joins_;
  bool distributes_;  ///< whether output_dist_start makes anything
  std::optional<ModuleId> last_module_;
  std::map<std::optional<ModuleId>, Bytes> pooled_;  ///< pooled embeddings by module
  Bytes all_pooled_ = 0;
  std::vector<std::optional<ModuleId>> joined_;
  Lifetimes result_;
};

}  // namespace

Lifetimes lifetimes(const RecordedMemory& memory, const Schedule& recorded, const Schedule& wanted) {
  if (memory.frees == stages::Frees::kBehindLastUse) return lifetimes_behind_last_use(memory, recorded, wanted);
  return Rules(memory, recorded, wanted).run();
}

}  // namespace interlace::memory
