#include "engine/pipeline/trainer.hpp"

namespace interlace::engine {

LookupArguments Trainer::lookup_arguments(const ModuleWork& work, std::size_t module,
                                          std::span<float> looked_up) const {
  const ShardedModule& sharded = *model_->modules()[module];
  return {.shards = sharded.shards(),
          .on_host = sharded.shards_on_host(),
          .shape = sharded.shape(),
          .sources = tools_.communicator.ranks(),
          .batch = workload_->batch,
          .input = {.offsets = work.offsets.span(), .ids = work.ids.span(), .weights = work.weights.span()},
          .places = work.places.span(),
          .looked_up = looked_up,
          .width = sharded.plan().width_of(tools_.communicator.rank())};
}

StageOutcome Trainer::embedding_lookup(const StageCall& call) {
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module);
    if (!model_->processors().empty() && lookups_.processors.empty()) weigh_ids(call, module);
    ModuleWork& work = context(call.batch).modules[module];
    const auto width = static_cast<std::size_t>(model_->modules()[module]->plan().width_of(tools_.communicator.rank()));
    work.looked_up = result<float>(call, ranks() * samples() * width);
    launch(call.stream, [arguments = lookup_arguments(work, module, work.looked_up.span())](
                            const EmbeddingKernels& kernels, NativeStream on) { kernels.lookup(on, arguments); });
  }
  return {};
}

StageOutcome Trainer::data_parallel_lookup(const StageCall& call) {
  BatchContext& context = this->context(call.batch);
  const DataParallelTables& tables = *model_->data_parallel();
  DataParallelWork& work = context.data_parallel.emplace();
  work.features = *context.batch.data_parallel;
  work.offsets = result<std::int64_t>(call, work.features.lengths.size() + 1);
  work.pooled = result<float>(call, samples() * static_cast<std::size_t>(tables.width));
  const LookupArguments arguments{.shards = tables.rows.span(),
                                  .shape = tables.shape,
                                  .batch = workload_->batch,
                                  .input = {.offsets = work.offsets.span(),
                                            .ids = work.features.ids.span(),
                                            .weights = work.features.weights.span()},
                                  .looked_up = work.pooled.span(),
                                  .width = tables.width};
  launch(call.stream, [arguments, lengths = std::span<const std::int32_t>(work.features.lengths.span()),
                       offsets = work.offsets.span()](const EmbeddingKernels& kernels, NativeStream on) {
    kernels.sum_lengths(on, lengths, offsets);
    kernels.lookup(on, arguments);
  });
  return {};
}

Buffer<std::byte> Trainer::sort_rows(const LookupArguments& arguments, StreamId stream) {
  Buffer<std::byte> order = tools_.device.buffer<std::byte>(tools_.kernels.order_bytes(arguments), stream);
  launch("sort rows", stream, [arguments, to = order.span()](const EmbeddingKernels& kernels, NativeStream on) {
    kernels.sort_rows(on, arguments, to);
  });
  return order;
}

// The tables lie in device memory, where rows need not be brought first. What can be had ahead is the place of each
// row.
StageOutcome Trainer::prefetch(const StageCall& call) {
  for (const std::size_t module : call.modules) {
    const PartRange range = part_of(module);
    ModuleWork& work = context(call.batch).modules[module];
    const LookupArguments arguments = lookup_arguments(work, module, {});
    work.places = result<std::int64_t>(call, work.ids.size());
    launch(call.stream, [arguments, places = work.places.span()](const EmbeddingKernels& kernels, NativeStream on) {
      kernels.locate(on, arguments, places);
    });
  }
  return {};
}

}  // namespace interlace::engine
