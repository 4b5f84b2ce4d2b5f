#include "simulator/trace_check/races.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace interlace::trace_check {

namespace {

using check::HazardKind;
using trace::OperationId;

class RaceFinder {
 public:
  RaceFinder(const trace::Trace& trace, const StagedWork& staged, const Accesses& accesses,
             const graph::StreamQueues& queues, const RecordedOrder& order)
      : trace_(&trace), staged_(&staged), accesses_(&accesses), queues_(&queues), order_(&order) {}

  std::vector<Race> run() {
    for (const auto& [key, touches] : accesses_->data) {
      find_bounds(touches);
      for (std::size_t later = 1; later < touches.size(); ++later) look_back(key, touches, later);
    }
    return std::move(races_);
  }

 private:
  /// Where to stop looking back: what lives through the training is touched in every step.
  void find_bounds(const std::vector<Touch>& touches) {
    first_of_stage_.resize(touches.size());
    write_before_.resize(touches.size());
    std::map<std::pair<schedule::Stage, std::int64_t>, std::size_t> firsts;
    std::optional<std::size_t> write;
    for (std::size_t i = 0; i < touches.size(); ++i) {
      const StageRun& run = staged_->runs[group(touches[i]).run];
      first_of_stage_[i] = firsts.try_emplace({run.stage, run.batch}, i).first->second;
      write_before_[i] = write;
      if (touches[i].writes) write = i;
    }
  }

  /// Back to the stage that wrote last: what came before that is its concern. A read looks at writes only.
  void look_back(const DatumKey& key, const std::vector<Touch>& touches, std::size_t at) {
    const Touch& later = touches[at];
    const Touch* writer = nullptr;
    std::size_t first = 0;
    const auto next = [&](std::size_t i) -> std::optional<std::size_t> {
      if (!later.writes) return write_before_[i];
      return i == 0 ? std::nullopt : std::optional(i - 1);
    };
    for (auto i = next(at); i && *i >= first; i = next(*i)) {
      const Touch& earlier = touches[*i];
      if (!meet(earlier.module, later.module) || (writer != nullptr && !same_stage(*writer, earlier))) continue;
      compare(key, earlier, later);
      const bool covers = !earlier.module || earlier.module == later.module;
      if (writer != nullptr || !earlier.writes || !covers || same_stage(earlier, later)) continue;
      writer = &earlier;
      first = first_of_stage_[*i];
    }
  }

  [[nodiscard]] const AccessGroup& group(const Touch& touch) const { return accesses_->groups[touch.group]; }

  [[nodiscard]] bool same_stage(const Touch& a, const Touch& b) const {
    const StageRun& one = staged_->runs[group(a).run];
    const StageRun& other = staged_->runs[group(b).run];
    return one.stage == other.stage && one.batch == other.batch;
  }

  void compare(const DatumKey& key, const Touch& earlier, const Touch& later) {
    const AccessGroup& first = group(earlier);
    const AccessGroup& second = group(later);
    if (first.stream == second.stream) return;
    const bool is_one_stage = same_stage(earlier, later);
    if (is_one_stage && (first.collective || !second.collective)) return;
    if (find_unordered(key, earlier, later) || is_one_stage) return;
    // The earlier one may go on when the later has begun, as backward does around an optimizer in its hooks.
    if (queues_->queued_at(second.work.front()) < queues_->queued_at(first.work.back())) {
      find_unordered(key, later, earlier);
    }
  }

  /// Whether work of `later` runs beside work of `earlier` that was launched before it: adds the first of it.
  bool find_unordered(const DatumKey& key, const Touch& earlier, const Touch& later) {
    const AccessGroup& first = group(earlier);
    for (const OperationId op : group(later).work) {
      const auto before = last_queued(first, *queues_, queues_->queued_at(op));
      if (before && !order_->before(*before, op)) {
        add(key, earlier, later, *before, op);
        return true;
      }
      if (before == first.work.back()) return false;  // so is what follows on the same stream
    }
    return false;
  }

  void add(const DatumKey& key, const Touch& earlier, const Touch& later, OperationId first, OperationId second) {
    HazardKind kind = HazardKind::kReadBeforeWrite;
    if (later.writes) kind = earlier.writes ? HazardKind::kUnorderedWrites : HazardKind::kWriteWhileRead;
    races_.push_back(
        {kind, key, first, second, group(earlier).run, group(later).run, trace_->start(second) - trace_->end(first)});
  }

  const trace::Trace* trace_;
  const StagedWork* staged_;
  const Accesses* accesses_;
  const graph::StreamQueues* queues_;
  const RecordedOrder* order_;
  // Of the touches of one datum, by place.
  std::vector<std::size_t> first_of_stage_;               ///< the first of the same stage and batch
  std::vector<std::optional<std::size_t>> write_before_;  ///< the last write before it
  std::vector<Race> races_;
};

}  // namespace

std::vector<Race> find_races(const trace::Trace& trace, const StagedWork& staged, const Accesses& accesses,
                             const graph::StreamQueues& queues, const RecordedOrder& order) {
  return RaceFinder(trace, staged, accesses, queues, order).run();
}

}  // namespace interlace::trace_check
