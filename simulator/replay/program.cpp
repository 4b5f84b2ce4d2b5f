#include "simulator/replay/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "simulator/replay/plan_queues.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"
#include "simulator/stages/bind.hpp"

namespace interlace::replay {

namespace {

using schedule::Part;
using schedule::Schedule;
using schedule::Stage;
using schedule::StageStep;
using schedule::Step;
using stages::ModuleId;
using stages::Piece;
using stages::SegmentKey;

/// Whether a recorded segment of backward is of the part of it that the step runs.
bool is_of_part(const StageStep& step, const SegmentKey& segment) {
  return !step.part || segment.of_dense_part() == (*step.part == Part::kDense);
}

/// Compiles one rank's recorded iteration.
class Compiler {
 public:
  Compiler(const Schedule& schedule, const stages::Cut& cut, const SiteTable& table, Plan& plan,
           const RecordedIteration& iteration)
      : schedule_(&schedule), cut_(&cut), table_(&table), plan_(&plan), iteration_(&iteration) {
    for (std::uint32_t i = 0; i < iteration.calls.size(); ++i) {
      const SegmentKey& key = iteration.calls[i].segment;
      calls_[key].push_back(i);
      if (key.module && !schedule::names_its_own(key.stage)) modules_.insert(*key.module);
    }
    find_lookup_stream(schedule.iteration);
  }

  Program run() {
    run_steps(schedule_->iteration, std::nullopt);
    return std::move(program_);
  }

 private:
  using Kind = Instruction::Kind;

  void find_lookup_stream(std::span<const Step> steps) {
    for (const Step& step : steps) {
      if (const auto* stage = std::get_if<StageStep>(&step.action); stage != nullptr) {
        if (stage->stage == Stage::kEmbeddingLookup) {
          if (const auto module = module_of(*stage, {})) lookup_streams_.emplace(*module, resolve(stage->stream));
          lookup_stream_ = resolve(stage->stream);
        }
        if (stage->stage == Stage::kDataParallelLookup) data_parallel_stream_ = resolve(stage->stream);
      } else if (const auto* loop = std::get_if<schedule::ForEachModule>(&step.action)) {
        find_lookup_stream(loop->steps);
      }
    }
  }

  [[nodiscard]] StreamIndex resolve(schedule::StreamIndex stream) const {
    return StreamIndex{schedule_->resolve(stream).value};
  }

  void run_steps(std::span<const Step> steps, std::optional<ModuleId> module) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (const auto* stage = std::get_if<StageStep>(&steps[i].action)) {
        const StageStep* next = i + 1 < steps.size() ? std::get_if<StageStep>(&steps[i + 1].action) : nullptr;
        if (run_stage_step(*stage, next, module)) ++i;
      } else if (const auto* wait = std::get_if<schedule::WaitStep>(&steps[i].action)) {
        run_wait(*wait, module);
      } else if (const auto* record = std::get_if<schedule::RecordStep>(&steps[i].action)) {
        record_event(record->event, resolve(record->stream), 0, module);
      } else {
        for (const ModuleId each : modules_) run_steps(std::get<schedule::ForEachModule>(steps[i].action).steps, each);
      }
    }
  }

  /// Whether it has run the next step together with this one.
  bool run_stage_step(const StageStep& stage, const StageStep* next, std::optional<ModuleId> module) {
    const std::size_t first = program_.instructions.size();
    const bool together = next != nullptr && run_together(stage, *next);
    if (together) {
      begin(stage);
      play({segments(stage, module_of(stage, module)), segments(*next, module_of(*next, module))}, stage);
      if (next->record) record_event(*next->record, resolve(next->stream), next->batch, module_of(*next, module));
    } else {
      run_stage(stage, module_of(stage, module));
    }
    for (Instruction& instruction : std::span(program_.instructions).subspan(first)) {
      instruction.batch = stage.batch;
      instruction.of_stage = true;
    }
    return together;
  }

