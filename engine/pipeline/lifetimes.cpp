#include "engine/pipeline/lifetimes.hpp"

#include <algorithm>
#include <numeric>
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
  const std::string* module = nullptr;  ///< whose, where it exists once a module

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
  // Steps that name another module touch another thing of that kind.
  [[nodiscard]] bool concerned_by(const StageStep& stage) const {
    return module == nullptr || !stage.module || schedule::names_its_own(stage.stage) || *stage.module == *module;
  }
};

Thing thing_of(Resource resource, const std::string* module = nullptr) {
  return {resource, std::string(schedule::traits_of(resource).name), module};
}

class Planner {
 public:
  Planner(const schedule::Schedule& schedule, const std::vector<std::string>& modules)
      : schedule_(&schedule), modules_(&modules) {
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
      if (!schedule::traits_of(resource).per_batch) {
        refuse_frees(thing_of(resource));
      } else if (schedule::traits_of(resource).per_module) {
        place_by_module(resource);
      } else {
        std::vector<std::size_t> all(modules_->size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (Releases* behind = place(thing_of(resource))) behind->resources.push_back({resource, all});
      }
    }
    std::set<std::string> names;
    for (const StageStep* stage : stages_) {
      names.insert(stage->reads.begin(), stage->reads.end());
      names.insert(stage->writes.begin(), stage->writes.end());
    }
    for (const std::string& name : names) {
      if (schedule::resource_named(name)) continue;
      if (Releases* behind = place({std::nullopt, name, nullptr})) behind->named.push_back(name);
    }
    return std::move(plan_);
  }

 private:
  using Index = std::size_t;  // in stages_

  [[nodiscard]] bool later(Index a, Index b) const {
    return stages_[a]->batch != stages_[b]->batch ? stages_[a]->batch < stages_[b]->batch : a > b;
  }

  // Of the steps that concern the thing.
  template <class Wanted>
  [[nodiscard]] std::optional<Index> last(const Thing& thing, const Wanted& wanted) const {
    std::optional<Index> last;
    for (Index i = 0; i < stages_.size(); ++i) {
      if (thing.concerned_by(*stages_[i]) && wanted(*stages_[i]) && (!last || later(i, *last))) last = i;
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
    const std::optional<Index> frees = last(thing, [&](const StageStep& stage) { return thing.freed_by(stage); });
    if (frees) refuse(*frees, "frees " + thing.name + ", which live through the training");
  }

  void place_by_module(Resource resource) {
    for (std::size_t module = 0; module < modules_->size(); ++module) {
      Releases* behind = place(thing_of(resource, &(*modules_)[module]));
      if (behind == nullptr) continue;
      const bool is_next = !behind->resources.empty() && behind->resources.back().resource == resource;
      if (!is_next) behind->resources.push_back({resource, {}});
      behind->resources.back().modules.push_back(module);
    }
  }

  // Null: it goes with its batch, or there is none.
  [[nodiscard]] Releases* place(const Thing& thing) {
    const std::optional<Index> touch = last(thing, [&](const StageStep& stage) { return thing.touched_by(stage); });
    const std::optional<Index> frees = last(thing, [&](const StageStep& stage) { return thing.freed_by(stage); });
    if (frees && touch && later(*touch, *frees)) {
      refuse(*touch, "needs " + thing.name + ", which stage \"" + std::string(to_string(stages_[*frees]->stage)) +
                         "\" has freed");
    }
    if (frees) return &plan_[stages_[*frees]];
    if (!touch) return nullptr;
    Index holder = *touch;
    for (const StageStep* maker : stages_) {
      if (!thing.made_by(*maker) || !maker->kept_until || !thing.concerned_by(*maker)) continue;
      if (!maker->kept_until->stage) return nullptr;
      const auto until = last(thing, [&](const StageStep& stage) { return stage.stage == *maker->kept_until->stage; });
      if (until && later(*until, holder)) holder = *until;
    }
    return &plan_[stages_[holder]];
  }

  const schedule::Schedule* schedule_;
  const std::vector<std::string>* modules_;
  std::vector<const StageStep*> stages_;
  std::vector<int> lines_;
  ReleasePlan plan_;
};

}  // namespace

ReleasePlan plan_releases(const schedule::Schedule& schedule, const std::vector<std::string>& modules) {
  return Planner(schedule, modules).plan();
}

}  // namespace interlace::engine
