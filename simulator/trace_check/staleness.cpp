#include "simulator/trace_check/staleness.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace interlace::trace_check {

namespace {

using schedule::Resource;
using schedule::Stage;

bool reads_for_the_model(Stage stage) {
  return stage == Stage::kEmbeddingLookup || stage == Stage::kDataParallelLookup || stage == Stage::kDenseForward ||
         stage == Stage::kFeatureProcessor;
}

}  // namespace

std::vector<TraceStaleness> staleness_of(const StagedWork& staged, const Accesses& accesses) {
  std::vector<TraceStaleness> found;
  for (const Resource resource : {Resource::kTables, Resource::kDenseParameters}) {
    const auto touches = accesses.data.find({resource, std::nullopt});
    if (touches == accesses.data.end()) continue;
    std::map<Stage, TraceStaleness> by_stage;
    std::map<std::optional<std::uint32_t>, std::int64_t> updated;  ///< newest batch, by module
    for (const Touch& touch : touches->second) {
      const StageRun& run = staged.runs[accesses.groups[touch.group].run];
      if (touch.writes) {
        std::int64_t& batch = updated.try_emplace(touch.module, run.batch).first->second;
        batch = std::max(batch, run.batch);
        continue;
      }
      if (!reads_for_the_model(run.stage)) continue;
      std::optional<std::int64_t> newest;
      for (const auto& [module, batch] : updated) {
        if (!module || !touch.module || module == touch.module) newest = std::max(newest.value_or(batch), batch);
      }
      if (!newest) continue;
      const std::int64_t late = run.batch - 1 - *newest;
      const auto [known, is_new] =
          by_stage.try_emplace(run.stage, TraceStaleness{std::string(schedule::to_string(run.stage)),
                                                         std::string(schedule::traits_of(resource).name), late, late});
      known->second.least = std::min(known->second.least, late);
      known->second.most = std::max(known->second.most, late);
    }
    for (auto& [stage, staleness] : by_stage) found.push_back(std::move(staleness));
  }
  return found;
}

}  // namespace interlace::trace_check