  /// That a step names, or the one that a loop over modules is at; none: all.
  static std::optional<ModuleId> module_of(const StageStep& step, std::optional<ModuleId> of_loop) {
    return step.module_number ? ModuleId{*step.module_number} : of_loop;
  }

  /// A lookup and the distribution of its output interleave group by group where a module has several sharding types:
  /// next to each other on one stream they keep the order in which they were recorded.
  static bool run_together(const StageStep& a, const StageStep& b) {
    return a.stage == Stage::kEmbeddingLookup && b.stage == Stage::kOutputDistStart && a.stream == b.stream &&
           a.batch == b.batch && b.after.empty() && !a.record;
  }

  void run_wait(const schedule::WaitStep& wait, std::optional<ModuleId> module) {
    Instruction i;
    if (const auto* stream = std::get_if<schedule::StreamIndex>(&wait.source)) {
      i.kind = wait.waiter ? Kind::kStreamWait : Kind::kHostWait;
      i.other = resolve(*stream);
      i.stream = wait.waiter ? resolve(*wait.waiter) : i.other;
      if (wait.waiter && i.stream == i.other) return;  // a stream is always behind itself
    } else {
      i.kind = wait.waiter ? Kind::kEventWait : Kind::kHostEventWait;
      i.event = event_number(std::get<std::string>(wait.source));
      i.batch = wait.event_batch;
      i.module = module;
      if (wait.waiter) i.stream = resolve(*wait.waiter);
    }
    program_.instructions.push_back(i);
  }

  void record_event(const std::string& event, StreamIndex stream, std::int32_t batch, std::optional<ModuleId> module) {
    Instruction i;
    i.kind = Kind::kRecordEvent;
    i.stream = stream;
    i.event = event_number(event);
    i.batch = batch;
    i.module = module;
    program_.instructions.push_back(i);
  }

  void event_wait(const std::string& event, StreamIndex waiter, std::int32_t batch) {
    Instruction i;
    i.kind = Kind::kEventWait;
    i.event = event_number(event);
    i.batch = batch;
    i.stream = waiter;
    program_.instructions.push_back(i);
  }

  /// Of the plan's: an iteration may wait for an event of another one.
  static std::uint32_t number_in(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    const auto number = static_cast<std::uint32_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return number;
  }
  std::uint32_t event_number(const std::string& name) { return number_in(plan_->events, name); }

  void host_wait(StreamIndex stream) {
    Instruction i;
    i.kind = Kind::kHostWait;
    i.stream = stream;
    i.other = stream;
    program_.instructions.push_back(i);
  }

  void stream_wait(StreamIndex waiter, StreamIndex source) {
    if (waiter == source) return;
    Instruction i;
    i.kind = Kind::kStreamWait;
    i.stream = waiter;
    i.other = source;
    program_.instructions.push_back(i);
  }

  void collective_wait(StreamIndex waiter, const SegmentKey& producer, std::int32_t batch) {
    Instruction i;
    i.kind = Kind::kCollectiveWait;
    i.stream = waiter;
    i.segment = producer;
    i.batch = batch;
    program_.instructions.push_back(i);
  }

  void label(Stage stage, std::int32_t batch) {
    Instruction i;
    i.kind = Kind::kBeginStage;
    i.batch = batch;
    i.label = number_in(plan_->labels, std::string(schedule::to_string(stage)));
    program_.instructions.push_back(i);
  }

  void begin(const StageStep& step) {
    label(step.stage, step.batch);
    for (const schedule::StreamIndex source : step.after) stream_wait(resolve(step.stream), resolve(source));
  }

