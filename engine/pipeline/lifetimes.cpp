#include "engine/pipeline/lifetimes.hpp"

#include <algorithm>
#include <set>

#include "simulator/schedule/step_checks.hpp"

namespace interlace::engine {

namespace {

using schedule::Resource;
using schedule::StageStep;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// A resource, or data that the schedule names.
struct Thing {
  std::optional<Resource> resource;
  std::string name;

  [[nodiscard]] bool made_by(const StageStep& stage) const {
    if (!resource) return has(stage.writes, name);
    const std::vector<Resource> writes = schedule::writes_of(stage);
    return std::ranges::find(writes, *resource) != writes.end();
  }
  [[nodiscard]] bool touched_by(const StageStep& stage) const {
    if (made_by(stage)) return true;
    if (!resource) return has(stage.reads, name);
    const std::vector<schedule::Read> reads = schedule::reads_of(stage);
    return std::ranges::find(reads, *resource, &schedule::Read::resource) != reads.end();
  }
  [[nodiscard]] bool freed_by(const StageStep& stage) const { return has(stage.frees, name); }
};

Thing thing_of(Resource resource) { return {resource, std::string(schedule::traits_of(resource).name)}; }

class Planner {
 public:
  explicit Planner(const schedule::Schedule& schedule) : schedule_(&schedule) {
    for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
      if (const auto* stage = std::get_if<StageStep>(&placed.step->action)) {
        stages_.push_back(stage);
        lines_.push_back(placed.step->line);
      }
    }
  }

  ReleasePlan plan() {
    for (std::size_t i = 0; i < schedule::kResources; ++i) {
      const auto resource = static_cast<Resource>(i);
      if (schedule::traits_of(resource).per_batch) {
        place(thing_of(resource), [resource](Releases& releases) { releases.resources.push_back(resource); });
      } else {
        refuse_frees(thing_of(resource));
      }
    }
    std::set<std::string> names;
    for (const StageStep* stage : stages_) {
      names.insert(stage->reads.begin(), stage->reads.end());
      names.insert(stage->writes.begin(), stage->writes.end());
    }
    for (const std::string& name : names) {
      if (schedule::resource_named(name)) continue;
      place({std::nullopt, name}, [&name](Releases& releases) { releases.named.push_back(name); });
    }
    return std::move(plan_);
  }

 private:
  using Index = std::size_t;  // in stages_

  [[nodiscard]] bool later(Index a, Index b) const {
    return stages_[a]->batch != stages_[b]->batch ? stages_[a]->batch < stages_[b]->batch : a > b;
  }

  template <class Wanted>
  [[nodiscard]] std::optional<Index> last(const Wanted& wanted) const {
    std::optional<Index> last;
    for (Index i = 0; i < stages_.size(); ++i) {
      if (wanted(*stages_[i]) && (!last || later(i, *last))) last = i;
    }
    return last;
  }

  [[noreturn]] void refuse(Index stage, const std::string& problem) const {
    const std::string line = lines_[stage] > 0 ? ":" + std::to_string(lines_[stage]) : "";
    throw Error(kUnsupportedStage, schedule_->source + line,
                "stage \"" + std::string(to_string(stages_[stage]->stage)) + "\" " + problem,
                "free it behind the last stage that needs it, or leave \"frees\" out");
  }

  void refuse_frees(const Thing& thing) const {
    const std::optional<Index> frees = last([&](const StageStep& stage) { return thing.freed_by(stage); });
    if (frees) refuse(*frees, "frees " + thing.name + ", which live through the training");
  }

  template <class Add>
  void place(const Thing& thing, const Add& add) {
    const std::optional<Index> touch = last([&](const StageStep& stage) { return thing.touched_by(stage); });
    const std::optional<Index> frees = last([&](const StageStep& stage) { return thing.freed_by(stage); });
    if (frees && touch && later(*touch, *frees)) {
      refuse(*touch, "needs " + thing.name + ", which stage \"" + std::string(to_string(stages_[*frees]->stage)) +
                         "\" has freed");
    }
    if (frees) return add(plan_[stages_[*frees]]);
    if (!touch) return;
    Index holder = *touch;
    for (const StageStep* maker : stages_) {
      if (!thing.made_by(*maker) || !maker->kept_until) continue;
      if (!maker->kept_until->stage) return;
      const auto until = last([&](const StageStep& stage) { return stage.stage == *maker->kept_until->stage; });
      if (until && later(*until, holder)) holder = *until;
    }
    add(plan_[stages_[holder]]);
  }

  const schedule::Schedule* schedule_;
  std::vector<const StageStep*> stages_;
  std::vector<int> lines_;
  ReleasePlan plan_;
};

}  // namespace

ReleasePlan plan_releases(const schedule::Schedule& schedule) { return Planner(schedule).plan(); }

}  // namespace interlace::engine
