#include "simulator/replay/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "simulator/des/draws.hpp"
#include "simulator/des/event_queue.hpp"
#include "simulator/replay/left_out.hpp"

namespace interlace::replay {

namespace {

using Kind = Instruction::Kind;

/// From the end of what the host waited for until it runs on.
constexpr double kSyncReturnNs = 4'000;

/// Spread of single host times and of the pace of whole iterations (standard deviations of their logarithms), from host
/// gaps of equal calls over the iterations of n5 and n6.
constexpr double kGapSpread = 0.25;
constexpr double kPaceSpread = 0.05;

contention::ActiveWork active_of(const Site& site, std::uint32_t rank) {
  contention::ActiveWork active;
  active.alone_ns = site.alone_ns;
  active.shape = site.shape;
  active.sensitivity = site.sensitivity;
  switch (site.kind) {
    case WorkKind::kKernel:
      active.kind = contention::ActiveWork::Kind::kKernel;
      active.lost_beside = site.lost_beside;
      break;
    case WorkKind::kCollective:
      active.kind = contention::ActiveWork::Kind::kCollective;
      active.ctas = site.ctas;
      active.lost = site.lost;
      active.lost_part = site.lost_part;
      if (rank < site.transfer_ns.size()) active.alone_ns = site.transfer_ns[rank];
      break;
    case WorkKind::kDeviceCopy:
      active.kind = contention::ActiveWork::Kind::kCopy;
      active.on_device = true;
      break;
    default: active.kind = contention::ActiveWork::Kind::kCopy;
  }
  return active;
}

class Simulation {
 public:
  Simulation(const Plan& plan, const SiteTable& table, const SimulationOptions& options)
      : plan_(&plan),
        table_(&table),
        options_(options),
        machine_(plan.programs.size(), plan.streams, sm_count(table), options.machine),
        hosts_(plan.programs.size()),
        draws_(options.seed),
        host_scale_(options.host_scale.value_or(table.host_scale)) {
    for (const Site& site : table.sites) {
      const bool in_cohorts = site.kind == WorkKind::kKernel && contention::runs_in_cohorts(site.shape);
      block_parts_.push_back(
          in_cohorts && site.alone_ns > 0 ? contention::block_time(site.shape, site.alone_ns) / site.alone_ns : 0.0);
    }
    std::vector<std::uint32_t> recorded;
    for (std::uint32_t i = 0; i < plan.programs.front().size(); ++i) {
      if (!table.left_out.contains(i)) recorded.push_back(i);
    }
    if (recorded.empty()) {
      throw Error(kCollectivesDiffer, plan.schedule, table.difference.value_or("no iteration is whole"),
                  "record again, with larger profiler buffers or fewer steps: ranks would wait for each other for "
                  "ever; what two "
                  "ranks of a larger group send each other, as between stages of a pipeline, cannot be replayed");
    }
    // Each block of iterations is a shuffle of the recorded ones: the mean over a block is that of the recording.
    while (order_.size() < static_cast<std::size_t>(plan.depth) + static_cast<std::size_t>(options.iterations)) {
      std::vector<std::uint32_t> block = recorded;
      for (std::size_t i = block.size(); i > 1; --i)
        std::swap(block[i - 1], block[draws_.below(i, For::kOrder, order_.size(), i)]);
      order_.insert(order_.end(), block.begin(), block.end());
    }
    std::size_t works = 0;
    for (std::uint32_t r = 0; r < hosts_.size(); ++r) {
      hosts_[r].iteration = -plan.depth;
      look_up_disturbance(r);
      for (const std::uint32_t iteration : order_) works += table.ranks[r][iteration].works.size();
    }
    machine_.reserve(works);
  }

  SimulationResult run() {
    for (std::uint32_t r = 0; r < hosts_.size(); ++r) queue_.schedule(0, 0, r);
    for (auto device = machine_.next_change(); device || !queue_.empty(); device = machine_.next_change()) {
      if (!queue_.empty() && (!device || static_cast<double>(queue_.next_time()) <= *device)) {
        const auto at = static_cast<double>(queue_.next_time());
        machine_.advance(at);
        while (!queue_.empty() && static_cast<double>(queue_.next_time()) <= at) run_host(queue_.pop(), at);
      } else {
        machine_.advance(*device);
        now_ns_ = *device;
      }
      machine_.settle();
      wake_hosts();
    }
    return finish();
  }

