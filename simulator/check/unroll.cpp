#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <tuple>

#include "simulator/check/data_table.hpp"
#include "simulator/check/program.hpp"
#include "simulator/check/release.hpp"

namespace interlace::check {

namespace {

using schedule::Part;
using schedule::Resource;
using schedule::Stage;
using schedule::StageStep;
using schedule::Step;
using Module = std::optional<std::uint32_t>;

/// Whether a step reads or writes something of sharded modules by name.
bool names_sharded(const StageStep& step) {
  const auto per_module = [](const std::string& name) {
    const auto resource = schedule::resource_named(name);
    return resource && schedule::traits_of(*resource).per_module;
  };
  return std::ranges::any_of(step.reads, per_module) || std::ranges::any_of(step.writes, per_module);
}

class Unroller {
 public:
  Unroller(const schedule::Schedule& schedule, const UnrollOptions& options) : options_(options), data_(program_) {
    program_.schedule = &schedule;
    program_.depth = schedule::depth(schedule);
    program_.batches = options.batches;
    find_lanes(schedule);
    for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
      const auto* stage = std::get_if<StageStep>(&placed.step->action);
      if (stage == nullptr) continue;
      stage_of_[placed.step] = {static_cast<std::uint32_t>(program_.stages.size())};
      program_.stages.push_back(placed);
      for (const Resource resource : schedule::writes_of(*stage)) made_.insert(resource);
      if (stage->stage == Stage::kFeatureProcessor) has_feature_processor_ = true;
      if (stage->stage == Stage::kValidateOutput && stage->mode == schedule::ValidateMode::kEvent) {
        copies_[*stage->record] = stage_of_[placed.step];
      }
    }
    find_modules();
    find_host_waits(schedule);
  }

  Program run() {
    for (iteration_ = -program_.depth; iteration_ < program_.batches; ++iteration_) {
      run_steps(program_.schedule->iteration, {});
      release_.end_iteration(program_.instructions.size());
    }
    release_.insert(program_);
    return std::move(program_);
  }

 private:
  void find_lanes(const schedule::Schedule& schedule) {
    program_.lanes.push_back({Lane::Kind::kHost, "host"});
    for (const schedule::Stream& stream : schedule.streams) {
      if (stream.same_as) continue;
      lane_of_[*schedule.stream_named(stream.name)] = {static_cast<std::uint32_t>(program_.lanes.size())};
      program_.lanes.push_back({Lane::Kind::kStream, stream.name});
    }
    program_.lanes.push_back({Lane::Kind::kCollectives, "collectives"});
    program_.main = lane(*schedule.stream_named("main"));
  }

  void find_modules() {
    program_.modules = schedule::module_names(program_.stages);
    // Backward and dense_forward touch what sharded modules make only where there are any.
    const bool sharded = std::ranges::any_of(program_.stages, [](const schedule::PlacedStep& placed) {
      const auto& step = std::get<StageStep>(placed.step->action);
      return names_sharded(step) || schedule::goes_module_by_module(step);
    });
    // What stands in for_each runs at all only where there are any.
    const bool repeats = std::ranges::any_of(program_.schedule->iteration, [](const Step& step) {
      return std::holds_alternative<schedule::ForEachModule>(step.action);
    });
    if ((sharded || repeats) && program_.modules.empty()) program_.modules.resize(options_.unnamed_modules);
  }

  void find_host_waits(const schedule::Schedule& schedule) {
    for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
      const auto* wait = std::get_if<schedule::WaitStep>(&placed.step->action);
      if (wait == nullptr || wait->waiter) continue;
      if (const auto* event = std::get_if<std::string>(&wait->source)) awaited_by_host_.insert(*event);
    }
  }

  [[nodiscard]] LaneIndex lane(schedule::StreamIndex stream) const {
    return lane_of_.at(program_.schedule->resolve(stream));
  }

  // ---- what the host does -------------------------------------------------------------------------------------------

