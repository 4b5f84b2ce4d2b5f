#include "engine/pipeline/trainer.hpp"

#include <array>
#include <utility>

namespace interlace::engine {

Trainer::Trainer(const Workload& workload, const RankTools& tools, Model& model, LookupStreams lookups,
                 Buffer<float> losses)
    : workload_(&workload), tools_(tools), model_(&model), lookups_(std::move(lookups)), losses_(std::move(losses)) {}

Trainer::StageFunction Trainer::function_of(schedule::Stage stage) {
  // In the order of the enumerators.
  static constexpr std::array<StageFunction, schedule::kStages> kFunctions = {
      &Trainer::next_batch,        &Trainer::copy_batch_to_gpu, &Trainer::input_dist_start,
      &Trainer::input_dist_wait,   &Trainer::input_dist_finish, &Trainer::embedding_lookup,
      &Trainer::output_dist_start, &Trainer::output_dist_wait,  &Trainer::data_parallel_lookup,
      &Trainer::dense_forward,     &Trainer::backward,          &Trainer::optimizer_step,
      &Trainer::zero_grad,         &Trainer::validate_output,   &Trainer::prefetch,
      &Trainer::feature_processor, &Trainer::compute,           &Trainer::all_to_all,
  };
  return kFunctions.at(static_cast<std::size_t>(stage));
}

StageOutcome Trainer::run(const StageCall& call) { return (this->*function_of(call.step->stage))(call); }

BatchContext& Trainer::context(std::int64_t batch) {
  const auto [found, is_new] = contexts_.try_emplace(batch);
  if (is_new) found->second.modules.resize(model_->modules().size());
  return found->second;
}

PartRange Trainer::part_of_all(const std::vector<std::size_t>& modules, std::string_view part) const {
  const bool is_one = modules.size() == 1 && model_->modules().size() > 1;
  return {tools_.device, is_one ? std::string_view(model_->modules()[modules.front()]->name()) : std::string_view(),
          part};
}

void Trainer::release(schedule::Resource resource, std::int64_t batch, const std::vector<std::size_t>& modules) {
  using schedule::Resource;
  BatchContext& context = this->context(batch);
  const auto each = [&](const auto& clear) {
    for (const std::size_t module : modules) clear(context.modules[module]);
  };
  switch (resource) {
    case Resource::kHostBatch: context.host = nullptr; break;
    case Resource::kBatch: context.batch = {}; break;
    case Resource::kSplits:
      each([](ModuleWork& work) {
        work.send_lengths = {};
        work.send_ids = {};
        work.send_weights = {};
        work.splits.reset();
      });
      break;
    case Resource::kInputExchange:
      each([](ModuleWork& work) {
        work.received = {};
        work.receive_counts.clear();
        work.receive_begins.clear();
        work.arrivals.clear();
      });
      break;
    case Resource::kKjt:
      each([](ModuleWork& work) {
        work.offsets = {};
        work.ids = {};
        work.weights = {};
        work.input_weights = {};
      });
      break;
    case Resource::kCacheRows: each([](ModuleWork& work) { work.places = {}; }); break;
    case Resource::kLookedUp: each([](ModuleWork& work) { work.looked_up = {}; }); break;
    case Resource::kOutputExchange: each([](ModuleWork& work) { work.pooled_blocks = {}; }); break;
    case Resource::kPooled: context.interaction = {}; break;
    case Resource::kDataParallelPooled: context.data_parallel.reset(); break;
    case Resource::kActivations: context.activations = {}; break;
    case Resource::kPooledGradients: each([](ModuleWork& work) { work.gradient_blocks = {}; }); break;
    case Resource::kTables:
    case Resource::kDenseParameters:
    case Resource::kDenseGradients: break;  // live through the training
  }
}

void Trainer::release_named(const std::string& name, std::int64_t batch) { context(batch).named.erase(name); }

}  // namespace interlace::engine
