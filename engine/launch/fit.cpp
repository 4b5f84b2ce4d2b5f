#include "engine/launch/fit.hpp"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/pipeline/lifetimes.hpp"
#include "engine/pipeline/parameter_order.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::engine {

namespace {

using schedule::Stage;

std::set<Stage> stages_of(const schedule::Schedule& schedule) {
  std::set<Stage> stages;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    if (const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action)) stages.insert(stage->stage);
  }
  return stages;
}

// The modules for which the schedule has a stage; none: it has not got it.
std::optional<std::set<std::string>> modules_of(const schedule::Schedule& schedule, const Workload& workload,
                                                Stage stage) {
  std::optional<std::set<std::string>> modules;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* step = std::get_if<schedule::StageStep>(&placed.step->action);
    if (step == nullptr || step->stage != stage) continue;
    if (!modules) modules.emplace();
    for (const ModuleSpec& module : workload.modules) {
      if (!step->module || *step->module == module.name) modules->insert(module.name);
    }
  }
  return modules;
}

constexpr std::array kStagesOfModules = {Stage::kInputDistStart,   Stage::kInputDistWait,   Stage::kInputDistFinish,
                                         Stage::kFeatureProcessor, Stage::kEmbeddingLookup, Stage::kOutputDistStart,
                                         Stage::kOutputDistWait};

// What stands for other work makes and reads messages; it does nothing to tables or batches.
void refuse_stand_ins_for_resources(const schedule::Schedule& schedule) {
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* step = std::get_if<schedule::StageStep>(&placed.step->action);
    if (step == nullptr) continue;
    if (step->stage != Stage::kCompute && step->stage != Stage::kAllToAll && step->stage != Stage::kValidateOutput) {
      continue;
    }
    for (const auto* names : {&step->reads, &step->writes}) {
      for (const std::string& name : *names) {
        if (!schedule::resource_named(name)) continue;
        throw Error(
            kUnsupportedStage, schedule.name,
            "stage \"" + std::string(to_string(step->stage)) + "\" names " + name + ", but it works on messages",
            "let it name data of its own");
      }
    }
  }
}

}  // namespace

void check_fit(const schedule::Schedule& schedule, const Workload& workload) {
  const std::set<Stage> stages = stages_of(schedule);
  const auto refuse = [&](const std::string& problem) {
    throw Error(kWorkloadMismatch, schedule.name + " with " + workload.name, problem,
                "choose another workload or schedule; docs/engine.md says which fit");
  };
  const auto check = [&](Stage stage, bool there, std::string_view what) {
    const std::string word(to_string(stage));
    if (stages.contains(stage) && !there) refuse("stage \"" + word + "\" needs " + std::string(what));
    if (there && !stages.contains(stage))
      refuse("the workload has " + std::string(what) + ", no stage \"" + word + "\"");
  };
  check(Stage::kEmbeddingLookup, !workload.modules.empty(), "sharded tables");
  check(Stage::kDataParallelLookup, workload.data_parallel.has_value(), "data-parallel tables");
  check(Stage::kDenseForward, workload.dense.has_value(), "a dense model");
  const auto needs = [&](Stage stage, bool there, std::string_view what) {
    if (stages.contains(stage)) check(stage, there, what);
  };
  for (const Stage stage : {Stage::kCopyBatchToGpu, Stage::kBackward, Stage::kOptimizerStep, Stage::kZeroGrad}) {
    needs(stage, workload.dense.has_value(), "a dense model");
  }
  for (const Stage stage : kStagesOfModules) {
    if (stage == Stage::kFeatureProcessor && !stages.contains(stage)) continue;  // then the lookup does it
    const auto modules = modules_of(schedule, workload, stage);
    for (const ModuleSpec& module : workload.modules) {
      if (!modules || modules->contains(module.name)) continue;
      refuse("stage \"" + std::string(to_string(stage)) + "\" leaves out the module \"" + module.name + "\"");
    }
  }
  needs(Stage::kFeatureProcessor, workload.feature_processors, "feature processors");
  if (workload.feature_processors) require_ordered_processors(schedule);
  refuse_stand_ins_for_resources(schedule);
  needs(Stage::kCompute, workload.message.has_value(), "a message");
  needs(Stage::kAllToAll, workload.message.has_value(), "a message");
  needs(Stage::kValidateOutput, workload.message.has_value(), "a message");
}

}  // namespace interlace::engine