  void instruct(Instruction instruction) {
    instruction.iteration = iteration_;
    program_.instructions.push_back(instruction);
  }

  MarkIndex mark(LaneIndex lane) {
    const MarkIndex mark{program_.marks++};
    Instruction instruction{.kind = Instruction::Kind::kMark};
    instruction.lane = lane;
    instruction.mark = mark;
    instruct(instruction);
    return mark;
  }

  void wait(LaneIndex waiter, MarkIndex mark, Instruction::Cause cause) {
    Instruction instruction{.kind = Instruction::Kind::kWait, .cause = cause};
    instruction.lane = waiter;
    instruction.mark = mark;
    instruct(instruction);
  }

  void join(LaneIndex waiter, LaneIndex source, Instruction::Cause cause = Instruction::Cause::kInherent) {
    if (waiter != source) wait(waiter, mark(source), cause);
  }

  void host_read(const StageStep& step) { join(Program::kHost, lane(step.stream), Instruction::Cause::kStageRead); }

  // ---- operations ---------------------------------------------------------------------------------------------------

  /// What is being run: a stage step for one sharded module, or for all.
  struct Run {
    const StageStep& step;
    StageIndex stage;
    Module module;
    std::int64_t batch = 0;
  };

  Operation operation(const Run& run, Role role, LaneIndex on) const {
    return {.lane = on,
            .stage = run.stage,
            .role = role,
            .iteration = iteration_,
            .batch = run.batch,
            .module = run.module,
            .accesses = {},
            .pool = std::nullopt};
  }

  void touch(Operation& op, const Touched& what, bool writes, bool locked = false) {
    for (const DatumIndex datum : data_.data_of(what, op.batch, op.module))
      op.accesses.push_back({datum, writes, locked});
  }

  void touch(Operation& op, Resource resource, bool writes, bool locked = false) {
    if (schedule::traits_of(resource).per_batch && !made_.contains(resource)) return;
    touch(op, Touched::of(resource), writes, locked);
  }

  void touch_named(Operation& op, const StageStep& step) {
    for (const std::string& name : step.reads) {
      if (!schedule::resource_named(name)) touch(op, Touched{{}, name}, false);
    }
    for (const std::string& name : step.writes) {
      if (!schedule::resource_named(name)) touch(op, Touched{{}, name}, true);
    }
  }

  /// All that the step reads and writes: of its stage, and what it names besides.
  void touch_all(Operation& op, const StageStep& step) {
    for (const schedule::Read& read : schedule::reads_of(step)) touch(op, read.resource, false, read.locked);
    touch_named(op, step);
    for (const Resource resource : schedule::writes_of(step)) touch(op, resource, true);
  }

  void launch(Operation op, const StageStep& step) {
    if (!op.pool && op.role != Role::kHostRead && step.stage != Stage::kNextBatch) {
      op.pool = op.role == Role::kTableUpdate || op.role == Role::kSideGradient
                    ? op.lane
                    : lane(step.alloc.value_or(step.stream));
    }
    std::vector<LaneIndex> recorded;
    for (const schedule::StreamIndex stream : step.record_stream) recorded.push_back(lane(stream));
    const OperationIndex index{static_cast<std::uint32_t>(program_.operations.size())};
    const LaneIndex on = op.lane;
    program_.operations.push_back(std::move(op));
    Instruction instruction{.kind = Instruction::Kind::kRun};
    instruction.operation = index;
    instruction.lane = on;
    instruct(instruction);
    data_.enter(index, recorded);
  }

  /// All that the stage touches, in one operation on its stream.
  void launch_whole(const Run& run) {
    const LaneIndex on = run.step.stage == Stage::kNextBatch ? Program::kHost : lane(run.step.stream);
    Operation op = operation(run, Role::kWork, on);
    if (options_.feature_processors && !has_feature_processor_ && run.step.stage == Stage::kEmbeddingLookup) {
      touch(op, Resource::kDenseParameters, false);
    }
    touch_all(op, run.step);
    launch(std::move(op), run.step);
  }

