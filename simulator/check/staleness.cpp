#include "simulator/check/staleness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "simulator/check/words.hpp"

namespace interlace::check {

namespace {

using schedule::Resource;
using schedule::Stage;

struct Use {
  bool reads = false;
  bool writes = false;
};

/// How an operation uses a resource that lives through the training; reads that lock see the newest version.
Use use_of(const Operation& op, DatumIndex datum) {
  Use use;
  for (const Access& access : op.accesses) {
    if (access.datum != datum || access.locked) continue;
    use.reads = use.reads || !access.writes;
    use.writes = use.writes || access.writes;
  }
  return use;
}

bool is_updated(const Program& program, const Operation& op, Resource resource) {
  if (resource == Resource::kTables) return op.role == Role::kTableUpdate;
  return program.stage(op.stage).stage == Stage::kOptimizerStep;
}

/// By stage: the most updates that its reads of one datum miss.
void follow(const Program& program, DatumIndex datum, Resource resource,
            std::map<std::pair<StageIndex, Resource>, std::int64_t>& missing) {
  std::set<std::int64_t> applied;
  std::vector<std::pair<StageIndex, std::int64_t>> reads;
  for (const Operation& op : program.operations) {
    const Use use = use_of(op, datum);
    const bool updates = use.writes && is_updated(program, op, resource);
    if (use.reads && !use.writes && op.role == Role::kWork && program.steady(op.iteration)) {
      std::int64_t late = op.batch;
      for (const std::int64_t batch : applied) late -= batch < op.batch ? 1 : 0;
      reads.emplace_back(op.stage, late);
    }
    if (updates) applied.insert(op.batch);
  }
  if (applied.empty()) return;
  for (const auto& [stage, late] : reads) {
    std::int64_t& most = missing[{stage, resource}];
    most = std::max(most, late);
  }
}

}  // namespace

std::vector<Staleness> staleness_of(const Program& program) {
  std::map<std::pair<StageIndex, Resource>, std::int64_t> missing;
  for (std::uint32_t d = 0; d < program.data.size(); ++d) {
    const auto resource = program.data[d].resource;
    if (resource == Resource::kTables || resource == Resource::kDenseParameters) {
      follow(program, {d}, *resource, missing);
    }
  }
  std::vector<Staleness> staleness;
  for (const auto& [read, updates] : missing) {
    staleness.push_back(
        {name_of(program.stage(read.first)), std::string(schedule::traits_of(read.second).name), updates});
  }
  return staleness;
}

namespace {

std::string batches_text(const std::map<std::int64_t, std::set<StageIndex>>& batches, std::int64_t iteration) {
  std::string text;
  for (const auto& [batch, stages] : batches) text += (text.empty() ? "" : ", ") + relative(batch, iteration);
  return text;
}

/// Whether an operation adds to the dense gradients, or changes them.
bool makes_gradients(const Program& program, const Operation& op) {
  if (program.stage(op.stage).stage == Stage::kZeroGrad) return false;
  return std::ranges::any_of(op.accesses, [&](const Access& access) {
    return access.writes && program.data[access.datum.index()].resource == Resource::kDenseGradients;
  });
}

/// All steps that do; a backward in parts may do so in both.
std::set<StageIndex> gradient_stages(const Program& program) {
  std::set<StageIndex> stages;
  for (const Operation& op : program.operations) {
    if (makes_gradients(program, op)) stages.insert(op.stage);
  }
  return stages;
}

bool has_stage(const Program& program, Stage stage) {
  return std::ranges::any_of(program.stages, [&](const schedule::PlacedStep& placed) {
    return std::get<schedule::StageStep>(placed.step->action).stage == stage;
  });
}

/// A loop that does half of what training takes. One that does none of it only evaluates, as a synchronous one may.
std::optional<std::string> half_training(const Program& program) {
  const bool makes = has_stage(program, Stage::kBackward);
  const bool applies = has_stage(program, Stage::kOptimizerStep);
  if (makes && !applies) return "no optimizer_step applies the gradients: dense parameters stay as they are";
  if (applies && !makes) return "no backward makes gradients: optimizer_step has none to apply";
  return std::nullopt;
}

/// What is wrong with the gradients that an optimizer step finds; the first such step of the steady state.
std::optional<std::string> wrong_gradients(const Program& program) {
  const std::set<StageIndex> all = gradient_stages(program);
  std::map<std::int64_t, std::set<StageIndex>> summed;  // by batch: the steps that have added theirs
  for (const Operation& op : program.operations) {
    const Stage stage = program.stage(op.stage).stage;
    if (stage == Stage::kZeroGrad) summed.clear();
    if (makes_gradients(program, op)) summed[op.batch].insert(op.stage);
    if (stage != Stage::kOptimizerStep || op.iteration < 1 || !program.steady(op.iteration)) continue;
    const std::string what = name_of(program, op, op.iteration);
    if (summed.empty()) return fmt::format("{} finds no gradients: zero_grad stands between it and backward", what);
    if (summed.size() > 1 || !summed.contains(op.batch)) {
      return fmt::format("{} applies the gradients of batches {}", what, batches_text(summed, op.iteration));
    }
    for (const StageIndex missing : all) {
      if (summed.at(op.batch).contains(missing)) continue;
      return fmt::format("{} does not find the gradients of {}: zero_grad or the step itself comes between", what,
                         name_of(program.stage(missing)));
    }
  }
  return std::nullopt;
}

}  // namespace

Numerics numerics_of(const Program& program, const std::vector<Staleness>& staleness, bool hazards) {
  Numerics numerics;
  for (const Staleness& read : staleness) {
    if (read.updates == 0) continue;
    numerics.reasons.push_back(fmt::format("{} reads {} {} update{} late", read.stage, read.resource, read.updates,
                                           read.updates == 1 ? "" : "s"));
  }
  auto gradients = half_training(program);
  if (!gradients) gradients = wrong_gradients(program);
  if (gradients) numerics.reasons.push_back(std::move(*gradients));
  if (!hazards) numerics.as_base = numerics.reasons.empty();
  return numerics;
}

}  // namespace interlace::check
