#include "engine/launch/train.hpp"

#include <chrono>
#include <string>

#include "engine/pipeline/interpreter.hpp"
#include "engine/runtime/transfer.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::engine {

namespace {

std::vector<std::string> module_names(const Workload& workload) {
  std::vector<std::string> names;
  for (const ModuleSpec& module : workload.modules) names.push_back(module.name);
  return names;
}

// A schedule looks everything up once, or not at all.
LookupStreams lookup_streams(const schedule::Schedule& schedule, const Workload& workload,
                             const std::vector<StreamId>& streams) {
  LookupStreams found;
  for (const ModuleSpec& module : workload.modules) {
    const std::vector<schedule::StreamIndex> lookups = schedule::table_update_streams(schedule, module.name);
    if (!lookups.empty()) found.modules.push_back(streams[lookups.front().index()]);
  }
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action);
    if (stage == nullptr || stage->stage != schedule::Stage::kDataParallelLookup) continue;
    found.data_parallel = streams[stage->stream.index()];
  }
  return found;
}

std::vector<float> mean_losses(const RankTools& tools, StreamId stream, const Buffer<float>& losses) {
  if (losses.size() == 0) return {};
  tools.communicator.all_reduce_mean("losses", stream, losses, 0, losses.size()).wait(stream);
  const Buffer<float> host = to_host(tools.device, stream, losses);
  return {host.span().begin(), host.span().end()};
}

}  // namespace

RankResult train(const schedule::Schedule& schedule, const Workload& workload, const RankTools& tools) {
  Device& device = tools.device;
  const std::vector<StreamId> streams = make_streams(schedule, device);
  const StreamId main = streams[schedule.stream_named("main")->index()];
  Model model(workload, tools, main);
  const std::size_t steps = workload.dense ? static_cast<std::size_t>(workload.steps) : 0;
  const Buffer<float> losses = to_device(device, main, std::vector<float>(steps));
  Trainer trainer(workload, tools, model, lookup_streams(schedule, workload, streams), losses);
  Interpreter interpreter(schedule, module_names(workload), streams, device, trainer);
  device.synchronize();

  const auto began = std::chrono::steady_clock::now();
  interpreter.run(workload.steps);
  device.synchronize();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  RankResult result{.losses = mean_losses(tools, main, losses),
                    .digest = model.digest(tools, main),
                    .peaks = device.peaks(),
                    .validations = trainer.validations(),
                    .seconds = took.count()};
  device.synchronize();
  return result;
}

}  // namespace interlace::engine