 private:
  /// What a number is drawn for.
  enum class For : std::uint8_t { kOrder, kPace, kGap, kCall, kTail, kWork, kAllRanks, kAsRecorded, kLuck, kOwnLuck };

  struct Event {
    TokenId token;
    StreamIndex source;
    std::int32_t iteration = 0;       ///< that recorded it
    double recorded_ns = 0;           ///< unless behind a call:
    std::optional<std::size_t> call;  ///< recorded when this one returned
  };

  struct Host {
    std::int32_t iteration = 0;
    std::size_t next = 0;
    UndisturbedHost undisturbed;
    double pace = 1.0;               ///< of this iteration, relative to the usual
    bool thought = false;            ///< the gap before the next call, or the iteration's end, has passed
    std::vector<TokenId> waits_for;  ///< all of them; none where it runs
    std::optional<std::size_t> open_range;
    std::uint32_t label = 0;
    std::size_t last_call = 0;
    std::optional<std::size_t> last_wait;  ///< of the result, where the host waits in none of its calls
    std::map<std::tuple<stages::SegmentKey, std::int32_t>, std::vector<Event>> collectives;  ///< by segment and batch
    std::map<std::tuple<std::uint32_t, std::int32_t, std::optional<stages::ModuleId>>, Event> events;
    std::map<trace::OperationId, TokenId> marks;  ///< of this iteration: what was queued behind these calls
  };

  static std::int32_t sm_count(const SiteTable& table) {
    std::int32_t most = 1;
    for (const Site& site : table.sites) most = std::max(most, site.shape.sm_count);
    return most;
  }

  /// So many are simulated.
  [[nodiscard]] std::int32_t iterations() const {
    return std::min(options_.iterations, options_.batches.value_or(options_.iterations));
  }

  /// The recorded iteration that is replayed as this one.
  [[nodiscard]] std::uint32_t recorded_as(std::int32_t iteration) const {
    return order_[static_cast<std::size_t>(plan_->depth) + static_cast<std::size_t>(iteration)];
  }

  /// Whether the run has the batch that the instruction's stage works on: where it fills the pipeline, and as it
  /// drains, stages have none.
  [[nodiscard]] bool has_batch(const Instruction& instruction, std::int32_t iteration) const {
    const std::int32_t batch = iteration + instruction.batch;
    return !instruction.of_stage || (batch >= 0 && (!options_.batches || batch < *options_.batches));
  }

  /// Lets a host run until it has to think, to call, or to wait.
  void run_host(std::uint32_t rank, double now) {
    now_ns_ = now;
    Host& host = hosts_[rank];
    while (host.iteration < iterations()) {
      const std::uint32_t recorded = recorded_as(host.iteration);
      const Program& program = plan_->programs[rank][recorded];
      if (host.next == program.instructions.size()) {
        if (!host.thought && think_at_end(rank, table_->ranks[rank][recorded], now)) return;
        host.thought = false;
        host.next = 0;
        host.marks.clear();
        ++host.iteration;
        look_up_disturbance(rank);
        if (options_.jitter) host.pace = around_one(kPaceSpread, For::kPace, rank, host.iteration);
        continue;
      }
      const Instruction& instruction = program.instructions[host.next];
      if (!has_batch(instruction, host.iteration)) {
        ++host.next;
        continue;
      }
      if (instruction.kind == Kind::kCall) {
        const RecordedCall& call = table_->ranks[rank][recorded].calls[instruction.call];
        if (!host.thought) {
          host.thought = true;
          const std::int32_t batch = host.iteration + instruction.batch;
          schedule(rank, now + host_time(rank, call.segment, call.gap, For::kGap, batch, instruction.call,
                                         module_number(instruction)));
          return;
        }
        host.thought = false;
        ++host.next;
        if (make_call(rank, recorded, instruction, call, now)) return;
        continue;
      }
      ++host.next;
      if (carry_out(rank, instruction, now)) return;
    }
    close_range(host, now);
  }

