#include "simulator/schedule/effects.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace interlace::schedule {

namespace {

using enum Resource;

// In the order of the enumerators.
constexpr std::array<ResourceTraits, kResources> kTraits = {{
    {.name = "host_batch", .per_batch = true},
    {.name = "batch", .per_batch = true},
    {.name = "splits", .per_batch = true, .per_module = true, .must_be_read = true},
    {.name = "input_exchange", .per_batch = true, .per_module = true, .must_be_read = true},
    {.name = "kjt", .per_batch = true, .per_module = true},
    {.name = "cache_rows", .per_batch = true, .per_module = true},
    {.name = "tables", .per_module = true},
    {.name = "looked_up", .per_batch = true, .per_module = true, .must_be_read = true},
    {.name = "output_exchange", .per_batch = true, .per_module = true, .must_be_read = true},
    {.name = "pooled", .per_batch = true, .per_module = true},
    {.name = "data_parallel_pooled", .per_batch = true},
    {.name = "activations", .per_batch = true},
    {.name = "pooled_gradients", .per_batch = true},
    {.name = "dense_parameters"},
    {.name = "dense_gradients"},
}};

constexpr bool kRequired = true;

constexpr std::array kReadHostBatch = {Read{kHostBatch}};
constexpr std::array kReadBatch = {Read{kBatch, kRequired}};
constexpr std::array kReadSplits = {Read{kSplits, kRequired}};
constexpr std::array kReadInputExchange = {Read{kInputExchange, kRequired}};
constexpr std::array kReadForLookup = {Read{kKjt, kRequired}, Read{kCacheRows}, Read{kTables}};
constexpr std::array kReadLookedUp = {Read{kLookedUp, kRequired}};
constexpr std::array kReadOutputExchange = {Read{kOutputExchange, kRequired}};
constexpr std::array kReadForDataParallelLookup = {Read{kBatch, kRequired}, Read{kDenseParameters}};
constexpr std::array kReadForDenseForward = {Read{kBatch}, Read{kPooled}, Read{kDataParallelPooled},
                                             Read{kDenseParameters}};
constexpr std::array kReadForBackward = {Read{kActivations, kRequired}, Read{kBatch},          Read{kKjt},
                                         Read{kDenseParameters},        Read{kDenseGradients}, Read{kTables}};
constexpr std::array kReadForDenseBackward = {Read{kActivations, kRequired}, Read{kBatch}, Read{kDenseParameters},
                                              Read{kDenseGradients}};
constexpr std::array kReadForEmbeddingBackward = {Read{kPooledGradients, kRequired}, Read{kKjt}, Read{kTables}};
constexpr std::array kReadForOptimizer = {Read{kDenseGradients}, Read{kDenseParameters}};
constexpr std::array kReadForPrefetch = {Read{kKjt, kRequired}, Read{.resource = kTables, .locked = true}};
constexpr std::array kReadForFeatureProcessor = {Read{kKjt, kRequired}, Read{kDenseParameters}};

constexpr std::array kWriteHostBatch = {kHostBatch};
constexpr std::array kWriteBatch = {kBatch};
constexpr std::array kWriteSplits = {kSplits};
constexpr std::array kWriteInputExchange = {kInputExchange};
constexpr std::array kWriteKjt = {kKjt};
constexpr std::array kWriteLookedUp = {kLookedUp};
constexpr std::array kWriteOutputExchange = {kOutputExchange};
constexpr std::array kWritePooled = {kPooled};
constexpr std::array kWriteDataParallelPooled = {kDataParallelPooled};
constexpr std::array kWriteActivations = {kActivations};
constexpr std::array kWriteByBackward = {kDenseGradients, kTables};
constexpr std::array kWriteByDenseBackward = {kDenseGradients, kPooledGradients};
constexpr std::array kWriteTables = {kTables};
constexpr std::array kWriteDenseParameters = {kDenseParameters};
constexpr std::array kWriteDenseGradients = {kDenseGradients};
constexpr std::array kWriteCacheRows = {kCacheRows};

// In the order of the enumerators. compute, all_to_all and validate_output have no data of their own but what their
// step names in "reads" and "writes".
constexpr std::array<StageEffects, kStages> kEffects = {{
    {.writes = kWriteHostBatch, .on_device = false},
    {.reads = kReadHostBatch, .writes = kWriteBatch},
    {.reads = kReadBatch, .writes = kWriteSplits, .host = HostBlock::kStream, .issues_collective = true},
    {.reads = kReadSplits, .writes = kWriteInputExchange, .host = HostBlock::kStream, .issues_collective = true},
    {.reads = kReadInputExchange, .writes = kWriteKjt, .host = HostBlock::kStream},
    {.reads = kReadForLookup, .writes = kWriteLookedUp},
    {.reads = kReadLookedUp, .writes = kWriteOutputExchange, .issues_collective = true},
    {.reads = kReadOutputExchange, .writes = kWritePooled},
    {.reads = kReadForDataParallelLookup, .writes = kWriteDataParallelPooled},
    {.reads = kReadForDenseForward, .writes = kWriteActivations},
    {.reads = kReadForBackward, .writes = kWriteByBackward, .issues_collective = true},
    {.reads = kReadForOptimizer, .writes = kWriteDenseParameters},
    {.writes = kWriteDenseGradients},
    {.host = HostBlock::kByMode},
    {.reads = kReadForPrefetch, .writes = kWriteCacheRows},
    {.reads = kReadForFeatureProcessor, .writes = kWriteKjt},
    {},
    {.issues_collective = true},
}};
constexpr StageEffects kDenseBackward = {
    .reads = kReadForDenseBackward, .writes = kWriteByDenseBackward, .issues_collective = true};
constexpr StageEffects kEmbeddingBackward = {
    .reads = kReadForEmbeddingBackward, .writes = kWriteTables, .issues_collective = true};

// Calls visit(stage step) for each one of the schedule, in host order.
template <class Visit>
void each_stage_step(const std::vector<Step>& steps, const Visit& visit) {
  for (const Step& step : steps) {
    if (const auto* stage = std::get_if<StageStep>(&step.action)) visit(*stage);
    if (const auto* group = std::get_if<ForEachModule>(&step.action)) each_stage_step(group->steps, visit);
  }
}

}  // namespace

