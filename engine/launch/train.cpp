#include "engine/launch/train.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "engine/pipeline/interpreter.hpp"
#include "engine/runtime/transfer.hpp"
#include "simulator/base/statistics.hpp"
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
    for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
      const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action);
      if (stage == nullptr || stage->stage != schedule::Stage::kFeatureProcessor) continue;
      if (!stage->module || *stage->module == module.name) found.processors.push_back(streams[stage->stream.index()]);
    }
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

// Takes the times of a run: of each step by events on the main stream, of all timed ones on the host's clock.
class StepTimes {
 public:
  /// steps: all, also those that are not timed.
  StepTimes(Device& device, StreamId main, std::string schedule, std::int64_t steps, const TrainOptions& options)
      : device_(&device),
        main_(main),
        schedule_(std::move(schedule)),
        last_(steps - options.cooldown),
        options_(options) {}
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;
  StepTimes(StepTimes&&) = delete;
  StepTimes& operator=(StepTimes&&) = delete;
  ~StepTimes() { device_->set_profile(nullptr); }

  // Without warm-up the time begins with what fills the pipeline. The device is through with what came before.
  void before_iteration(std::int64_t iteration) {
    const std::int64_t first = options_.warmup + options_.reference;
    if (!began_ && (first == 0 || iteration == first)) {
      const Event end = device_->record_time(main_);
      device_->synchronize();
      if (options_.before_timed) options_.before_timed(reference_step(end));
      const Range named(*device_, "schedule " + schedule_);
      if (options_.profile) device_->set_profile(&profile_);
      began_ = Profile::Clock::now();
    }
    // First: the end of the timed steps waits for the device and for a recorder, which belongs to none of them.
    if (iteration >= 0) starts_.push_back(device_->record_time(main_));
    if (iteration == last_) end_of_timed();
  }
  void end() {
    starts_.push_back(device_->record_time(main_));
    if (!ended_) end_of_timed();
    device_->synchronize();
  }
  void write(RankResult& result) const {
    result.seconds = seconds_;
    for (std::size_t step = 0; step + 1 < starts_.size(); ++step) {
      result.step_seconds.push_back(device_->seconds_between(starts_[step], starts_[step + 1]));
    }
    result.profile = profile_.lines(*device_);
  }

 private:
  double reference_step(const Event& end) const {
    if (options_.reference == 0) return 0.0;
    std::vector<double> seconds;
    for (auto step = static_cast<std::size_t>(options_.warmup); step < starts_.size(); ++step) {
      seconds.push_back(device_->seconds_between(starts_[step], step + 1 < starts_.size() ? starts_[step + 1] : end));
    }
    std::ranges::sort(seconds);
    const auto left_out = static_cast<std::ptrdiff_t>(seconds.size() / 10);
    return statistics::mean({seconds.begin() + left_out, seconds.end() - left_out});
  }
  void end_of_timed() {
    device_->synchronize();
    if (began_) seconds_ = std::chrono::duration<double>(Profile::Clock::now() - *began_).count();
    device_->set_profile(nullptr);
    if (options_.after_timed) options_.after_timed();
    ended_ = true;
  }

  Device* device_;
  StreamId main_;
  std::string schedule_;
  std::int64_t last_;  ///< the first iteration behind the timed ones
  TrainOptions options_;
  Profile profile_;
  std::vector<Event> starts_;
  std::optional<Profile::Clock::time_point> began_;
  bool ended_ = false;
  double seconds_ = 0.0;
};

}  // namespace

RankResult train(const schedule::Schedule& schedule, const Workload& workload, const RankTools& tools,
                 const TrainOptions& options) {
  Device& device = tools.device;
  const std::vector<StreamId> streams = make_streams(schedule, device);
  const StreamId main = streams[schedule.stream_named("main")->index()];
  std::optional<Range> making(std::in_place, device, "making the model");
  Model model(workload, tools, main);
  making.reset();
  const std::size_t steps = workload.dense ? static_cast<std::size_t>(workload.steps) : 0;
  const Buffer<float> losses = to_device(device, main, std::vector<float>(steps));
  Trainer trainer(workload, tools, model, lookup_streams(schedule, workload, streams), losses);
  Interpreter interpreter(schedule, module_names(workload), streams, device, trainer);
  StepTimes times(device, main, schedule.name, workload.steps, options);
  try {
    device.synchronize();
    const bool tells = options.on_batch && tools.communicator.rank() == 0;
    interpreter.run(workload.steps, [&](std::int64_t iteration) {
      if (tells && iteration >= 0) options.on_batch(iteration);
      times.before_iteration(iteration);
    });
    times.end();

    RankResult result{.losses = mean_losses(tools, main, losses),
                      .digest = options.digest ? model.digest(tools, main) : 0,
                      .peaks = device.peaks(),
                      .validations = trainer.validations(),
                      .seconds = 0.0,
                      .step_seconds = {},
                      .profile = {}};
    times.write(result);
    device.synchronize();
    return result;
  } catch (...) {
    // Before the trainer goes: on a device that has failed, tensors throw out of their destructors.
    if (options.on_failure) options.on_failure(std::current_exception());
    throw;
  }
}

}  // namespace interlace::engine
