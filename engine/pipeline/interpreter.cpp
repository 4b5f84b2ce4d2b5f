#include "engine/pipeline/interpreter.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "engine/pipeline/part_range.hpp"
#include "engine/runtime/profile.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::engine {

namespace {

// Waits look back at most this far: the language bounds how far a batch may be away.
constexpr std::int64_t kEventMemory = 2 * std::int64_t{schedule::kMaxBatch} + 2;

}  // namespace

Interpreter::Interpreter(const schedule::Schedule& schedule, std::vector<std::string> modules,
                         std::vector<StreamId> streams, Device& device, StageRunner& runner)
    : schedule_(&schedule),
      modules_(std::move(modules)),
      streams_(std::move(streams)),
      device_(&device),
      runner_(&runner),
      releases_(plan_releases(schedule, modules_)) {
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action);
    if (stage != nullptr) static_cast<void>(modules_of(*stage, std::nullopt));
    const auto* wait = std::get_if<schedule::WaitStep>(&placed.step->action);
    const auto* event = wait != nullptr ? std::get_if<std::string>(&wait->source) : nullptr;
    if (event != nullptr) (wait->waiter ? awaited_ : awaited_by_host_).insert(*event);
  }
}

void Interpreter::run(std::int64_t batches, const std::function<void(std::int64_t)>& before_iteration) {
  batches_ = batches;
  for (iteration_ = -schedule::depth(*schedule_); iteration_ < batches; ++iteration_) {
    if (before_iteration) before_iteration(iteration_);
    const Range range(*device_, "iteration " + std::to_string(iteration_));
    for (const schedule::Step& step : schedule_->iteration) run_step(step, std::nullopt);
    if (iteration_ >= 0) runner_->end(iteration_);
    forget_old_events();
  }
  // The waits for what the last batches recorded would stand in iterations that there are not.
  for (const auto& [key, recorded] : events_) {
    if (recorded->on_host_wait) wait_on_host(*recorded);
  }
}

void Interpreter::run_step(const schedule::Step& step, std::optional<std::size_t> module) {
  if (const auto* stage = std::get_if<schedule::StageStep>(&step.action)) {
    if (schedule::runs(*stage, iteration_, batches_)) run_stage(*stage, module);
  } else if (const auto* wait = std::get_if<schedule::WaitStep>(&step.action)) {
    run_wait(*wait, module);
  } else if (const auto* record = std::get_if<schedule::RecordStep>(&step.action)) {
    keep_event(record->event, iteration_, module, {device_->record(stream(record->stream)), {}, {}});
  } else {
    for (std::size_t each = 0; each < modules_.size(); ++each) {
      for (const schedule::Step& inner : std::get<schedule::ForEachModule>(step.action).steps) run_step(inner, each);
    }
  }
}

void Interpreter::run_stage(const schedule::StageStep& step, std::optional<std::size_t> module) {
  const StageCall call = call_of(step, module);
  for (const schedule::StreamIndex other : step.after) device_->wait_stream(call.stream, stream(other));
  StageOutcome outcome = run_in_ranges(call);
  if (step.record) {
    const Event event = outcome.collective ? outcome.collective->event() : device_->record(call.stream);
    // Else nobody would take the memory of the collective over.
    if (!awaited_.contains(*step.record)) outcome.collective.reset();
    // Where no step makes the host wait for the event, the host does not.
    if (outcome.on_host_wait && !awaited_by_host_.contains(*step.record)) std::exchange(outcome.on_host_wait, {})();
    keep_event(*step.record, call.batch, module, {event, std::move(outcome.on_host_wait), outcome.collective});
  }
  release(call, module);
}

StageCall Interpreter::call_of(const schedule::StageStep& step, std::optional<std::size_t> module) const {
  StageCall call{.step = &step,
                 .batch = iteration_ + step.batch,
                 .stream = stream(step.stream),
                 .pool = stream(step.alloc.value_or(step.stream)),
                 .record_stream = {},
                 .modules = modules_of(step, module)};
  for (const schedule::StreamIndex user : step.record_stream) call.record_stream.push_back(stream(user));
  return call;
}

std::vector<std::size_t> Interpreter::modules_of(const schedule::StageStep& step,
                                                 std::optional<std::size_t> module) const {
  if (module) return {*module};
  if (step.module && !schedule::names_its_own(step.stage)) {
    const auto found = std::ranges::find(modules_, *step.module);
    if (found == modules_.end()) {
      throw Error(
          kUnknownModule, schedule_->source,
          "stage \"" + std::string(to_string(step.stage)) + "\": the model has no module \"" + *step.module + "\"",
          "name one of the workload's, or run the stage for all");
    }
    return {static_cast<std::size_t>(found - modules_.begin())};
  }
  return all_modules();
}

