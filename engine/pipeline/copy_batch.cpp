#include "engine/pipeline/trainer.hpp"
#include "engine/runtime/transfer.hpp"

namespace interlace::engine {

StageOutcome Trainer::next_batch(const StageCall& call) {
  context(call.batch).host = &tools_.source.batch(call.batch);
  return {};
}

StageOutcome Trainer::copy_batch_to_gpu(const StageCall& call) {
  BatchContext& context = this->context(call.batch);
  const Batch& host = context.host != nullptr ? *context.host : tools_.source.batch(call.batch);
  context.batch.modules.resize(host.modules.size());
  if (host.data_parallel) context.batch.data_parallel.emplace();
  Batch::each_array(host, context.batch, [&](const auto& from, auto& to) {
    if (from.size() == 0) return;
    to = result<std::remove_pointer_t<decltype(from.data())>>(call, from.size());
    from.used_on(call.stream);
    tools_.device.copy(call.stream, to.data(), from.data(), from.span().size_bytes());
  });
  return {};
}

}  // namespace interlace::engine