  /// The host time behind the last call of an iteration; false where there is none.
  bool think_at_end(std::uint32_t rank, const RecordedIteration& recorded, double now) {
    if (recorded.tail == 0 || recorded.calls.empty()) return false;
    Host& host = hosts_[rank];
    host.thought = true;
    const stages::SegmentKey& segment = recorded.calls.back().segment;
    schedule(rank, now + host_time(rank, segment, recorded.tail, For::kTail, host.iteration));
    return true;
  }

  /// Of the iteration that the rank is about to replay.
  void look_up_disturbance(std::uint32_t rank) {
    Host& host = hosts_[rank];
    if (options_.as_recorded || host.iteration >= iterations()) return;
    host.undisturbed = table_->undisturbed[rank][recorded_as(host.iteration)];
  }

  /// Recorded host time without the profiler, as it may turn out this time. The pipeline is filled at once: a host that
  /// took its time would let the device work ahead by what a long run does not keep up.
  template <des::KeyPart... Key>
  double host_time(std::uint32_t rank, const stages::SegmentKey& segment, Nanoseconds recorded, For what,
                   Key... key) const {
    const Host& host = hosts_[rank];
    if (host.iteration < 0) return 0;
    const double usual = host_scale_ * host.undisturbed.part(segment) * static_cast<double>(recorded);
    return options_.jitter ? usual * host.pace * around_one(kGapSpread, what, rank, key...) : usual;
  }

  /// A factor of mean 1 whose logarithm has this standard deviation.
  template <des::KeyPart... Key>
  [[nodiscard]] double around_one(double spread, For what, Key... key) const {
    return std::exp(spread * draws_.normal(what, key...) - spread * spread / 2.0);
  }

  void schedule(std::uint32_t rank, double at) { queue_.schedule(static_cast<Nanoseconds>(at), 0, rank); }

  /// Returns true where the host went to sleep.
  bool make_call(std::uint32_t rank, std::uint32_t recorded, const Instruction& instruction, const RecordedCall& call,
                 double now) {
    Host& host = hosts_[rank];
    const double end =
        std::floor(now + host_time(rank, call.segment, call.duration, For::kCall, host.iteration + instruction.batch,
                                   instruction.call, module_number(instruction)));  // hosts run by whole nanoseconds
    std::vector<TokenId> blocks;
    for (std::uint32_t w = 0; w < call.works; ++w) {
      const RecordedWork& work = table_->ranks[rank][recorded].works[call.first_work + w];
      const Site& site = table_->sites[work.site.index()];
      const WorkId id = launch(rank, instruction, work, site, now);
      if (site.blocks_host && work.blocks_host) blocks = {machine_.works()[id.index()].done};
    }
    if (call.synchronises) {
      const auto mark = call.behind ? host.marks.find(*call.behind) : host.marks.end();
      if (call.whole_device) {
        for (std::uint32_t s = 0; s < plan_->streams.size(); ++s) blocks.push_back(machine_.record(rank, {s}));
      } else {
        blocks = {mark != host.marks.end() ? mark->second : machine_.record(rank, instruction.stream)};
      }
    }
    if (call.marks) host.marks.insert_or_assign(*call.call, machine_.record(rank, instruction.stream));
    host.last_call = result_.calls.size();
    result_.calls.push_back({.recorded = call.call,
                             .rank = rank,
                             .iteration = host.iteration,
                             .start_ns = now,
                             .end_ns = end,
                             .segment = instruction.segment,
                             .batch = host.iteration + instruction.batch,
                             .stream = instruction.stream,
                             .range = host.open_range});
    if (blocks.empty()) {
      schedule(rank, end);
    } else {
      hosts_[rank].waits_for = std::move(blocks);
    }
    return true;
  }

