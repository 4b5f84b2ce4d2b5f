// The pooled embeddings, from the ranks of the tables back to the ranks of the samples.
#include "engine/pipeline/trainer.hpp"

namespace interlace::engine {

StageOutcome Trainer::output_dist_start(const StageCall& call) {
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module);
    ModuleWork& work = context(call.batch).modules[module];
    const ShardedModule& sharded = *model_->modules()[module];
    std::vector<std::size_t> receive;
    std::size_t received = 0;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      receive.push_back(samples() * static_cast<std::size_t>(sharded.plan().width_of(static_cast<int>(rank))));
      received += receive.back();
    }
    const std::vector<std::size_t> send(ranks(), work.looked_up.size() / ranks());
    work.pooled_blocks = result<float>(call, received);
    work.pooled_arrival = tools_.communicator.all_to_all<float>("pooled embeddings of " + sharded.name(), call.stream,
                                                                {work.looked_up, send}, {work.pooled_blocks, receive});
  }
  return {};
}

StageOutcome Trainer::output_dist_wait(const StageCall& call) {
  BatchContext& context = this->context(call.batch);
  ensure_interaction(call, context);
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module);
    const ModuleWork& work = context.modules[module];
    work.pooled_arrival.wait(call.stream);
    const PooledArguments arguments{.moves = model_->modules()[module]->moves(),
                                    .batch = workload_->batch,
                                    .blocks = work.pooled_blocks.data(),
                                    .pooled = context.interaction.data(),
                                    .stride = model_->interaction_width()};
    launch(call.stream,
           [arguments](const EmbeddingKernels& kernels, NativeStream on) { kernels.assemble(on, arguments); });
  }
  return {};
}

void Trainer::ensure_interaction(const StageCall& call, BatchContext& context) {
  if (context.interaction.allocated()) return;
  context.interaction = result<float>(call, samples() * static_cast<std::size_t>(model_->interaction_width()));
}

}  // namespace interlace::engine
