#include "engine/pipeline/parameter_order.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::engine {

namespace {

using schedule::Stage;
using schedule::StageStep;
using schedule::StreamIndex;

// The newest batches whose update, and whose use, of the weights is done before what comes next; -1: none yet.
struct Behind {
  std::int64_t update = -1;
  std::int64_t use = -1;
};

Behind both(const Behind& a, const Behind& b) { return {std::max(a.update, b.update), std::max(a.use, b.use)}; }

// Goes through the host's steps and follows, for the host, each stream and the collectives, what is queued there next
// is behind. The modules of a stage are taken together.
class Walk {
 public:
  explicit Walk(const schedule::Schedule& schedule) : schedule_(&schedule), steps_(schedule::placed_steps(schedule)) {
    for (const schedule::PlacedStep& placed : steps_) {
      const auto* stage = std::get_if<StageStep>(&placed.step->action);
      if (stage != nullptr && stage->stage == Stage::kFeatureProcessor) user_ = Stage::kFeatureProcessor;
    }
  }

  /// The first stage that uses or updates the weights and is not behind all updates or uses above it; null: none.
  [[nodiscard]] const schedule::Step* first_unordered() {
    const std::int32_t depth = schedule::depth(*schedule_);
    const std::int64_t batches = 2 * depth + 4;  // by then each iteration is as the one before
    for (std::int64_t iteration = -depth; iteration < batches; ++iteration) {
      for (const schedule::PlacedStep& placed : steps_) {
        if (!run(*placed.step, iteration, batches)) return placed.step;
      }
    }
    return nullptr;
  }

 private:
  // False where the step races.
  bool run(const schedule::Step& step, std::int64_t iteration, std::int64_t batches) {
    if (const auto* wait = std::get_if<schedule::WaitStep>(&step.action)) {
      run_wait(*wait, iteration);
    } else if (const auto* record = std::get_if<schedule::RecordStep>(&step.action)) {
      events_[{record->event, iteration}] = now(record->stream);
    } else if (const auto* stage = std::get_if<StageStep>(&step.action)) {
      if (schedule::runs(*stage, iteration, batches)) return run_stage(*stage, iteration + stage->batch);
    }
    return true;
  }

  void run_wait(const schedule::WaitStep& wait, std::int64_t iteration) {
    Behind behind;
    if (const auto* source = std::get_if<StreamIndex>(&wait.source)) {
      behind = now(*source);
    } else {
      const auto found = events_.find({std::get<std::string>(wait.source), iteration + wait.event_batch});
      if (found != events_.end()) behind = found->second;
    }
    Behind& waiter = wait.waiter ? at(*wait.waiter) : host_;
    waiter = both(waiter, behind);
  }

  bool run_stage(const StageStep& stage, std::int64_t batch) {
    for (const StreamIndex other : stage.after) join(stage.stream, now(other));
    await(stage, batch);
    if (stage.stage == Stage::kBackward && stage.part != schedule::Part::kDense) update_tables(stage);
    if (stage.stage == user_) {
      if (now(stage.stream).update < newest_.update) return false;
      at(stage.stream).use = newest_.use = batch;
    }
    if (stage.stage == Stage::kOptimizerStep) {
      if (now(stage.stream).use < newest_.use) return false;
      at(stage.stream).update = newest_.update = batch;
    }
    if (schedule::effects_of(stage.stage, stage.part).issues_collective) {
      collectives_ = both(collectives_, now(stage.stream));
      issued_[{stage.stage, batch}] = collectives_;
      if (stage.stage == Stage::kBackward || (stage.stage == Stage::kAllToAll && !stage.async)) {
        join(stage.stream, collectives_);
      }
    }
    // Of an all_to_all the event is behind the collective; others record theirs on their stream, which need not wait.
    const Behind end = stage.stage == Stage::kAllToAll ? collectives_ : Behind{};
    if (stage.record) events_[{*stage.record, batch}] = both(now(stage.stream), end);
    return true;
  }

  // Where a stage takes up what a collective of an earlier one has brought.
  void await(const StageStep& stage, std::int64_t batch) {
    const auto take_up = [&](Stage issuer) {
      const auto found = issued_.find({issuer, batch});
      if (found != issued_.end()) join(stage.stream, found->second);
    };
    if (stage.stage == Stage::kInputDistWait) take_up(Stage::kInputDistStart);
    if (stage.stage == Stage::kInputDistFinish) take_up(Stage::kInputDistWait);
    if (stage.stage == Stage::kOutputDistWait) take_up(Stage::kOutputDistStart);
  }

  // On the streams of the lookups, which wait for the stream of backward, and it for them.
  void update_tables(const StageStep& backward) {
    for (const StreamIndex lookup : schedule::table_update_streams(*schedule_, std::nullopt)) {
      join(lookup, now(backward.stream));
      join(backward.stream, now(lookup));
    }
  }

  Behind& at(StreamIndex stream) { return streams_[schedule_->resolve(stream)]; }
  Behind now(StreamIndex stream) { return both(at(stream), host_); }
  void join(StreamIndex waiter, const Behind& behind) { at(waiter) = both(at(waiter), behind); }

  const schedule::Schedule* schedule_;
  std::vector<schedule::PlacedStep> steps_;
  Stage user_ = Stage::kEmbeddingLookup;
  Behind newest_;  ///< that the host has queued
  std::map<StreamIndex, Behind> streams_;
  Behind host_;
  Behind collectives_;
  std::map<std::pair<Stage, std::int64_t>, Behind> issued_;
  std::map<std::pair<std::string, std::int64_t>, Behind> events_;
};

}  // namespace

void require_ordered_processors(const schedule::Schedule& schedule) {
  if (schedule.hazardous) return;
  const schedule::Step* found = Walk(schedule).first_unordered();
  if (found == nullptr) return;
  const auto& stage = std::get<StageStep>(found->action);
  const std::string line = found->line > 0 ? ":" + std::to_string(found->line) : "";
  throw Error(kUnorderedProcessor, schedule.source + line,
              "nothing orders stage \"" + std::string(to_string(stage.stage)) + "\" and " +
                  (stage.stage == Stage::kOptimizerStep ? "what uses the weights of feature processors above it"
                                                        : "the optimizer_step above it, which updates the weights of "
                                                          "feature processors"),
              "interlace check --feature-processors shows where a wait is missing; or "
              "train without feature processors");
}

}  // namespace interlace::engine