  /// A collective over what `touches` adds, behind all that is queued on `behind`. The mark stands behind it.
  template <class Touches>
  MarkIndex collective(const Run& run, LaneIndex behind, const Touches& touches) {
    const LaneIndex on = options_.collectives ? program_.collectives() : behind;
    join(on, behind);
    Operation op = operation(run, Role::kCollective, on);
    if (behind != lane(run.step.stream)) op.pool = behind;  // of the stream that it is called on
    touches(op);
    launch(std::move(op), run.step);
    return mark(on);
  }

  // ---- stages -------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<Module> each_module(Module module) const {
    if (module) return {module};
    std::vector<Module> modules;
    for (std::uint32_t m = 0; m < program_.modules.size(); ++m) modules.emplace_back(m);
    return modules;
  }

  using Awaited = std::tuple<Stage, std::int64_t, std::uint32_t>;

  void await(const Run& run, Stage producer, std::uint32_t module) {
    const auto found = awaited_.find({producer, run.batch, module});
    if (found != awaited_.end() && options_.collectives)
      wait(lane(run.step.stream), found->second, Instruction::Cause::kInherent);
  }

  void run_input_dist_start(const Run& run) {
    for (const Module module : each_module(run.module)) launch_whole({run.step, run.stage, module, run.batch});
    host_read(run.step);
    const MarkIndex sent = collective(run, lane(run.step.stream), [&](Operation& op) {
      touch(op, Resource::kSplits, false);
      touch(op, Resource::kSplits, true);
    });
    for (const Module module : each_module(run.module)) awaited_[{Stage::kInputDistStart, run.batch, *module}] = sent;
  }

  void run_input_dist_wait(const Run& run) {
    for (const Module module : each_module(run.module)) await(run, Stage::kInputDistStart, *module);
    host_read(run.step);
    for (const Module module : each_module(run.module)) run_exchange({run.step, run.stage, module, run.batch});
  }

  /// What was looked up is packed for the collective on the stage's own stream, and not held by it.
  void run_output_dist_start(const Run& run) {
    Operation pack = operation(run, Role::kWork, lane(run.step.stream));
    for (const schedule::Read& read : schedule::reads_of(run.step)) touch(pack, read.resource, false, read.locked);
    launch(std::move(pack), run.step);
    awaited_[{run.step.stage, run.batch, *run.module}] = collective(run, lane(run.step.stream), [&](Operation& op) {
      for (const Resource resource : schedule::writes_of(run.step)) touch(op, resource, true);
    });
  }

  /// A stage that is nothing but a collective: of one module, or of named data.
  void run_exchange(const Run& run) {
    const MarkIndex done = collective(run, lane(run.step.stream), [&](Operation& op) { touch_all(op, run.step); });
    if (run.module) awaited_[{run.step.stage, run.batch, *run.module}] = done;
    if (run.step.stage == Stage::kAllToAll && !run.step.async) {
      wait(lane(run.step.stream), done, Instruction::Cause::kInherent);
    }
  }

  void run_backward(const Run& run) {
    const LaneIndex home = lane(run.step.stream);
    std::optional<MarkIndex> reduced;
    if (run.step.part != Part::kEmbedding) {
      Operation op = operation(run, Role::kWork, home);
      for (const schedule::Read& read : schedule::reads_of(run.step)) {
        const bool of_update = read.resource == Resource::kTables || read.resource == Resource::kKjt;
        if (!of_update || run.step.part) touch(op, read.resource, false, read.locked);
      }
      touch_named(op, run.step);
      const std::vector<LaneIndex> sides = run_side_gradients(run, home);
      for (const Resource resource : schedule::writes_of(run.step)) {
        if (resource != Resource::kTables || run.step.part) touch(op, resource, true);
      }
      launch(std::move(op), run.step);
      reduced = reduce_gradients(run, home, home, sides);
      for (const LaneIndex side : sides) join(home, side);
    }
    if (run.step.part != Part::kDense) run_table_updates(run, home);
    if (reduced) wait(home, *reduced, Instruction::Cause::kInherent);
  }

  /// The all-reduce of dense gradients behind `behind` and the streams that made some of them; with one rank, where
  /// nothing is exchanged, the stream of backward waits for these itself.
  template <class Lanes>
  MarkIndex reduce_gradients(const Run& run, LaneIndex home, LaneIndex behind, const Lanes& sides) {
    for (const LaneIndex side : sides) join(options_.collectives ? program_.collectives() : home, side);
    return collective(run, behind, [&](Operation& all_reduce) {
      touch(all_reduce, Resource::kDenseGradients, false);
      touch(all_reduce, Resource::kDenseGradients, true);
    });
  }

  /// Autograd runs the backward of a data-parallel lookup on the stream of its forward, as soon as the layers above
  /// have theirs: the rest of backward may run beside it. What it adds to the gradients is its own, and whoever needs
  /// them waits for it. Gives those streams that are not the stream of backward.
  std::vector<LaneIndex> run_side_gradients(const Run& run, LaneIndex home) {
    std::vector<LaneIndex> sides;
    bool upper = false;
    for (const schedule::PlacedStep& placed : program_.stages) {
      const auto& step = std::get<StageStep>(placed.step->action);
      if (step.stage != Stage::kDataParallelLookup) continue;
      const LaneIndex side = lane(step.stream);
      if (!upper) run_upper_backward(run, home);
      upper = true;
      join(side, home);
      if (side != home) sides.push_back(side);
      Operation op = operation(run, Role::kSideGradient, side);
      touch(op, Resource::kBatch, false);
      launch(std::move(op), run.step);
    }
    return sides;
  }

  /// The backward of the layers above the embeddings.
  void run_upper_backward(const Run& run, LaneIndex home) {
    Operation op = operation(run, Role::kWork, home);
    touch(op, Resource::kActivations, false);
    touch(op, Resource::kDenseParameters, false);
    launch(std::move(op), run.step);
  }

  /// The gradients of each module's embeddings go back where its tables are, which are updated on the stream of their
  /// lookup; the stream of backward goes on behind that. Modules in reverse order of their forward.
  void run_table_updates(const Run& run, LaneIndex home) {
    std::vector<Module> modules = each_module(run.module);
    std::ranges::reverse(modules);
    std::set<LaneIndex> sides;
    const bool named = run.step.part.has_value();
    for (const Module module : modules) {
      const Run of_module{run.step, run.stage, module, run.batch};
      const MarkIndex exchanged = collective(of_module, home, [&](Operation& op) {
        if (named) touch(op, Resource::kPooledGradients, false);
      });
      for (const LaneIndex on : update_lanes(*module)) {
        join(on, home);
        wait(on, exchanged, Instruction::Cause::kInherent);
        sides.merge(run_processor_gradients(of_module, on));
        Operation op = operation(of_module, Role::kTableUpdate, on);
        if (named) {
          touch_all(op, run.step);
        } else {
          touch(op, Resource::kKjt, false);
          touch(op, Resource::kTables, false);
          touch(op, Resource::kTables, true);
        }
        if (options_.feature_processors && !has_feature_processor_) {
          touch(op, Resource::kDenseParameters, false);
          touch(op, Resource::kDenseGradients, true);
        }
        launch(std::move(op), run.step);
        join(home, on);
      }
    }
    reduce_processor_gradients(run, home, sides);
  }

  /// The gradient of a module's feature processors needs that of its lookup, which comes with the exchange. Autograd
  /// runs it on the stream of their forward, beside the update of the tables. Gives those streams.
  std::set<LaneIndex> run_processor_gradients(const Run& run, LaneIndex of_lookup) {
    std::set<LaneIndex> sides;
    for (const schedule::PlacedStep& placed : program_.stages) {
      const auto& step = std::get<StageStep>(placed.step->action);
      const bool of_module = !step.module || program_.modules[*run.module] == *step.module;
      if (step.stage != Stage::kFeatureProcessor || !of_module) continue;
      const LaneIndex side = lane(step.stream);
      join(side, of_lookup);
      Operation op = operation(run, Role::kSideGradient, side);
      touch(op, Resource::kKjt, false);
      launch(std::move(op), run.step);
      sides.insert(side);
    }
    return sides;
  }

  /// Their all-reduce is behind them alone; the stream of backward waits for it.
  void reduce_processor_gradients(const Run& run, LaneIndex home, const std::set<LaneIndex>& sides) {
    if (sides.empty()) return;
    const LaneIndex behind = options_.collectives ? *sides.begin() : home;
    wait(home, reduce_gradients(run, home, behind, sides), Instruction::Cause::kInherent);
  }

  [[nodiscard]] std::vector<LaneIndex> update_lanes(std::uint32_t module) const {
    std::optional<std::string> name;
    if (!program_.modules[module].empty()) name = program_.modules[module];
    std::vector<LaneIndex> lanes;
    for (const schedule::StreamIndex stream : schedule::table_update_streams(*program_.schedule, name)) {
      lanes.push_back(lane(stream));
    }
    return lanes;
  }

  void run_validate_output(const Run& run) {
    Operation copy = operation(run, Role::kWork, lane(run.step.stream));
    touch_all(copy, run.step);
    copy.accesses.push_back({data_.host_copy(run.stage, run.batch), true, false});
    launch(std::move(copy), run.step);
    if (run.step.mode == schedule::ValidateMode::kBlocking) {
      join(Program::kHost, lane(run.step.stream), Instruction::Cause::kWritten);
    }
    // Where no step makes the host wait for the event, the host reads without.
    const bool awaited = run.step.mode == schedule::ValidateMode::kEvent && awaited_by_host_.contains(*run.step.record);
    if (!awaited) read_on_host(run.step, run.stage, run.batch);
  }

  void read_on_host(const StageStep& step, StageIndex stage, std::int64_t batch) {
    Operation read = operation({step, stage, {}, batch}, Role::kHostRead, Program::kHost);
    read.accesses.push_back({data_.host_copy(stage, batch), false, false});
    launch(std::move(read), step);
  }

  // ---- steps --------------------------------------------------------------------------------------------------------

  void run_steps(const std::vector<Step>& steps, Module module) {
    for (const Step& step : steps) {
      if (const auto* stage = std::get_if<StageStep>(&step.action)) {
        run_stage(*stage, stage_of_.at(&step), module);
      } else if (const auto* wait_step = std::get_if<schedule::WaitStep>(&step.action)) {
        run_wait(*wait_step, module);
      } else if (const auto* record = std::get_if<schedule::RecordStep>(&step.action)) {
        record_event(record->event, mark(lane(record->stream)), iteration_, module);
      } else {
        for (const Module each : each_module({})) run_steps(std::get<schedule::ForEachModule>(step.action).steps, each);
      }
    }
  }

  void run_stage(const StageStep& step, StageIndex stage, Module module) {
    if (!schedule::runs(step, iteration_, program_.batches)) return;
    if (step.module && schedule::goes_module_by_module(step)) module = module_named(*step.module);
    const Run run{step, stage, module, iteration_ + step.batch};
    for (const schedule::StreamIndex source : step.after) {
      join(lane(step.stream), lane(source), Instruction::Cause::kWritten);
    }
    LaneIndex behind = step.stage == Stage::kNextBatch ? Program::kHost : lane(step.stream);
    switch (step.stage) {
      case Stage::kInputDistStart: run_input_dist_start(run); break;
      case Stage::kInputDistWait: run_input_dist_wait(run); break;
      case Stage::kOutputDistStart:
        for (const Module each : each_module(module)) run_output_dist_start({step, stage, each, run.batch});
        break;
      case Stage::kAllToAll:
        run_exchange({step, stage, {}, run.batch});
        if (options_.collectives) behind = program_.collectives();
        break;
      case Stage::kBackward: run_backward(run); break;
      case Stage::kValidateOutput: run_validate_output(run); break;
      default: run_plain(run); break;
    }
    if (step.record) record_event(*step.record, mark(behind), run.batch, module);
    free_named(run);
    release_.end_stage(
        {stage, iteration_, run.batch, module, program_.operations.size(), program_.instructions.size()});
  }

  /// Stages that are work on one stream; the first waits for the collectives that bring what it assembles.
  void run_plain(const Run& run) {
    if (!schedule::goes_module_by_module(run.step)) {
      launch_whole(run);
      return;
    }
    for (const Module module : each_module(run.module)) {
      if (run.step.stage == Stage::kInputDistFinish) await(run, Stage::kInputDistWait, *module);
      if (run.step.stage == Stage::kOutputDistWait) await(run, Stage::kOutputDistStart, *module);
      launch_whole({run.step, run.stage, module, run.batch});
      if (run.step.stage == Stage::kInputDistFinish) host_read(run.step);
    }
  }

  void free_named(const Run& run) {
    for (const std::string& name : run.step.frees) {
      for (const DatumIndex datum : data_.data_of({schedule::resource_named(name), name}, run.batch, run.module)) {
        const auto buffer = data_.free(datum);
        if (!buffer) continue;
        Buffer& freed = program_.buffers[buffer->index()];
        freed.freed_by = run.stage;
        for (const schedule::StreamIndex stream : run.step.record_stream) freed.recorded.push_back(lane(stream));
        release_.at_once(*buffer, program_.instructions.size(), iteration_);
      }
    }
  }

  void run_wait(const schedule::WaitStep& step, Module module) {
    const LaneIndex waiter = step.waiter ? lane(*step.waiter) : Program::kHost;
    if (const auto* stream = std::get_if<schedule::StreamIndex>(&step.source)) {
      join(waiter, lane(*stream), Instruction::Cause::kWritten);
      return;
    }
    const auto& event = std::get<std::string>(step.source);
    const std::int64_t batch = iteration_ + step.event_batch;
    auto found = events_.find({event, batch, module});
    if (found == events_.end()) found = events_.find({event, batch, std::nullopt});
    if (found == events_.end()) return;  // never recorded: the wait is over at once
    wait(waiter, found->second, Instruction::Cause::kWritten);
    if (step.waiter) return;
    if (const auto copy = copies_.find(event); copy != copies_.end()) {
      read_on_host(program_.stage(copy->second), copy->second, batch);
    }
  }

  /// For a wait inside for_each: that of its module; behind it: that of the last.
  void record_event(const std::string& event, MarkIndex mark, std::int64_t batch, Module module) {
    if (module) events_[{event, batch, module}] = mark;
    events_[{event, batch, std::nullopt}] = mark;
  }

  [[nodiscard]] Module module_named(const std::string& name) const {
    const auto found = std::ranges::find(program_.modules, name);
    assert(found != program_.modules.end());
    return static_cast<std::uint32_t>(found - program_.modules.begin());
  }

  UnrollOptions options_;
  Program program_;
  DataTable data_;
  ReleasePlan release_;
  std::int64_t iteration_ = 0;
  std::map<schedule::StreamIndex, LaneIndex> lane_of_;
  std::map<const Step*, StageIndex> stage_of_;
  std::set<Resource> made_;
  bool has_feature_processor_ = false;
  std::map<std::string, StageIndex> copies_;  ///< by the event behind them
  std::set<std::string> awaited_by_host_;
  std::map<Awaited, MarkIndex> awaited_;
  std::map<std::tuple<std::string, std::int64_t, Module>, MarkIndex> events_;
};

}  // namespace

Program unroll(const schedule::Schedule& schedule, const UnrollOptions& options) {
  return Unroller(schedule, options).run();
}

}  // namespace interlace::check
