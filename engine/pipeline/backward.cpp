// Backward: the dense net from its last segment to its first, each followed by the all-reduce of its gradients; where
// the embeddings join, their gradients go back to the ranks of the tables while the rest of the net goes on; and last
// the tables are updated, on the stream that looks them up.
#include <optional>

#include "engine/pipeline/trainer.hpp"

namespace interlace::engine {

StageOutcome Trainer::backward(const StageCall& call) {
  const std::optional<schedule::Part> part = call.step->part;
  std::vector<Awaitable> reductions;
  if (part == schedule::Part::kDense) {
    backward_dense(call, {}, reductions);
    await(call, reductions);
    return {};
  }
  std::vector<Buffer<float>> gradients(call.modules.size());
  std::vector<Awaitable> arrivals;
  const auto send = [&] {
    for (std::size_t i = 0; i < call.modules.size(); ++i) {
      arrivals.push_back(send_gradients(call, call.modules[i], gradients[i]));
    }
  };
  if (part == schedule::Part::kEmbedding) {
    send();
  } else {
    backward_dense(call, send, reductions);
  }
  for (std::size_t i = 0; i < call.modules.size(); ++i) {
    update_tables(call, call.modules[i], arrivals[i], gradients[i], reductions);
    context(call.batch).modules[call.modules[i]].gradient_blocks = {};
  }
  await(call, reductions);
  return {};
}

// on_pooled_gradients: called when the work that makes them is queued. reductions: of the dense gradients, for whoever
// needs them on the stage's stream; tables need them not.
void Trainer::backward_dense(const StageCall& call, const std::function<void()>& on_pooled_gradients,
                             std::vector<Awaitable>& reductions) {
  const DenseNet& net = *model_->net();
  for (std::size_t segment = net.segments(); segment-- > 0;) {
    reductions.push_back(backward_segment(call, segment));
    if (segment == net.first_over_segment()) {
      if (on_pooled_gradients) on_pooled_gradients();
      if (model_->data_parallel()) reductions.push_back(update_data_parallel(call));
    }
  }
}

void Trainer::await(const StageCall& call, const std::vector<Awaitable>& reductions) const {
  const PartRange range(tools_.device, {}, part::kDense);
  for (const Awaitable& reduction : reductions) reduction.wait(call.stream);
}

// Behind the first segment of the over arch, the gradient of the interaction is taken apart, before the net frees it.
Awaitable Trainer::backward_segment(const StageCall& call, std::size_t segment) {
  const PartRange range(tools_.device, {}, part::kDense);
  BatchContext& context = this->context(call.batch);
  const DenseNet& net = *model_->net();
  std::vector<PooledArguments> arrangements;
  if (segment == net.first_over_segment()) {
    for (std::size_t module = 0; module < context.modules.size(); ++module) {
      ModuleWork& work = context.modules[module];
      std::int64_t width = 0;
      for (int rank = 0; rank < tools_.communicator.ranks(); ++rank) {
        width += model_->modules()[module]->plan().width_of(rank);
      }
      work.gradient_blocks = result<float>(call, samples() * static_cast<std::size_t>(width));
      arrangements.push_back({.moves = model_->modules()[module]->moves(),
                              .batch = workload_->batch,
                              .blocks = work.gradient_blocks.data()});
    }
    if (context.activations.data_parallel) {
      DataParallelWork& work = *context.activations.data_parallel;
      work.gradients = result<float>(call, work.pooled.size());
      arrangements.push_back(
          {.moves = model_->data_parallel()->moves.span(), .batch = workload_->batch, .blocks = work.gradients.data()});
    }
  }
  const auto work = [&net, tape = context.activations.tape, segment, arrangements](const EmbeddingKernels& kernels,
                                                                                   NativeStream on) {
    net.backward(*tape, segment);
    if (segment != net.first_over_segment()) return;
    const GradientView gradient = net.interaction_gradient(*tape);
    for (PooledArguments arguments : arrangements) {
      arguments.pooled = gradient.data;
      arguments.stride = gradient.stride;
      kernels.arrange(on, arguments);
    }
  };
  launch("dense backward", call.stream, work);
  const ParameterRange parameters = net.parameters_of(segment);
  return tools_.communicator.all_reduce_mean("dense gradients", call.stream, model_->gradients(), parameters.begin,
                                             parameters.count);
}

// The looked-up rows add their gradients to the dense ones.
Awaitable Trainer::update_data_parallel(const StageCall& call) {
  const DataParallelWork& work = *context(call.batch).activations.data_parallel;
  const DataParallelTables& tables = *model_->data_parallel();
  const StreamId stream = *lookups_.data_parallel;
  const LookupArguments lookup{.shards = tables.gradients.span(),
                               .shape = tables.shape,
                               .batch = workload_->batch,
                               .input = {.offsets = work.offsets.span(),
                                         .ids = work.features.ids.span(),
                                         .weights = work.features.weights.span()},
                               .places = {},
                               .looked_up = work.gradients.span(),
                               .width = tables.width};
  const auto sorted = [&] {
    const PartRange range(tools_.device, {}, part::kOrder);
    return sort_rows(lookup, stream);
  };
  const Buffer<std::byte> order = sorted();
  const PartRange range(tools_.device, {}, part::kUpdate);
  tools_.device.wait_stream(stream, call.stream);
  const UpdateArguments update{
      .lookup = lookup, .order = order.span(), .optimizer = {.kind = TableOptimizer::kAccumulate}};
  launch("update rows", stream,
         [update](const EmbeddingKernels& kernels, NativeStream on) { kernels.update(on, update); });
  return tools_.communicator.all_reduce_mean("data-parallel gradients", stream, model_->gradients(),
                                             tables.parameters.begin, tables.parameters.count);
}

Awaitable Trainer::send_gradients(const StageCall& call, std::size_t module, Buffer<float>& received) {
  const PartRange range = part_of(module, part::kGradDist);
  const ModuleWork& work = context(call.batch).modules[module];
  const ShardedModule& sharded = *model_->modules()[module];
  std::vector<std::size_t> send;
  for (int rank = 0; rank < tools_.communicator.ranks(); ++rank) {
    send.push_back(samples() * static_cast<std::size_t>(sharded.plan().width_of(rank)));
  }
  const std::vector<std::size_t> receive(
      ranks(), samples() * static_cast<std::size_t>(sharded.plan().width_of(tools_.communicator.rank())));
  received = tools_.device.buffer<float>(receive.front() * ranks(), call.stream);
  return tools_.communicator.all_to_all<float>("pooled gradients of " + sharded.name(), call.stream,
                                               {work.gradient_blocks, send}, {received, receive});
}

// Each rank's loss is the mean over its own samples; the model's is the mean over the ranks.
void Trainer::update_tables(const StageCall& call, std::size_t module, const Awaitable& arrival,
                            const Buffer<float>& gradients, std::vector<Awaitable>& reductions) {
  const ModuleWork& work = context(call.batch).modules[module];
  const StreamId stream = lookups_.modules[module];
  const LookupArguments lookup = lookup_arguments(work, module, gradients.span());
  // The order needs no gradients: it is sorted while they are on their way.
  const auto sorted = [&] {
    const PartRange range = part_of(module, part::kOrder);
    return sort_rows(lookup, stream);
  };
  const Buffer<std::byte> order = sorted();
  const PartRange range = part_of(module, part::kUpdate);
  tools_.device.wait_stream(stream, call.stream);
  arrival.wait_and_hold(stream);
  if (!model_->processors().empty()) reductions.push_back(weigh_backward(lookup, work, module));
  const UpdateArguments update{.lookup = lookup,
                               .order = order.span(),
                               .scale = 1.0F / static_cast<float>(ranks()),
                               .optimizer = workload_->table_optimizer};
  launch("update rows", stream,
         [update](const EmbeddingKernels& kernels, NativeStream on) { kernels.update(on, update); });
  tools_.device.wait_stream(call.stream, stream);
  arrival.hand_over(call.stream);
}

}  // namespace interlace::engine
