#include "simulator/what_if/moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "simulator/check/edits.hpp"
#include "simulator/check/words.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::what_if {

namespace {

using schedule::ForEachModule;
using schedule::Part;
using schedule::PlacedStep;
using schedule::Position;
using schedule::RecordStep;
using schedule::Schedule;
using schedule::Stage;
using schedule::StageStep;
using schedule::Step;
using schedule::StreamIndex;
using schedule::WaitStep;

using Steps = std::vector<Step>;

/// As far ahead as a stage is moved: beyond that batches only wait, and take memory.
constexpr std::int32_t kFarthest = 6;

const StageStep* stage_of(const Step& step) { return std::get_if<StageStep>(&step.action); }
const ForEachModule* loop_of(const Step& step) { return std::get_if<ForEachModule>(&step.action); }

std::string title(const StageStep& step) { return check::name_of(step, step.batch); }

/// Of a stage, or of a loop: "the loop over embedding_lookup(i)", by its first stage.
std::string title(const Step& step) {
  if (const StageStep* stage = stage_of(step)) return title(*stage);
  const Steps& steps = loop_of(step)->steps;
  const auto first = std::ranges::find_if(steps, [](const Step& inner) { return stage_of(inner) != nullptr; });
  return "the loop over " + (first == steps.end() ? "modules" : title(*stage_of(*first)));
}

/// Steps that only make sense side by side: a stage or a loop, the waits of its stream right above it, and the records
/// right behind it.
struct Unit {
  std::size_t begin = 0;
  std::size_t head = 0;
  std::size_t end = 0;
};

bool waits_for(const Schedule& schedule, const Step& step, const StageStep& stage) {
  const auto* wait = std::get_if<WaitStep>(&step.action);
  return wait != nullptr && wait->waiter && schedule.resolve(*wait->waiter) == schedule.resolve(stage.stream);
}

bool records(const Schedule& schedule, const Step& step, const StageStep& stage) {
  const auto* record = std::get_if<RecordStep>(&step.action);
  return record != nullptr && schedule.resolve(record->stream) == schedule.resolve(stage.stream);
}

std::vector<Unit> units_of(const Schedule& schedule, const Steps& steps) {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StageStep* stage = stage_of(steps[i]);
    if (stage == nullptr && loop_of(steps[i]) == nullptr) continue;
    Unit unit{i, i, i + 1};
    const std::size_t taken = units.empty() ? 0 : units.back().end;
    while (stage != nullptr && unit.begin > taken && waits_for(schedule, steps[unit.begin - 1], *stage)) --unit.begin;
    while (stage != nullptr && unit.end < steps.size() && records(schedule, steps[unit.end], *stage)) ++unit.end;
    units.push_back(unit);
  }
  return units;
}

/// Stages that bring a batch to where the dense arches take it up. What comes then is the training itself, which is of
/// batch i and on main.
bool feeds(Stage stage) {
  constexpr std::array kStages = {Stage::kNextBatch,       Stage::kCopyBatchToGpu,  Stage::kInputDistStart,
                                  Stage::kInputDistWait,   Stage::kInputDistFinish, Stage::kEmbeddingLookup,
                                  Stage::kOutputDistStart, Stage::kOutputDistWait,  Stage::kDataParallelLookup,
                                  Stage::kPrefetch,        Stage::kFeatureProcessor};
  return std::ranges::find(kStages, stage) != kStages.end();
}

class Mover {
 public:
  explicit Mover(const Schedule& from) : from_(from), units_(units_of(from, from.iteration)) {}

  std::vector<Move> run() {
    reorder();
    cut_loops();
    join_loops();
    shift_batches();
    change_streams();
    rename_streams();
    change_priorities();
    leave_waits_out();
    cut_backward();
    return std::move(made_);
  }

 private:
  void add(Schedule edited, std::string text) {
    if (schedule::find_problems(edited).empty()) made_.push_back({std::move(edited), std::move(text)});
  }

  void reorder() {
    for (std::size_t u = 0; u < units_.size(); ++u) {
      for (std::size_t to = 0; to <= units_.size(); ++to) {
        if (to == u || to == u + 1) continue;
        const std::size_t slot = to < units_.size() ? units_[to].begin : from_.iteration.size();
        const std::string where = to < units_.size() ? "above " + title(from_.iteration[units_[to].head]) : "last";
        add(moved(units_[u], slot), fmt::format("{} {}", title(from_.iteration[units_[u].head]), where));
      }
    }
  }

