// Feature processors: each id is weighed by a learned weight of its place in its bag. Those weights are parameters of
// the dense optimizer, so that a lookup must not run before it.
#include "engine/pipeline/trainer.hpp"

namespace interlace::engine {

StageOutcome Trainer::feature_processor(const StageCall& call) {
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module);
    weigh_ids(call, module);
  }
  return {};
}

PlaceArguments Trainer::place_arguments(const ModuleWork& work, std::size_t module) const {
  const FeatureProcessor& processor = model_->processors()[module];
  return {.shards = processor.shards.span(),
          .most = processor.most,
          .batch = workload_->batch,
          .input = {.offsets = work.offsets.span(), .ids = work.ids.span(), .weights = work.input_weights.span()}};
}

void Trainer::weigh_ids(const StageCall& call, std::size_t module) {
  ModuleWork& work = context(call.batch).modules[module];
  work.input_weights = work.weights;
  work.weights = result<float>(call, work.ids.size());
  const ParameterRange& parameters = model_->processors()[module].parameters;
  launch("weigh ids", call.stream,
         [arguments = place_arguments(work, module), weights = work.weights.span(),
          of_places = std::span<const float>(model_->parameters().span().subspan(parameters.begin, parameters.count))](
             const EmbeddingKernels& kernels, NativeStream on) { kernels.weigh(on, arguments, of_places, weights); });
}

// Its gradients hang on the tables as they were looked up, so that this comes before their update: on the stream of the
// lookup what it knows of tables, on that of the processor the rest.
Awaitable Trainer::weigh_backward(const LookupArguments& lookup, const ModuleWork& work, std::size_t module) {
  const StreamId of_lookup = lookups_.modules[module];
  const StreamId stream = lookups_.processors.empty() ? of_lookup : lookups_.processors[module];
  const Buffer<float> of_ids = tools_.device.buffer<float>(work.ids.size(), of_lookup);
  launch("weight gradients", of_lookup,
         [lookup, gradients = of_ids.span()](const EmbeddingKernels& kernels, NativeStream on) {
           kernels.weight_gradients(on, lookup, gradients);
         });
  tools_.device.wait_stream(stream, of_lookup);
  of_ids.used_on(stream);
  const ParameterRange& parameters = model_->processors()[module].parameters;
  launch("place gradients", stream,
         [arguments = place_arguments(work, module), of_ids = std::span<const float>(of_ids.span()),
          of_places = model_->gradients().span().subspan(parameters.begin, parameters.count)](
             const EmbeddingKernels& kernels, NativeStream on) {
           kernels.add_place_gradients(on, arguments, of_ids, of_places);
         });
  return tools_.communicator.all_reduce_mean("place gradients of " + model_->modules()[module]->name(), stream,
                                             model_->gradients(), parameters.begin, parameters.count);
}

}  // namespace interlace::engine