  void run_stage(const StageStep& step, std::optional<ModuleId> module) {
    begin(step);
    const StreamIndex stream = resolve(step.stream);
    switch (step.stage) {
      case Stage::kInputDistStart: run_input_dist_start(step, module); break;
      case Stage::kInputDistWait: run_input_dist_wait(step, module); break;
      case Stage::kInputDistFinish:
        for (const ModuleId m : chosen(module)) {
          collective_wait(stream, {Stage::kInputDistWait, Piece::kTensors, m}, step.batch);
          play({{{Stage::kInputDistFinish, Piece::kWhole, m}}}, step);
        }
        break;
      case Stage::kOutputDistWait:
        for (const ModuleId m : chosen(module)) {
          collective_wait(stream, {Stage::kOutputDistStart, Piece::kWhole, m}, step.batch);
          play({{{Stage::kOutputDistWait, Piece::kWhole, m}}}, step);
        }
        break;
      case Stage::kBackward: run_backward(step, module); break;
      case Stage::kAllToAll: run_all_to_all(step, module); return;
      case Stage::kValidateOutput:
        play({segments(step, module)}, step);
        if (step.mode == schedule::ValidateMode::kBlocking && !table_->drops_waits_for_validation) host_wait(stream);
        break;
      default: play({segments(step, module)}, step);
    }
    if (step.record) record_event(*step.record, stream, step.batch, module);
  }

  /// The permutation of each module, then the exchange of splits. A recording has either one exchange for all modules
  /// or one a module; the other form is made of it.
  void run_input_dist_start(const StageStep& step, std::optional<ModuleId> module) {
    std::vector<SegmentKey> permutations;
    for (const ModuleId m : chosen(module)) permutations.push_back({Stage::kInputDistStart, Piece::kPermute, m});
    play({permutations}, step);
    if (exchanges_no_splits(module)) return;
    const auto exchange = nearest(Piece::kExchange, Stage::kInputDistStart, module);
    if (!exchange && table_->lone_rank) return stream_wait(collectives(), resolve(step.stream));
    play_as({{Stage::kInputDistStart, Piece::kExchange, module}}, step, exchange);
  }

  void run_input_dist_wait(const StageStep& step, std::optional<ModuleId> module) {
    if (!exchanges_no_splits(module)) await_splits(step, module);
    for (const ModuleId m : chosen(module)) play({{{Stage::kInputDistWait, Piece::kTensors, m}}}, step);
  }

  void await_splits(const StageStep& step, std::optional<ModuleId> module) {
    collective_wait(resolve(step.stream), {Stage::kInputDistStart, Piece::kExchange, module}, step.batch);
    const auto splits = nearest(Piece::kSplits, Stage::kInputDistWait, module);
    if (!splits && table_->lone_rank) return host_wait(collectives());
    play_as({{Stage::kInputDistWait, Piece::kSplits, module}}, step, splits);
  }

  /// TorchRec exchanges the splits of all modules at once on a rank of its own, too, and the host, which reads them,
  /// waits for NCCL's stream. A loop that asks for those of each module, as base does, exchanges none there.
  [[nodiscard]] bool exchanges_no_splits(std::optional<ModuleId> module) const { return table_->lone_rank && module; }

  [[nodiscard]] StreamIndex collectives() const { return {plan_->first_collective_stream}; }

  /// The recorded segment that serves for one of another module (or of all modules): its own, else the first there is.
  [[nodiscard]] std::optional<SegmentKey> nearest(Piece piece, Stage stage, std::optional<ModuleId> module) const {
    if (calls_.contains({stage, piece, module})) return SegmentKey{stage, piece, module};
    if (calls_.contains({stage, piece, std::nullopt})) return SegmentKey{stage, piece, std::nullopt};
    for (const ModuleId m : modules_) {
      if (calls_.contains({stage, piece, m})) return SegmentKey{stage, piece, m};
    }
    return std::nullopt;
  }

  /// The event of an all-to-all stands behind the collective itself, wherever that runs.
  void run_all_to_all(const StageStep& step, std::optional<ModuleId> module) {
    const std::vector<SegmentKey> keys = segments(step, std::nullopt);
    const StreamIndex stream = resolve(step.stream);
    play({keys}, step);
    if (!step.async) collective_wait(stream, {Stage::kAllToAll, Piece::kWhole, {}}, step.batch);
    if (step.record) record_event(*step.record, collective_stream(keys).value_or(stream), step.batch, module);
  }