  WorkId launch(std::uint32_t rank, const Instruction& instruction, const RecordedWork& recorded, const Site& site,
                double now) {
    Host& host = hosts_[rank];
    Work work;
    work.recorded = recorded.work;
    work.site = recorded.site;
    work.kind = site.kind;
    work.rank = rank;
    work.stream = instruction.stream;
    work.iteration = host.iteration;
    work.batch = host.iteration + instruction.batch;
    work.label = host.label;
    work.called_ns = now;
    work.call = result_.calls.size();
    work.dispatch_gap_ns = site.dispatch_gap_ns;
    work.engine = site.engine;
    work.in_graph = site.in_graph;
    work.active = active_of(site, rank);
    work.crowded_rate = site.crowded_rate;
    work.usual_delays = site.delays;
    work.active.alone_ns *= recorded.part;
    const Instance instance{recorded.site.value, work.batch, module_number(instruction)};
    if (options_.jitter) work.active.alone_ns *= around_usual(site, instance, rank);
    if (const double part = block_parts_[recorded.site.index()]; part > 0) {
      work.active.block_ns = part * work.active.alone_ns;
    }
    if (site.kind == WorkKind::kCollective) {
      work.communicator = site.communicator;
      if (site.communicator != Communicators::kAll) {
        work.parties = static_cast<std::uint32_t>(table_->communicators[site.communicator].size());
      }
      work.issued_on = instruction.stream;
      work.races = &site.races;
      work.draw = race_draw(instance, rank);
    }
    if (recorded.on_collective_stream) {
      work.stream = {plan_->first_collective_stream + recorded.collective_stream};
      // The collective's stream waits for all that the issuing stream holds so far.
      make_wait(rank, work.stream, record(rank, instruction.stream, now), now);
    }
    const StreamIndex stream = work.stream;
    const WorkId id = machine_.launch(std::move(work));
    if (recorded.on_collective_stream || site.kind == WorkKind::kCollective) {
      host.collectives[{instruction.segment, host.iteration + instruction.batch}].push_back(
          {machine_.works()[id.index()].done, stream, host.iteration, now, result_.calls.size()});
    }
    return id;
  }

  /// Which work of a job it is, whatever schedule runs it.
  struct Instance {
    std::uint32_t site = 0;
    std::int32_t batch = 0;
    std::uint32_t module = 0;  ///< what was recorded once may be played for each; 0: none
  };
  static std::uint32_t module_number(const Instruction& instruction) {
    const auto& module = instruction.segment.module;
    return module ? static_cast<std::uint32_t>(module->index()) + 1 : 0;
  }

  /// The time that a work takes, by its usual one.
  [[nodiscard]] double around_usual(const Site& site, const Instance& i, std::uint32_t rank) const {
    double factor = 1.0 + site.spread * draws_.normal(For::kWork, i.site, i.batch, i.module, rank);
    if (site.common_spread > 0) factor += site.common_spread * draws_.normal(For::kAllRanks, i.site, i.batch, i.module);
    return std::max(0.5, factor);
  }

  /// Few recorded steps show few of the ways in which races can end: they count beside kUsualSteps that are drawn.
  [[nodiscard]] std::optional<RaceDraw> race_draw(const Instance& i, std::uint32_t rank) const {
    constexpr double kUsualSteps = 4.0;
    if (!options_.jitter) return std::nullopt;
    const auto recorded = static_cast<double>(plan_->programs.front().size() - table_->left_out.size());
    const double as_recorded = draws_.uniform(For::kAsRecorded, i.site, i.batch);
    return RaceDraw{.as_recorded = as_recorded < recorded / (recorded + kUsualSteps),
                    .luck = draws_.uniform(For::kLuck, i.site, i.batch),
                    .own_luck = draws_.uniform(For::kOwnLuck, i.site, i.batch, i.module, rank)};
  }

  Event record(std::uint32_t rank, StreamIndex stream, double now) {
    return {machine_.record(rank, stream), stream, hosts_[rank].iteration, now, std::nullopt};
  }

  void note_wait(std::uint32_t rank, std::optional<StreamIndex> waiter, const Event& event, double now) {
    const double recorded = event.call ? result_.calls[*event.call].end_ns : event.recorded_ns;
    const Host& host = hosts_[rank];
    result_.waits.push_back(
        {rank, event.iteration, host.iteration, event.source, recorded, waiter, now, now, host.open_range});
  }

  void make_wait(std::uint32_t rank, StreamIndex waiter, const Event& event, double now) {
    machine_.wait(rank, waiter, event.token);
    note_wait(rank, waiter, event, now);
  }

