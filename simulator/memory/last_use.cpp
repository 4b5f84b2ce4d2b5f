#include "simulator/memory/last_use.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "simulator/memory/moved_block.hpp"
#include "simulator/memory/steps.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/release_points.hpp"

namespace interlace::memory {

namespace {

using schedule::Resource;
using schedule::Schedule;
using schedule::StageStep;
using stages::ModuleId;

class LastUse {
 public:
  LastUse(const RecordedMemory& memory, const Schedule& recorded, const Schedule& wanted)
      : memory_(&memory),
        recorded_(&recorded),
        wanted_(&wanted),
        recorded_steps_(stage_steps(recorded)),
        wanted_steps_(stage_steps(wanted)) {
    for (const auto& [kind, history] : memory.classes) last_module_ = std::max(last_module_, kind.made_in.module);
  }

  [[nodiscard]] Lifetimes run() const {
    Lifetimes result;
    for (const auto& [kind, history] : memory_->classes) {
      Fate fate = moved_block(*memory_, kind, *recorded_, *wanted_);
      if (auto holders = holders_of(kind, history); !holders.empty()) fate.holders = std::move(holders);
      result[kind.made_in].push_back(std::move(fate));
    }
    return result;
  }

 private:
  /// None: it is let go where it was in the recording.
  [[nodiscard]] std::vector<Release> holders_of(const BlockClass& kind, const ClassHistory& history) const {
    if (!history.released || history.released->batches_later != 0) return {};
    if (kind.made_in.of_tables()) return {};  // an update's own goes with it
    const Release& released = *history.released;
    const bool at_end = !released.place.segment;
    const auto own = step_run_of(*recorded_, kind.made_in);
    if (!own) return {};
    if (!released.behind && !at_end) return held_besides(kind, *own, released);
    if (released.behind && released.behind->step == own->step) return behind_own_step(kind, *released.place.segment);
    std::vector<Release> holders;
    for (const Resource resource : holders_of(*recorded_steps_[own->step], released.behind)) {
      if (const auto release = wanted_release(resource, kind.made_in.module)) holders.push_back(*release);
    }
    return holders;
  }

  [[nodiscard]] std::optional<Release> wanted_release(Resource resource, std::optional<ModuleId> module) const {
    const auto point = schedule::release_point(*wanted_, resource);
    if (!point) return std::nullopt;
    return point->behind == nullptr ? Release{} : Release{{}, 0, run_of(*point->behind, resource, module)};
  }

  /// A block that a later step let go in its midst, as who waits for a collective does with what was sent: there,
  /// unless the wanted schedule keeps longer what its step makes, and did so no longer in the recording.
  [[nodiscard]] std::vector<Release> held_besides(const BlockClass& kind, const StepRun& own,
                                                  const Release& released) const {
    const auto other = step_run_of(*recorded_, *released.place.segment);
    if (!other || other->step == own.step) return {};
    std::vector<Release> holders{released};
    for (const Resource resource : schedule::writes_of(*recorded_steps_[own.step])) {
      const auto point = schedule::release_point(*recorded_, resource);
      if (!point || !schedule::is_later(*recorded_, {recorded_steps_[other->step]}, *point)) continue;
      if (const auto release = wanted_release(resource, kind.made_in.module)) holders.push_back(*release);
    }
    return holders;
  }

  /// Not where the schedule parts what was one step.
  [[nodiscard]] std::vector<Release> behind_own_step(const BlockClass& kind,
                                                     const stages::SegmentKey& released_in) const {
    const auto own = step_run_of(*wanted_, kind.made_in);
    const auto released = step_run_of(*wanted_, released_in);
    if (!own || !released || own->step != released->step) return {};
    return {Release{{}, 0, own}};
  }

  /// The resources that hold a block of the step until it was let go in the
  /// recording: one that the step makes, and what is made of that in turn, up
  /// to the one whose release point lies there, by the shortest way; and what
  /// takes the memory of that one over, unless this was to be held longer.
  [[nodiscard]] std::vector<Resource> holders_of(const StageStep& maker, const std::optional<StepRun>& behind) const {
    const schedule::ReleasePoint released{behind ? recorded_steps_[behind->step] : nullptr};
    std::vector<Resource> holders = way_to(maker, released);
    if (holders.empty()) return holders;
    for (auto next = takes_over(holders.back()); next; next = takes_over(*next)) {
      const auto point = schedule::release_point(*recorded_, *next);
      if (!point || schedule::is_later(*recorded_, *point, released)) break;
      holders.push_back(*next);
    }
    return holders;
  }

  /// Jagged features are looked up where they arrived, and autograd keeps what
  /// the dense net reads.
  static std::optional<Resource> takes_over(Resource resource) {
    switch (resource) {
      case Resource::kInputExchange: return Resource::kKjt;
      case Resource::kPooled:
      case Resource::kDataParallelPooled: return Resource::kActivations;
      default: return std::nullopt;
    }
  }

  /// From a resource that the step makes to one that is released there; empty
  /// where there is none.
  [[nodiscard]] std::vector<Resource> way_to(const StageStep& maker, const schedule::ReleasePoint& released) const {
    std::deque<std::vector<Resource>> ways;
    for (const Resource made : schedule::writes_of(maker)) ways.push_back({made});
    std::set<Resource> seen;
    for (; !ways.empty(); ways.pop_front()) {
      std::vector<Resource> way = ways.front();
      if (!seen.insert(way.back()).second) continue;
      if (schedule::release_point(*recorded_, way.back()) == released) return way;
      for (const Resource next : made_of(way.back())) {
        ways.push_back(way);
        ways.back().push_back(next);
      }
    }
    return {};
  }

  /// What the recorded schedule makes of a resource.
  [[nodiscard]] std::vector<Resource> made_of(Resource resource) const {
    std::vector<Resource> all;
    for (const StageStep* step : recorded_steps_) {
      const std::vector<schedule::Read> reads = schedule::reads_of(*step);
      if (std::ranges::find(reads, resource, &schedule::Read::resource) == reads.end()) continue;
      const std::vector<Resource> made = schedule::writes_of(*step);
      all.insert(all.end(), made.begin(), made.end());
    }
    return all;
  }

  [[nodiscard]] StepRun run_of(const StageStep& step, Resource resource, std::optional<ModuleId> module) const {
    const auto index = static_cast<std::size_t>(std::ranges::find(wanted_steps_, &step) - wanted_steps_.begin());
    if (!runs_by_module(*wanted_, step)) return {index, std::nullopt};
    return {index, schedule::traits_of(resource).per_module && module ? module : last_module_};
  }

  const RecordedMemory* memory_;
  const Schedule* recorded_;
  const Schedule* wanted_;
  std::vector<const StageStep*> recorded_steps_;
  std::vector<const StageStep*> wanted_steps_;
  std::optional<ModuleId> last_module_;
};

}  // namespace

Lifetimes lifetimes_behind_last_use(const RecordedMemory& memory, const Schedule& recorded, const Schedule& wanted) {
  return LastUse(memory, recorded, wanted).run();
}

}  // namespace interlace::memory