const ResourceTraits& traits_of(Resource resource) { return kTraits.at(static_cast<std::size_t>(resource)); }

std::optional<Resource> resource_named(std::string_view name) {
  const auto found = std::ranges::find(kTraits, name, &ResourceTraits::name);
  if (found == kTraits.end()) return std::nullopt;
  return static_cast<Resource>(found - kTraits.begin());
}

const StageEffects& effects_of(Stage stage, std::optional<Part> part) {
  assert(!part || stage == Stage::kBackward);
  if (part) return *part == Part::kDense ? kDenseBackward : kEmbeddingBackward;
  return kEffects.at(static_cast<std::size_t>(stage));
}

std::vector<Read> reads_of(const StageStep& step) {
  const auto own = effects_of(step.stage, step.part).reads;
  std::vector<Read> reads(own.begin(), own.end());
  for (const std::string& name : step.reads) {
    const auto resource = resource_named(name);
    if (!resource) continue;
    const auto same = std::ranges::find(reads, *resource, &Read::resource);
    if (same == reads.end()) {
      reads.push_back({*resource, kRequired});
    } else {
      *same = {*resource, kRequired};
    }
  }
  return reads;
}

std::vector<Resource> writes_of(const StageStep& step) {
  const auto own = effects_of(step.stage, step.part).writes;
  std::vector<Resource> writes(own.begin(), own.end());
  for (const std::string& name : step.writes) {
    const auto resource = resource_named(name);
    if (resource && std::ranges::find(writes, *resource) == writes.end()) writes.push_back(*resource);
  }
  return writes;
}

bool goes_module_by_module(const StageStep& step) {
  switch (step.stage) {
    case Stage::kInputDistStart:
    case Stage::kInputDistWait:
    case Stage::kInputDistFinish:
    case Stage::kEmbeddingLookup:
    case Stage::kOutputDistStart:
    case Stage::kOutputDistWait:
    case Stage::kPrefetch:
    case Stage::kFeatureProcessor: return true;
    case Stage::kBackward: return step.part == Part::kEmbedding;
    default: return false;
  }
}

bool names_its_own(Stage stage) {
  return stage == Stage::kCompute || stage == Stage::kAllToAll || stage == Stage::kValidateOutput;
}

std::vector<StreamIndex> table_update_streams(const Schedule& schedule, const std::optional<std::string>& module) {
  std::vector<StreamIndex> streams;
  each_stage_step(schedule.iteration, [&](const StageStep& step) {
    if (step.stage != Stage::kEmbeddingLookup) return;
    if (module && step.module && *module != *step.module) return;
    const StreamIndex real = schedule.resolve(step.stream);
    if (std::ranges::find(streams, real) == streams.end()) streams.push_back(real);
  });
  return streams;
}

std::int32_t depth(const Schedule& schedule) {
  std::int32_t farthest = 0;
  each_stage_step(schedule.iteration, [&](const StageStep& step) { farthest = std::max(farthest, step.batch); });
  return farthest;
}

}  // namespace interlace::schedule