  /// The collectives' stream that these segments use last; none where they hold no collective.
  [[nodiscard]] std::optional<StreamIndex> collective_stream(const std::vector<SegmentKey>& keys) const {
    std::optional<StreamIndex> stream;
    for (const SegmentKey& key : keys) {
      for (const std::uint32_t i : calls_.at(key)) {
        const RecordedCall& call = iteration_->calls[i];
        for (std::uint32_t w = call.first_work; w < call.first_work + call.works; ++w) {
          const RecordedWork& work = iteration_->works[w];
          if (work.on_collective_stream) stream = {plan_->first_collective_stream + work.collective_stream};
        }
      }
    }
    return stream;
  }

  void run_backward(const StageStep& step, std::optional<ModuleId> module) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < iteration_->calls.size(); ++i) {
      const SegmentKey& key = iteration_->calls[i].segment;
      if (key.stage != Stage::kBackward) continue;
      if (!is_of_part(step, key)) continue;
      if (module && key.module != module) continue;
      order.push_back(i);
    }
    if (order.empty()) refuse(step, module);
    if (!step.part) as_one_backward(order);

    const StreamIndex home = resolve(step.stream);
    const std::map<ModuleId, std::uint32_t> last_of_gradients = last_gradient_calls(order);
    const auto ends_gradients = [&](std::uint32_t i, const SegmentKey& key) {
      const auto last = key.module ? last_of_gradients.find(*key.module) : last_of_gradients.end();
      return last != last_of_gradients.end() && last->second == i;
    };
    std::set<StreamIndex> updated;
    std::optional<SegmentKey> current;
    for (const std::uint32_t i : order) {
      const SegmentKey& key = iteration_->calls[i].segment;
      const StreamIndex tables =
          key.module ? lookup_stream(*key.module).value_or(home) : data_parallel_stream_.value_or(home);
      if (key.of_tables() && key.module) updated.insert(tables);
      if (key.piece == Piece::kUpdate && key != current) {
        if (key.module && last_of_gradients.contains(*key.module)) {
          if (tables != home) event_wait(gradients_of(*key.module), tables, step.batch);
        } else {
          stream_wait(tables, home);
        }
        if (key.module) collective_wait(tables, {Stage::kBackward, Piece::kGradDist, key.module}, step.batch);
      }
      current = key;
      call(i, key.of_tables() ? tables : home, key, step.batch);
      if (tables != home && ends_gradients(i, key)) record_event(gradients_of(*key.module), home, step.batch, {});
    }
    for (const StreamIndex tables : updated) stream_wait(home, tables);
    if (step.part == Part::kEmbedding) return;
    collective_wait(home, {Stage::kBackward, Piece::kDense, {}}, step.batch);
    const SegmentKey data_parallel{Stage::kBackward, Piece::kUpdate, {}};
    if (calls_.contains(data_parallel)) collective_wait(home, data_parallel, step.batch);
  }

  /// By module: the last call of its gradient exchange. Where autograd runs backward, the update of a module's tables
  /// waits for what its stream held by then, and not for what backward does meanwhile. None where it does wait.
  [[nodiscard]] std::map<ModuleId, std::uint32_t> last_gradient_calls(const std::vector<std::uint32_t>& order) const {
    std::map<ModuleId, std::uint32_t> last;
    if (cut_->frees == stages::Frees::kBehindLastUse) return last;
    for (const std::uint32_t i : order) {
      const SegmentKey& key = iteration_->calls[i].segment;
      if (key.piece == Piece::kGradDist && key.module) last.insert_or_assign(*key.module, i);
    }
    return last;
  }

  static std::string gradients_of(ModuleId module) { return fmt::format("gradients of module {}", module.value); }

  /// Autograd starts every gradient exchange as soon as its gradient is there and updates the tables after, modules in
  /// reverse order of their forward. A recording of a backward in two parts is put into that order.
  void as_one_backward(std::vector<std::uint32_t>& order) const {
    const auto piece = [&](std::uint32_t i) { return iteration_->calls[i].segment.piece; };
    const auto first_update = std::ranges::find(order, Piece::kUpdate, piece);
    const bool split = std::ranges::find(first_update, order.end(), Piece::kGradDist, piece) != order.end();
    if (!split) return;
    const auto rank = [&](std::uint32_t i) {
      const SegmentKey& key = iteration_->calls[i].segment;
      const int phase = key.of_dense_part() ? 0 : key.piece == Piece::kGradDist ? 1 : 2;
      const std::int64_t reverse = key.module ? -static_cast<std::int64_t>(key.module->value) : 0;
      return std::pair(phase, phase == 0 ? 0 : reverse);
    };
    std::ranges::stable_sort(order, {}, rank);
  }

  [[nodiscard]] std::optional<StreamIndex> lookup_stream(ModuleId module) const {
    const auto named = lookup_streams_.find(module);
    return named != lookup_streams_.end() ? std::optional(named->second) : lookup_stream_;
  }

  [[nodiscard]] std::vector<ModuleId> chosen(std::optional<ModuleId> module) const {
    if (module) return {*module};
    return {modules_.begin(), modules_.end()};
  }

  [[nodiscard]] std::vector<SegmentKey> segments(const StageStep& step, std::optional<ModuleId> module) const {
    std::vector<SegmentKey> keys;
    for (const auto& [key, calls] : calls_) {
      if (key.stage != step.stage || (module && key.module && key.module != module)) continue;
      const bool other = schedule::names_its_own(step.stage) && step.module && key.module &&
                         cut_->modules[key.module->index()] != *step.module;
      if (!other) keys.push_back(key);
    }
    return keys;
  }

  /// Plays recorded segments, all of them in the order in which they were recorded.
  void play(const std::vector<std::vector<SegmentKey>>& groups, const StageStep& step) {
    std::vector<std::uint32_t> order;
    for (const auto& keys : groups) {
      for (const SegmentKey& key : keys) {
        if (const auto found = calls_.find(key); found != calls_.end()) {
          order.insert(order.end(), found->second.begin(), found->second.end());
        }
      }
    }
    if (order.empty()) miss(step, std::nullopt);
    std::ranges::sort(order);
    put_given_work_in_place(order);
    Stage current = step.stage;
    for (const std::uint32_t i : order) {
      const SegmentKey& segment = iteration_->calls[i].segment;
      if (segment.stage != current) label(current = segment.stage, step.batch);
      call(i, resolve(step.stream), segment, step.batch);
    }
  }

  /// What an edit gives to a stage stands behind all that was recorded of the iteration: it belongs behind the stage.
  void put_given_work_in_place(std::vector<std::uint32_t>& order) const {
    const auto is_recorded = [this](std::uint32_t i) {
      const RecordedCall& call = iteration_->calls[i];
      return call.call || call.works == 0;
    };
    const auto first = std::stable_partition(order.begin(), order.end(), is_recorded);
    const std::vector<std::uint32_t> given(first, order.end());
    order.erase(first, order.end());
    for (const std::uint32_t i : given) {
      const Stage stage = iteration_->calls[i].segment.stage;
      const auto last = std::find_if(order.rbegin(), order.rend(), [&](std::uint32_t other) {
        return iteration_->calls[other].segment.stage == stage;
      });
      order.insert(last == order.rend() ? order.end() : last.base(), i);
    }
  }

  /// Plays the segment `recorded` in the place of `as`: its collectives are found under that name.
  void play_as(const std::vector<SegmentKey>& as, const StageStep& step, const std::optional<SegmentKey>& recorded) {
    if (!recorded) return miss(step, as.front().module);
    for (const std::uint32_t i : calls_.at(*recorded)) call(i, resolve(step.stream), as.front(), step.batch);
  }

  void call(std::uint32_t index, StreamIndex stream, const SegmentKey& segment, std::int32_t batch) {
    Instruction i;
    i.kind = Kind::kCall;
    i.stream = stream;
    i.call = index;
    i.segment = segment;
    i.batch = batch;
    program_.instructions.push_back(i);
  }

  /// What the recorded loop runs without putting anything on the device is nothing here either: a single rank has
  /// nothing to exchange.
  void miss(const StageStep& step, std::optional<ModuleId> module) const {
    if (stages::mostly_without_work(step.stage) || cut_->entered.contains(step.stage)) return;
    refuse(step, module);
  }

  [[noreturn]] void refuse(const StageStep& step, std::optional<ModuleId> module) const {
    throw Error(kStageNotRecorded, schedule_->name,
                fmt::format("stage \"{}\"{} is not in the recording", schedule::to_string(step.stage),
                            module ? fmt::format(" of module {}", module->value) : ""),
                "record a schedule that runs it, or give its duration in an edit (--edit)");
  }

  const Schedule* schedule_;
  const stages::Cut* cut_;
  const SiteTable* table_;
  Plan* plan_;
  const RecordedIteration* iteration_;
  std::map<SegmentKey, std::vector<std::uint32_t>> calls_;
  std::set<ModuleId> modules_;
  std::map<ModuleId, StreamIndex> lookup_streams_;  ///< of modules that the schedule looks up by name
  std::optional<StreamIndex> lookup_stream_;
  std::optional<StreamIndex> data_parallel_stream_;
  Program program_;
};

}  // namespace