  void make_host_wait(std::uint32_t rank, const Event& event, double now) {
    hosts_[rank].last_wait = result_.waits.size();
    note_wait(rank, std::nullopt, event, now);
    hosts_[rank].waits_for = {event.token};
  }

  bool carry_out(std::uint32_t rank, const Instruction& i, double now) {
    Host& host = hosts_[rank];
    const std::int32_t batch = host.iteration + i.batch;
    switch (i.kind) {
      case Kind::kStreamWait: make_wait(rank, i.stream, record(rank, i.other, now), now); return false;
      case Kind::kCollectiveWait: wait_for_collectives(rank, i, batch, now); return false;
      case Kind::kHostWait: make_host_wait(rank, record(rank, i.stream, now), now); return true;
      case Kind::kRecordEvent: keep_event(host, i, batch, record(rank, i.stream, now)); return false;
      case Kind::kEventWait:
        if (const Event* event = event_for(host, i, batch)) make_wait(rank, i.stream, *event, now);
        return false;
      case Kind::kHostEventWait: {
        const Event* event = event_for(host, i, batch);
        if (event != nullptr) make_host_wait(rank, *event, now);
        return event != nullptr;
      }
      case Kind::kBeginStage:
        close_range(host, now);
        host.label = i.label;
        host.open_range = result_.ranges.size();
        result_.ranges.push_back({rank, i.label, host.iteration, batch, now, now});
        return false;
      case Kind::kCall: break;
    }
    return false;
  }

  /// For a wait inside a loop over modules: that of its module; behind the loop: that of the last.
  static void keep_event(Host& host, const Instruction& i, std::int32_t batch, const Event& event) {
    if (i.module) host.events.insert_or_assign({i.event, batch, i.module}, event);
    host.events.insert_or_assign({i.event, batch, std::nullopt}, event);
  }

  /// Null where it was never recorded: the wait is over at once.
  static const Event* event_for(const Host& host, const Instruction& i, std::int32_t batch) {
    auto found = host.events.find({i.event, batch, i.module});
    if (found == host.events.end()) found = host.events.find({i.event, batch, std::nullopt});
    return found == host.events.end() ? nullptr : &found->second;
  }

  /// Waits for the collectives that the segment issued for this batch; where it was issued for all modules at once, or
  /// for each one, whichever there is.
  void wait_for_collectives(std::uint32_t rank, const Instruction& i, std::int32_t batch, double now) {
    Host& host = hosts_[rank];
    for (const auto& [key, events] : host.collectives) {
      const auto& [segment, of_batch] = key;
      const bool same_module = !i.segment.module || !segment.module || segment.module == i.segment.module;
      if (of_batch != batch || segment.stage != i.segment.stage || segment.piece != i.segment.piece || !same_module)
        continue;
      for (const Event& event : events) {
        // A collective on the waiter's own stream is over before what the stream is given next.
        if (event.source != i.stream) make_wait(rank, i.stream, event, now);
      }
    }
    std::erase_if(host.collectives, [&](const auto& entry) { return std::get<1>(entry.first) < host.iteration - 2; });
  }

  void wake_hosts() {
    for (std::uint32_t r = 0; r < hosts_.size(); ++r) {
      Host& host = hosts_[r];
      if (host.waits_for.empty()) continue;
      double last = now_ns_;
      const bool all_done = std::ranges::all_of(host.waits_for, [&](TokenId token) {
        const auto done = machine_.done_at(token);
        last = std::max(last, done.value_or(last));
        return done.has_value();
      });
      if (!all_done) continue;
      host.waits_for.clear();
      const double resume = std::floor(last + kSyncReturnNs);
      if (host.last_wait) {
        result_.waits[*host.last_wait].resumed_ns = resume;
        host.last_wait.reset();
      } else {
        result_.calls[host.last_call].end_ns = resume;
      }
      schedule(r, resume);
    }
  }

  void close_range(Host& host, double now) {
    if (host.open_range) result_.ranges[*host.open_range].end_ns = now;
    host.open_range.reset();
  }

