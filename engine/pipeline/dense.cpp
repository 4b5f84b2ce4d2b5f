#include "engine/pipeline/trainer.hpp"

namespace interlace::engine {

StageOutcome Trainer::dense_forward(const StageCall& call) {
  BatchContext& context = this->context(call.batch);
  ensure_interaction(call, context);
  Activations& activations = context.activations;
  activations = {.tape = model_->net()->make_tape(),
                 .features = context.batch.dense,
                 .labels = context.batch.labels,
                 .interaction = context.interaction,
                 .data_parallel = context.data_parallel};
  if (context.data_parallel) {
    const PooledArguments arguments{.moves = model_->data_parallel()->moves.span(),
                                    .batch = workload_->batch,
                                    .blocks = context.data_parallel->pooled.data(),
                                    .pooled = context.interaction.data(),
                                    .stride = model_->interaction_width()};
    launch(call.stream,
           [arguments](const EmbeddingKernels& kernels, NativeStream on) { kernels.assemble(on, arguments); });
  }
  const DenseBatch batch{.samples = workload_->batch,
                         .features = activations.features.data(),
                         .labels = activations.labels.data(),
                         .interaction = activations.interaction.data(),
                         .loss = losses_.data() + call.batch};
  tools_.device.launch(
      call.stream, [net = model_->net(), tape = activations.tape, batch](NativeStream) { net->forward(*tape, batch); });
  return {};
}

StageOutcome Trainer::optimizer_step(const StageCall& call) {
  launch(call.stream,
         [parameters = model_->parameters().span(), gradients = std::span<const float>(model_->gradients().span()),
          rate = workload_->dense_rate](const EmbeddingKernels& kernels, NativeStream on) {
           kernels.descend(on, parameters, gradients, rate);
         });
  return {};
}

StageOutcome Trainer::zero_grad(const StageCall& call) {
  launch(call.stream, [gradients = model_->gradients().span()](const EmbeddingKernels& kernels, NativeStream on) {
    kernels.fill(on, gradients, 0.0F);
  });
  return {};
}

}  // namespace interlace::engine