namespace {

/// A loop computes the same without these.
bool can_be_left_out(Stage stage) {
  return stages::mostly_without_work(stage) || stage == Stage::kPrefetch || stage == Stage::kValidateOutput;
}

std::optional<std::string> called(std::optional<ModuleId> module, std::span<const std::string> modules) {
  if (!module || module->index() >= modules.size()) return std::nullopt;
  return modules[module->index()];
}

/// Whether a step plays a recorded segment.
bool plays(const StageStep& step, const SegmentKey& segment, std::span<const std::string> modules) {
  if (step.stage != segment.stage) return false;
  if (!is_of_part(step, segment)) return false;
  const auto module = called(segment.module, modules);
  return !step.module || !module || *step.module == *module;
}

}  // namespace

std::string LostStage::of_module() const { return module ? fmt::format(" of module \"{}\"", *module) : ""; }

std::string to_string(const LostStage& lost) { return std::string(schedule::to_string(lost.stage)) + lost.of_module(); }

std::optional<LostStage> lost_stage(const Schedule& schedule, const SiteTable& table) {
  std::vector<const StageStep*> steps;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    if (const auto* step = std::get_if<StageStep>(&placed.step->action)) steps.push_back(step);
  }
  for (const Site& site : table.sites) {
    const Stage stage = site.segment.stage;
    if (site.instances.empty() || can_be_left_out(stage)) continue;
    const auto plays_it = [&](const StageStep* step) { return plays(*step, site.segment, table.modules); };
    if (std::ranges::any_of(steps, plays_it)) continue;
    const bool of_others = std::ranges::any_of(steps, [&](const StageStep* step) { return step->stage == stage; });
    return LostStage{stage, of_others ? called(site.segment.module, table.modules) : std::nullopt};
  }
  return std::nullopt;
}

Plan compile(const Schedule& schedule, const stages::Cut& cut, const SiteTable& table) {
  const Schedule bound = stages::bound_to(cut, schedule);
  Plan plan;
  plan.schedule = schedule.name;
  plan.depth = schedule::depth(bound);
  // CUDA knows no priority below that of a usual stream, and takes the nearest that it knows.
  for (const schedule::Stream& stream : schedule.streams) {
    plan.streams.push_back({stream.name, std::min(stream.priority, 0)});
  }
  plan.first_collective_stream = static_cast<std::uint32_t>(plan.streams.size());
  for (const std::int32_t priority : table.collective_streams) {
    const std::size_t number = plan.streams.size() - plan.first_collective_stream;
    plan.streams.push_back({fmt::format("nccl {}", number), priority});
  }
  for (const auto& iterations : table.ranks) {
    auto& programs = plan.programs.emplace_back();
    for (const RecordedIteration& iteration : iterations) {
      programs.push_back(Compiler(bound, cut, table, plan, iteration).run());
    }
  }
  find_queues(table, plan);
  return plan;
}

}  // namespace interlace::replay