  [[nodiscard]] Schedule moved(const Unit& unit, std::size_t slot) const {
    Schedule edited = from_;
    edited.iteration.clear();
    const auto append = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (i < unit.begin || i >= unit.end) edited.iteration.push_back(from_.iteration[i]);
      }
    };
    append(0, slot);
    for (std::size_t i = unit.begin; i < unit.end; ++i) edited.iteration.push_back(from_.iteration[i]);
    append(slot, from_.iteration.size());
    return edited;
  }

  void cut_loops() {
    for (const Unit& unit : units_) {
      const ForEachModule* loop = loop_of(from_.iteration[unit.head]);
      if (loop == nullptr) continue;
      for (const Unit& inner : units_of(from_, loop->steps)) {
        if (inner.begin == 0) continue;
        const auto middle = loop->steps.begin() + static_cast<std::ptrdiff_t>(inner.begin);
        Schedule edited = from_;
        const auto whole = edited.iteration.begin() + static_cast<std::ptrdiff_t>(unit.head);
        std::get<ForEachModule>(whole->action).steps.assign(loop->steps.begin(), middle);
        edited.iteration.insert(whole + 1, Step{ForEachModule{Steps(middle, loop->steps.end())}, whole->line});
        add(std::move(edited), fmt::format("the loop over modules in two, above {}", title(loop->steps[inner.head])));
      }
    }
  }

  /// The steps that stand for a place in a loop: its own, or a stage that goes module by module anyway.
  [[nodiscard]] static std::optional<Steps> as_loop(const Step& step) {
    if (const ForEachModule* loop = loop_of(step)) return loop->steps;
    const StageStep* stage = stage_of(step);
    const bool may_join = stage != nullptr && schedule::goes_module_by_module(*stage) && !stage->module;
    return may_join ? std::optional(Steps{step}) : std::nullopt;
  }

  void join_loops() {
    for (std::size_t u = 0; u + 1 < units_.size(); ++u) {
      const Unit& first = units_[u];
      const Unit& second = units_[u + 1];
      if (first.end != second.begin) continue;
      auto joined = as_loop(from_.iteration[first.head]);
      const auto more = as_loop(from_.iteration[second.head]);
      const bool is_loop =
          loop_of(from_.iteration[first.head]) != nullptr || loop_of(from_.iteration[second.head]) != nullptr;
      if (!joined || !more || !is_loop) continue;
      const auto with_those_beside = [&](const Unit& unit, const Steps& steps) {
        const auto at = [&](std::size_t i) { return from_.iteration.begin() + static_cast<std::ptrdiff_t>(i); };
        Steps all(at(unit.begin), at(unit.head));
        std::ranges::copy(steps, std::back_inserter(all));
        all.insert(all.end(), at(unit.head + 1), at(unit.end));
        return all;
      };
      joined = with_those_beside(first, *joined);
      std::ranges::copy(with_those_beside(second, *more), std::back_inserter(*joined));
      Schedule edited = from_;
      const auto begin = edited.iteration.begin() + static_cast<std::ptrdiff_t>(first.begin);
      *begin = {ForEachModule{*joined}, begin->line};
      edited.iteration.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(second.end - first.begin));
      add(std::move(edited), fmt::format("{} and {} in one loop", title(from_.iteration[first.head]),
                                         title(from_.iteration[second.head])));
    }
  }

  void shift_batches() {
    for (const PlacedStep& placed : schedule::placed_steps(from_)) {
      const StageStep* stage = stage_of(*placed.step);
      if (stage == nullptr || !feeds(stage->stage)) continue;
      for (const std::int32_t by : {1, -1}) {
        Schedule edited = from_;
        const std::int32_t batch = stage->batch + by;
        if (!shift(edited, placed.at, batch)) continue;
        add(std::move(edited), fmt::format("{} for {}{}", title(*stage), schedule::batch_word(batch),
                                           by > 0 ? ", and what it needs" : ", and what needs it"));
      }
    }
  }

  /// Gives a stage another batch, and others as far as that takes it: a stage reads what one above it makes for the
  /// same batch, or one below it for a farther one. False where that goes too far.
  static bool shift(Schedule& schedule, Position at, std::int32_t batch) {
    auto& step = std::get<StageStep>(check::step_at(schedule, at).action);
    if (batch < 0 || batch > kFarthest || !feeds(step.stage)) return false;
    const bool is_later = batch > step.batch;
    step.batch = batch;
    for (const PlacedStep& placed : schedule::placed_steps(schedule)) {
      const StageStep* other = stage_of(*placed.step);
      if (other == nullptr || placed.at == at) continue;
      if (is_later && feeds_into(*other, step)) {
        const std::int32_t least = placed.at < at ? batch : batch + 1;
        if (other->batch < least && !shift(schedule, placed.at, least)) return false;
      }
      if (!is_later && feeds_into(step, *other)) {
        const std::int32_t most = placed.at < at ? batch - 1 : batch;
        if (other->batch > most && !shift(schedule, placed.at, most)) return false;
      }
    }
    return true;
  }

  /// Whether one makes for a batch what the other reads of it.
  static bool feeds_into(const StageStep& maker, const StageStep& reader) {
    const std::vector<schedule::Resource> made = schedule::writes_of(maker);
    return std::ranges::any_of(schedule::reads_of(reader), [&](const schedule::Read& read) {
      return schedule::traits_of(read.resource).per_batch && std::ranges::find(made, read.resource) != made.end();
    });
  }

  void change_streams() {
    for (const PlacedStep& placed : schedule::placed_steps(from_)) {
      const StageStep* stage = stage_of(*placed.step);
      if (stage == nullptr || !feeds(stage->stage) || !schedule::effects_of(stage->stage).on_device) continue;
      for (StreamIndex stream{0}; stream.index() < from_.streams.size(); ++stream.value) {
        const bool is_other = from_.resolve(stream) == stream && from_.resolve(stage->stream) != stream;
        if (is_other) put_on(placed.at, stream, from_);
      }
      Schedule with_new = from_;
      with_new.streams.push_back({check::new_name(from_, "side"), 0, std::nullopt});
      put_on(placed.at, {static_cast<std::uint32_t>(from_.streams.size())}, std::move(with_new));
    }
  }

  void put_on(Position at, StreamIndex stream, Schedule edited) {
    auto& step = std::get<StageStep>(check::step_at(edited, at).action);
    step.stream = stream;
    std::string text = fmt::format("{} on {}", title(step), edited.stream(stream).name);
    add(std::move(edited), std::move(text));
  }

  /// All that runs on a stream at once.
  void rename_streams() {
    const auto main = from_.stream_named("main");
    for (StreamIndex stream{0}; stream.index() < from_.streams.size(); ++stream.value) {
      if (stream == main) continue;
      for (StreamIndex other{0}; other.index() < from_.streams.size(); ++other.value) {
        const bool is_free = other != stream && from_.resolve(other) == other && from_.resolve(stream) != other;
        const auto is_named_by = [&](const schedule::Stream& named) { return named.same_as == stream; };
        if (!is_free || std::ranges::any_of(from_.streams, is_named_by)) continue;
        Schedule edited = from_;
        edited.streams[stream.index()].same_as = other;
        edited.streams[stream.index()].priority = 0;
        add(std::move(edited), fmt::format("{} is {}", from_.stream(stream).name, from_.stream(other).name));
      }
      if (!from_.stream(stream).same_as) continue;
      Schedule edited = from_;
      edited.streams[stream.index()].same_as = std::nullopt;
      add(std::move(edited), fmt::format("{} is a stream of its own", from_.stream(stream).name));
    }
  }

  void change_priorities() {
    const auto main = from_.stream_named("main");
    for (StreamIndex stream{0}; stream.index() < from_.streams.size(); ++stream.value) {
      if (stream == main || from_.resolve(stream) != stream) continue;
      Schedule edited = from_;
      const std::int32_t priority = from_.stream(stream).priority == 0 ? -1 : 0;
      edited.streams[stream.index()].priority = priority;
      add(std::move(edited), fmt::format("{} at priority {}", from_.stream(stream).name, priority));
    }
  }

  void leave_waits_out() {
    for (const check::WrittenWait& wait : check::written_waits(from_)) {
      add(check::without(from_, wait), "without " + wait.text);
    }
  }

  void cut_backward() {
    const std::vector<PlacedStep> steps = schedule::placed_steps(from_);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const StageStep* stage = stage_of(*steps[i].step);
      if (stage == nullptr || stage->stage != Stage::kBackward) continue;
      if (!stage->part) {
        Schedule edited = from_;
        auto& dense = std::get<StageStep>(check::step_at(edited, steps[i].at).action);
        dense.part = Part::kDense;
        StageStep embedding = dense;
        embedding.part = Part::kEmbedding;
        embedding.after.clear();
        embedding.record = std::nullopt;
        check::insert_below(edited, steps[i].at, {embedding});
        add(std::move(edited), "backward in its two parts");
      } else if (stage->part == Part::kDense && i + 1 < steps.size()) {
        const StageStep* next = stage_of(*steps[i + 1].step);
        if (next == nullptr || next->part != Part::kEmbedding || next->module) continue;
        Schedule edited = from_;
        check::erase(edited, steps[i + 1].at);
        std::get<StageStep>(check::step_at(edited, steps[i].at).action).part = std::nullopt;
        add(std::move(edited), "backward whole");
      }
    }
  }

  const Schedule& from_;
  std::vector<Unit> units_;
  std::vector<Move> made_;
};

}  // namespace

std::vector<Move> moves(const Schedule& from) { return Mover(from).run(); }

}  // namespace interlace::what_if