std::vector<std::size_t> Interpreter::all_modules() const {
  std::vector<std::size_t> all(modules_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

StageOutcome Interpreter::run_in_ranges(const StageCall& call) {
  const schedule::StageStep& step = *call.step;
  const Range range(*device_, std::string(to_string(step.stage)) + ' ' + std::to_string(call.batch));
  std::optional<PartRange> named;
  if (schedule::names_its_own(step.stage) && step.module) named.emplace(*device_, *step.module, part::kWhole);
  const std::string name =
      std::string(to_string(step.stage)) + (step.part ? " of " + std::string(to_string(*step.part)) : std::string());
  Profiled piece(*device_, "stage", name, call.stream);
  StageOutcome outcome = runner_->run(call);
  piece.end();
  return outcome;
}

void Interpreter::release(const StageCall& call, std::optional<std::size_t> module) {
  const auto found = releases_.find(call.step);
  if (found == releases_.end()) return;
  // Of what goes behind the step since nothing reads it any more, its makers said on which streams it is used.
  const std::vector<StreamId> none;
  const auto users_of = [&](std::string_view name) -> const std::vector<StreamId>& {
    const std::vector<std::string>& frees = call.step->frees;
    return std::ranges::find(frees, name) != frees.end() ? call.record_stream : none;
  };
  const bool last_module = !module || *module + 1 == modules_.size();
  for (const auto& [resource, modules] : found->second.resources) {
    const schedule::ResourceTraits& traits = schedule::traits_of(resource);
    if (traits.per_module && module) {
      const bool is_its_own = std::ranges::find(modules, *module) != modules.end();
      if (is_its_own) runner_->release(resource, call.batch, {*module}, users_of(traits.name));
    } else if (last_module) {
      runner_->release(resource, call.batch, modules, users_of(traits.name));
    }
  }
  if (!last_module) return;
  for (const std::string& name : found->second.named) runner_->release_named(name, call.batch, users_of(name));
}

void Interpreter::run_wait(const schedule::WaitStep& step, std::optional<std::size_t> module) {
  if (const auto* source = std::get_if<schedule::StreamIndex>(&step.source)) {
    if (step.waiter) {
      device_->wait_stream(stream(*step.waiter), stream(*source));
    } else {
      device_->host_wait(device_->record(stream(*source)));
    }
    return;
  }
  const std::string& name = std::get<std::string>(step.source);
  const std::int64_t batch = iteration_ + step.event_batch;
  auto found = events_.find({name, batch, module});
  if (found == events_.end()) found = events_.find({name, batch, std::nullopt});
  if (found == events_.end()) return;  // never recorded: prologue or drain
  if (step.waiter) {
    device_->wait(stream(*step.waiter), found->second->event);
    if (found->second->collective) found->second->collective->hand_over(stream(*step.waiter));
    return;
  }
  wait_on_host(*found->second);
}

void Interpreter::wait_on_host(Recorded& recorded) {
  device_->host_wait(recorded.event);
  if (const auto then = std::exchange(recorded.on_host_wait, {})) then();
}

void Interpreter::keep_event(const std::string& name, std::int64_t batch, std::optional<std::size_t> module,
                             Recorded recorded) {
  const auto shared = std::make_shared<Recorded>(std::move(recorded));
  if (module) events_.insert_or_assign({name, batch, module}, shared);
  events_.insert_or_assign({name, batch, std::nullopt}, shared);
}

void Interpreter::forget_old_events() {
  std::erase_if(events_, [&](const auto& entry) {
    return entry.first.batch < iteration_ - kEventMemory && !entry.second->on_host_wait;
  });
}

std::vector<StreamId> make_streams(const schedule::Schedule& schedule, Device& device) {
  std::map<schedule::StreamIndex, StreamId> real;
  std::vector<StreamId> streams;
  for (std::uint32_t i = 0; i < schedule.streams.size(); ++i) {
    const schedule::StreamIndex index = schedule.resolve({i});
    if (!real.contains(index)) {
      const schedule::Stream& stream = schedule.stream(index);
      real.emplace(index, device.make_stream(stream.name, stream.priority));
    }
    streams.push_back(real.at(index));
  }
  return streams;
}

}  // namespace interlace::engine