  /// A host that cannot go on, or work that cannot end, waits for what no rank does.
  void require_end() const {
    for (std::uint32_t r = 0; r < hosts_.size(); ++r) {
      if (hosts_[r].iteration < iterations()) refuse(r, hosts_[r].iteration, plan_->labels[hosts_[r].label]);
    }
    for (const Work& work : machine_.works()) {
      if (!work.end_ns) refuse(work.rank, work.iteration, table_->sites[work.site.index()].name);
    }
  }

  [[noreturn]] void refuse(std::uint32_t rank, std::int32_t iteration, const std::string& what) const {
    throw Error(
        kStuck, plan_->schedule,
        fmt::format("rank {} does not get past {} of iteration {}", table_->rank_numbers[rank], what, iteration),
        "see what `interlace check` says of the recording and of the schedule: somebody waits for what never comes");
  }

  SimulationResult finish() {
    require_end();
    result_.works = std::move(machine_).take_works();
    result_.in_order_of_start = std::move(machine_).take_started();
    find_iteration_ends();
    for (const std::vector<double>& ends : result_.iteration_ends) {
      for (auto i = static_cast<std::size_t>(options_.warm_up); i + 1 < ends.size(); ++i) {
        result_.steps_ns.push_back(ends[i] - ends[i - 1]);
      }
    }
    return std::move(result_);
  }

  /// When the optimizer's last work ended; of a rank whose optimizer has none in some iteration: the last work at all.
  void find_iteration_ends() {
    using Ends = std::vector<std::optional<double>>;  // by iteration
    const auto optimizer = std::ranges::find(plan_->labels, schedule::to_string(schedule::Stage::kOptimizerStep));
    const auto label = static_cast<std::uint32_t>(optimizer - plan_->labels.begin());
    const Ends none(static_cast<std::size_t>(iterations()));
    std::vector<Ends> of_optimizer(hosts_.size(), none);
    std::vector<Ends> of_all(hosts_.size(), none);
    for (const Work& work : result_.works) {
      if (work.iteration < 0) continue;
      const auto add = [&work](std::vector<Ends>& ends) {
        auto& end = ends[work.rank][static_cast<std::size_t>(work.iteration)];
        end = std::max(end, work.end_ns);
      };
      add(of_all);
      if (work.label == label) add(of_optimizer);
    }
    const auto is_known = [](const std::optional<double>& end) { return end.has_value(); };
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      const Ends& ends = std::ranges::all_of(of_optimizer[rank], is_known) ? of_optimizer[rank] : of_all[rank];
      if (!std::ranges::all_of(ends, is_known)) {
        throw Error(kNothingToTime, plan_->schedule,
                    fmt::format("rank {} has no device work in some iteration: no step can be told",
                                table_->rank_numbers[rank]),
                    "see what the recording lost; record whole steps");
      }
      std::vector<double>& told = result_.iteration_ends.emplace_back();
      for (const auto& end : ends) told.push_back(told.empty() ? *end : std::max(told.back(), *end));
    }
  }

  const Plan* plan_;
  const SiteTable* table_;
  SimulationOptions options_;
  Machine machine_;
  std::vector<Host> hosts_;
  des::Draws draws_;
  double host_scale_;
  std::vector<double> block_parts_;  ///< by site: time of the mean block, as a part of the kernel's; 0: not in cohorts
  std::vector<std::uint32_t> order_;
  des::EventQueue<std::uint32_t> queue_;
  SimulationResult result_;
  double now_ns_ = 0;
};

}  // namespace

SimulationOptions on_recorded_machine(SimulationOptions options, const SiteTable& table) {
  options.host_scale = options.host_scale.value_or(options.as_recorded ? 1.0 : table.host_scale);
  options.machine.launch_latency_ns = table.launch_latency_ns;
  options.machine.wait_latency_ns = table.wait_latency_ns;
  options.machine.fetch_delays = table.fetch_delays;
  options.machine.collectives_cross_host = table.collectives_cross_host;
  options.machine.host_copy_rate = table.host_copy_rate;
  options.machine.lost_to_host_copies = table.lost_to_host_copies;
  return options;
}

SimulationResult simulate(const Plan& plan, const SiteTable& table, const SimulationOptions& options) {
  return Simulation(plan, table, options).run();
}

}  // namespace interlace::replay
