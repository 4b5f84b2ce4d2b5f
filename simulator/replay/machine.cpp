#include "simulator/replay/machine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace interlace::replay {

namespace {

constexpr double kInstant = 1e-3;  // ns: far below what the recorder resolves

/// A kernel and a collective that become ready within this time (ns) race.
constexpr double kRace = 3'000;
/// A collective that lets pass does so for this time (ns): a short work and what stands behind it.
constexpr double kLongestPass = 2 * kRace;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Until a running work ends, or a cohort of its blocks, or, where that matters to others, its last blocks are
/// dispatched or leave SMs.
double until_change_ns(const contention::ActiveWork& work, bool matters) {
  if (work.rate <= 0) return kNever;
  double left = kNever;
  if (work.in_cohorts) {
    for (const auto& cohort : work.cohorts) left = std::min(left, cohort.remaining_ns);
  } else if (!matters) {
    left = work.remaining_ns;
  } else {
    left = work.dispatched() ? work.until_emptier_ns() : work.until_dispatched_ns();
  }
  return std::max(0.0, left) / work.rate;
}

/// By how much the one delays a kernel more than the other does.
Delays more_delays(const Delays& here, const std::optional<Delays>& usual) {
  constexpr double kOther = 0.5;  // one more or less: in between lie those that are there now and then
  if (!usual) return {};
  const auto more = [](double now, double then) { return std::abs(now - then) < kOther ? 0.0 : now - then; };
  return {more(here.waits, usual->waits), more(here.waiting_streams, usual->waiting_streams)};
}

bool kernel_is_first(const Work& collective, SiteId kernel, Meeting meeting, Delays more) {
  if (collective.races == nullptr || !collective.draw) return true;
  // Waits delay what a collective's end releases; behind a kernel they were seen not to matter.
  if (meeting == Meeting::kBehindKernel) more.waits = 0;
  if (collective.draw->as_recorded && collective.recorded && more.waits == 0 && more.waiting_streams == 0) {
    if (const auto seen = collective.races->kernel_was_first(*collective.recorded, kernel, meeting)) return *seen;
  }
  const double luck = meeting == Meeting::kBehindKernel ? collective.draw->own_luck : collective.draw->luck;
  return luck < collective.races->kernel_first(kernel, meeting, more);
}

}  // namespace

Machine::Machine(std::size_t ranks, const std::vector<SimulatedStream>& streams, std::int32_t sm_count,
                 const MachineOptions& options)
    : gpus_(ranks), sm_count_(sm_count), options_(options) {
  for (Gpu& gpu : gpus_) {
    gpu.streams.resize(streams.size());
    for (std::size_t s = 0; s < streams.size(); ++s) {
      gpu.streams[s].priority = streams[s].priority;
      gpu.streams[s].with_main = streams[s].with_main;
    }
  }
}

void Machine::reserve(std::size_t works) {
  works_.reserve(works);
  started_.reserve(works);
}

void Machine::add(Work&& work) {
  const bool moves_all = works_.size() == works_.capacity();
  works_.push_back(std::move(work));
  if (!moves_all) return;
  for (Gpu& gpu : gpus_) {
    std::ranges::transform(gpu.running, gpu.active.begin(), [&](WorkId id) { return &works_[id.index()].active; });
  }
}

WorkId Machine::launch(Work work) {
  const WorkId id{static_cast<std::uint32_t>(works_.size())};
  Gpu& gpu = gpus_[work.rank];
  Stream& stream = gpu.streams[work.stream.index()];
  work.done = {static_cast<std::uint32_t>(tokens_.size())};
  tokens_.emplace_back();
  work.active.priority = stream.priority;
  if (work.kind == WorkKind::kCollective) {
    stream.of_collectives = stream.of_collectives || work.issued_on != work.stream;
    const std::uint32_t number = gpu.issued[work.communicator]++;
    const auto [known, is_new] =
        group_of_.try_emplace({work.communicator, number}, static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.push_back({.parties = work.parties == 0 ? gpus_.size() : work.parties, .members = {}});
    work.group = known->second;
  }
  stream.queue.push_back({Entry::Kind::kWork, id.value});
  gpu.unsettled = true;
  add(std::move(work));
  return id;
}

TokenId Machine::record(std::uint32_t rank, StreamIndex stream) {
  const TokenId token{static_cast<std::uint32_t>(tokens_.size())};
  tokens_.emplace_back();
  Gpu& gpu = gpus_[rank];
  Stream& s = gpu.streams[stream.index()];
  if (s.queue.empty() && !s.running && resumes_at(s) <= now_ns_ + instant_ns()) {
    tokens_.back() = {now_ns_, options_.launch_latency_ns};
  } else {
    s.queue.push_back({Entry::Kind::kRecord, token.value});
    gpu.unsettled = true;
  }
  return token;
}

void Machine::wait(std::uint32_t rank, StreamIndex stream, TokenId token) {
  const Token& event = tokens_[token.index()];
  const bool was_over = event.done_ns && *event.done_ns + event.on_its_way_ns <= now_ns_;
  gpus_[rank].streams[stream.index()].queue.push_back({Entry::Kind::kWait, token.value, was_over});
  gpus_[rank].unsettled = true;
}

double Machine::resumes_at(const Stream& stream) const { return stream.waited_until_ns + options_.wait_latency_ns; }

double Machine::ready_at(const Stream& stream, const Work& head) const {
  const double fetch_ns = head.kind == WorkKind::kKernel && !head.in_graph ? stream.fetch_delay_ns : 0.0;
  return std::max({head.called_ns + options_.launch_latency_ns, stream.last_end_ns + head.dispatch_gap_ns + fetch_ns,
                   resumes_at(stream)});
}

bool Machine::is_fetched(const Stream& stream) const {
  const auto by_compute = [&](WorkId id) { return is_fetched_for_compute(works_[id.index()].kind); };
  if (stream.running) return by_compute(*stream.running);
  const auto work = std::ranges::find(stream.queue, Entry::Kind::kWork, &Entry::kind);
  return work != stream.queue.end() && by_compute(WorkId{work->id});
}

double Machine::fetch_delay_ns(const Gpu& gpu, const Stream& stream) const {
  double share = 0;
  for (const Stream& other : gpu.streams) {
    const double with_other = in_one_queue(stream.with_main, other.with_main);
    if (&other != &stream && with_other > share && is_fetched(other)) share = with_other;
  }
  if (share == 0) return 0;
  const bool copying = engine_runs(gpu, CopyEngine::kToDevice);
  return share * (copying ? options_.fetch_delays.beside_copies_ns : options_.fetch_delays.beside_work_ns);
}

Delays Machine::delays(const Work& work) const {
  if (work.start_ns) return work.delays;
  const std::vector<Stream>& streams = gpus_[work.rank].streams;
  const Stream& own = streams[work.stream.index()];
  const auto delays_others = [&](const Stream& stream) {
    if (&stream == &own || stream.of_collectives || stream.priority != own.priority) return false;
    if (stream.running || stream.queue.empty() || stream.queue.front().kind != Entry::Kind::kWait) return false;
    return !tokens_[stream.queue.front().id].done_ns;
  };
  return {static_cast<double>(own.waits), static_cast<double>(std::ranges::count_if(streams, delays_others))};
}

bool Machine::lets_pass(const Stream& stream, Work& collective, const Work& kernel) const {
  if (!collective.lets_pass) {
    const bool behind_kernel = resumes_at(stream) > stream.last_end_ns + collective.dispatch_gap_ns;
    const Meeting meeting = behind_kernel                           ? Meeting::kBehindKernel
                            : collective.issued_on == kernel.stream ? Meeting::kOnIssuingStream
                                                                    : Meeting::kOnAnotherStream;
    collective.lets_pass =
        kernel_is_first(collective, kernel.site, meeting, more_delays(delays(kernel), kernel.usual_delays));
  }
  return *collective.lets_pass;
}

bool Machine::collective_passes(const Gpu& gpu, const Work& kernel) {
  return std::ranges::any_of(gpu.streams, [&](const Stream& stream) {
    if (stream.running || stream.queue.empty() || stream.queue.front().kind != Entry::Kind::kWork) return false;
    Work& head = works_[stream.queue.front().id];
    if (head.kind != WorkKind::kCollective) return false;
    const double ready = ready_at(stream, head);
    const bool next = ready > now_ns_ + instant_ns() && ready < now_ns_ + kRace;
    const bool now =
        std::abs(ready - now_ns_) <= instant_ns() && contention::admits(gpu.active, head.active, sm_count_);
    return (next || now) && !lets_pass(stream, head, kernel);
  });
}

bool Machine::kernel_passes(const Gpu& gpu, Work& collective, double ready) {
  if (now_ns_ > ready + kLongestPass - instant_ns()) return false;
  const Stream& own = gpu.streams[collective.stream.index()];
  return std::ranges::any_of(gpu.streams, [&](const Stream& stream) {
    if (stream.queue.empty() || stream.queue.front().kind != Entry::Kind::kWork) return false;
    const Work& head = works_[stream.queue.front().id];
    if (head.kind == WorkKind::kCollective || head.kind == WorkKind::kHostCopy) return false;
    if (!stream.running) return std::abs(ready_at(stream, head) - now_ns_) < kRace && lets_pass(own, collective, head);
    const Work& running = works_[stream.running->index()];
    return *running.start_ns > ready - kRace && running.active.alone_ns < kRace &&
           head.called_ns + options_.launch_latency_ns < now_ns_ && lets_pass(own, collective, running);
  });
}

bool Machine::try_start(Gpu& gpu, Stream& stream, Work& work, WorkId id) {
  const double ready = ready_at(stream, work);
  if (now_ns_ < ready - instant_ns()) return false;
  gpu.held = true;  // unless it starts
  if (options_.contention) {
    if (work.kind == WorkKind::kCollective && kernel_passes(gpu, work, ready)) return false;
    if (work.kind == WorkKind::kKernel && collective_passes(gpu, work)) return false;
    if (work.engine != CopyEngine::kNone && engine_is_taken(gpu, work, ready)) return false;
  }
  work.ready_ns = std::max(ready, work.ready_ns.value_or(ready));
  if (options_.contention && !contention::admits(gpu.active, work.active, sm_count_)) {
    gpu.blocked = true;
    return false;
  }
  work.delays = delays(work);
  work.start_ns = now_ns_;
  work.active.remaining_ns = work.active.alone_ns;
  work.active.in_cohorts = options_.contention && work.active.kind == contention::ActiveWork::Kind::kKernel &&
                           contention::runs_in_cohorts(work.active.shape);
  if (work.active.in_cohorts) work.active.pending_blocks = work.active.shape.blocks;
  if (work.group) {
    if (options_.contention) {
      work.active.started_ns = now_ns_;
      gpu.placing = contention::settle_ctas(work.active, gpu.active, sm_count_, now_ns_) || gpu.placing;
    }
    collectives_.push_back(id);
    Group& group = groups_[*work.group];
    group.members.push_back(id);
    if (group.members.size() == group.parties) {
      group.complete = true;
      for (const WorkId member : group.members) {
        Work& of_rank = works_[member.index()];
        of_rank.arrival_ns = now_ns_;
        of_rank.active.moving = true;
        if (of_rank.rank != work.rank) gpus_[of_rank.rank].unsettled = true;
      }
    }
  }
  started_.push_back(id);
  stream.running = id;
  stream.queue.pop_front();
  stream.waited_until_ns = -1e18;
  stream.waits = 0;
  gpu.running.push_back(id);
  gpu.active.push_back(&work.active);
  return true;
}

bool Machine::step_stream(Gpu& gpu, Stream& stream) {
  bool changed = false;
  while (!stream.running && !stream.queue.empty()) {
    const Entry head = stream.queue.front();
    if (head.kind == Entry::Kind::kRecord) {
      if (resumes_at(stream) > now_ns_ + instant_ns()) break;
      tokens_[head.id].done_ns = now_ns_;
    } else if (head.kind == Entry::Kind::kWait) {
      const auto done = tokens_[head.id].done_ns;
      if (!done) break;
      stream.waited_until_ns = std::max(stream.waited_until_ns, *done);
      if (!head.was_over) ++stream.waits;
    } else {
      return try_start(gpu, stream, works_[head.id], WorkId{head.id}) || changed;
    }
    stream.queue.pop_front();
    changed = true;
  }
  return changed;
}

double Machine::instant_ns() const {
  // From 1100 s on a double tells apart no more than some of these.
  constexpr double kOfNow = 0x1p-50;
  return std::max(kInstant, kOfNow * now_ns_);
}

bool Machine::finished(const Work& work) const {
  if (work.group && !groups_[*work.group].complete) return false;
  if (work.active.in_cohorts) return work.active.pending_blocks == 0 && work.active.cohorts.empty();
  return work.active.remaining_ns <= instant_ns();
}

void Machine::finish(Gpu& gpu, WorkId id) {
  Work& work = works_[id.index()];
  work.end_ns = now_ns_;
  tokens_[work.done.index()].done_ns = now_ns_;
  Stream& stream = gpu.streams[work.stream.index()];
  stream.running.reset();
  stream.last_end_ns = now_ns_;
  stream.fetch_delay_ns = options_.contention ? fetch_delay_ns(gpu, stream) : 0.0;
  std::erase(gpu.running, id);
  std::erase(gpu.active, &work.active);
  if (work.group) std::erase(collectives_, id);
}

bool Machine::complete_finished(Gpu& gpu) {
  bool changed = false;
  for (std::size_t i = 0; i < gpu.running.size();) {
    const WorkId id = gpu.running[i];
    if (finished(works_[id.index()])) {
      finish(gpu, id);
      changed = true;
    } else {
      ++i;
    }
  }
  return changed;
}

bool Machine::dispatch(Gpu& gpu) {
  if (!options_.contention) return false;
  bool changed = false;
  gpu.placing = false;
  for (contention::ActiveWork* w : gpu.active) {
    if (w->kind != contention::ActiveWork::Kind::kCollective) continue;
    gpu.placing = contention::settle_ctas(*w, gpu.active, sm_count_, now_ns_) || gpu.placing;
  }
  for (contention::ActiveWork* w : gpu.active) {
    if (w->in_cohorts) changed = contention::dispatch_cohorts(*w, gpu.active, sm_count_) || changed;
  }
  return changed;
}

bool Machine::is_due(const Gpu& gpu) const {
  return gpu.unsettled || gpu.drifts || gpu.next_ns < now_ns_ + 2 * instant_ns();
}

void Machine::settle(Gpu& gpu) {
  bool changed = true;
  while (changed) {
    changed = dispatch(gpu);
    changed = complete_finished(gpu) || changed;
    gpu.blocked = false;
    gpu.held = false;
    for (Stream& stream : gpu.streams) {
      if (!stream.running && !stream.queue.empty()) changed = step_stream(gpu, stream) || changed;
    }
  }
}

void Machine::settle() {
  for (Gpu& gpu : gpus_) gpu.unsettled = is_due(gpu);
  if (std::ranges::none_of(gpus_, &Gpu::unsettled)) return;
  // The last rank of a collective lets those on other GPUs move.
  while (std::ranges::any_of(gpus_, &Gpu::unsettled)) {
    for (Gpu& gpu : gpus_) {
      if (!gpu.unsettled) continue;
      gpu.unsettled = false;
      gpu.stale = true;
      settle(gpu);
    }
  }
  set_rates();
  for (Gpu& gpu : gpus_) {
    if (!gpu.stale) continue;
    gpu.stale = false;
    gpu.drifts = gpu.held || (options_.contention && contention::drifts(gpu.active));
    gpu.next_ns = next_change(gpu);
  }
}

template <class Visit>
void Machine::for_each_collective(Visit visit) {
  for (const WorkId id : collectives_) {
    Work& work = works_[id.index()];
    visit(work, groups_[*work.group], gpus_[work.rank]);
  }
}

void Machine::set_rates() {
  for (Gpu& gpu : gpus_) {
    if (!gpu.stale) continue;
    if (options_.contention) {
      contention::share(gpu.active, sm_count_);
      slow_copies(gpu);
    } else {
      for (contention::ActiveWork* w : gpu.active) w->rate = 1.0;
    }
  }
  for_each_collective([](Work&, Group& group, const Gpu&) { group.rate = 1.0; });
  if (options_.contention) {
    for_each_collective([](Work& work, Group& group, const Gpu& gpu) {
      const bool crowded = std::ranges::any_of(
          gpu.active, [](const contention::ActiveWork* w) { return w->kind == contention::ActiveWork::Kind::kKernel; });
      const double resident = work.active.lacks_room ? work.active.resident_ctas / work.active.ctas : 1.0;
      const double pace = contention::pace_beside_kernels(work.active, gpu.active);
      group.rate = std::min({group.rate, resident, pace, crowded ? work.crowded_rate : 1.0});
    });
    share_host_path();
  }
  for_each_collective([](Work& work, Group& group, Gpu& gpu) {
    const double rate = group.complete ? group.rate : 0.0;
    if (work.active.rate == rate) return;
    work.active.rate = rate;
    gpu.stale = true;
  });
}

bool Machine::engine_runs(const Gpu& gpu, CopyEngine engine) const {
  return std::ranges::any_of(gpu.running, [&](WorkId id) { return works_[id.index()].engine == engine; });
}

bool Machine::engine_is_taken(const Gpu& gpu, const Work& copy, double ready) {
  if (engine_runs(gpu, copy.engine)) return true;
  return std::ranges::any_of(gpu.streams, [&](const Stream& stream) {
    if (stream.running || stream.queue.empty() || stream.queue.front().kind != Entry::Kind::kWork) return false;
    const Work& head = works_[stream.queue.front().id];
    return head.engine == copy.engine && ready_at(stream, head) < ready - instant_ns();
  });
}

double Machine::pace_of_copies(const Gpu& gpu) const {
  constexpr double kBesideOtherDirection = 0.92;  // 512 MiB each way, one H200 (docs/benchmarks/placement, 13)
  const bool both = engine_runs(gpu, CopyEngine::kToDevice) && engine_runs(gpu, CopyEngine::kToHost);
  return both ? kBesideOtherDirection : 1.0;
}

void Machine::slow_copies(const Gpu& gpu) {
  const double pace = pace_of_copies(gpu);
  if (pace == 1.0) return;
  for (const WorkId id : gpu.running) {
    if (works_[id.index()].engine != CopyEngine::kNone) works_[id.index()].active.rate = pace;
  }
}

void Machine::share_host_path() {
  if (!options_.collectives_cross_host) return;
  const auto any_on = [&](const Gpu& gpu, auto is) {
    return std::ranges::any_of(gpu.running, [&](WorkId id) { return is(works_[id.index()]); });
  };
  const auto is_copy = [](const Work& work) { return work.kind == WorkKind::kHostCopy; };
  const auto moves_data = [&](const Work& work) { return work.group && groups_[*work.group].complete; };
  // An exchange goes at the pace of its slowest rank: copies of one rank cost it as much as those of all.
  const bool copying = std::ranges::any_of(gpus_, [&](const Gpu& gpu) { return any_on(gpu, is_copy); });
  const double lost = copying ? options_.lost_to_host_copies : 0.0;
  for (Gpu& gpu : gpus_) {
    const bool exchanging = any_on(gpu, moves_data);
    for (const WorkId id : gpu.running) {
      Work& work = works_[id.index()];
      if (work.group)
        groups_[*work.group].rate = std::min(groups_[*work.group].rate, 1.0 - lost * work.active.lost_part);
      if (is_copy(work) && exchanging) {
        work.active.rate = options_.host_copy_rate * pace_of_copies(gpu);
      }
    }
  }
}

double Machine::next_change(const Gpu& gpu) const {
  double next = gpu.placing ? now_ns_ + contention::kClusterLaunchNs : kNever;
  const bool matters = gpu.blocked || (options_.contention && contention::last_blocks_matter(gpu.active));
  for (const contention::ActiveWork* w : gpu.active) next = std::min(next, now_ns_ + until_change_ns(*w, matters));
  for (const Stream& stream : gpu.streams) {
    if (stream.running || stream.queue.empty()) continue;
    const Entry& entry = stream.queue.front();
    if (entry.kind == Entry::Kind::kRecord && resumes_at(stream) > now_ns_ + instant_ns()) {
      next = std::min(next, resumes_at(stream));
    }
    if (entry.kind != Entry::Kind::kWork) continue;
    const Work& head = works_[entry.id];
    const double ready = ready_at(stream, head);
    const double passed = ready + (head.kind == WorkKind::kCollective ? kLongestPass : 0.0);
    if (const double then = ready > now_ns_ + instant_ns() ? ready : passed; then > now_ns_ + instant_ns()) {
      next = std::min(next, then);
    }
  }
  return next;
}

std::optional<double> Machine::next_change() const {
  double next = kNever;
  for (const Gpu& gpu : gpus_) next = std::min(next, gpu.next_ns);
  // Always later than now by what a double still tells apart: a change that is due at once was made by settle().
  return next == kNever ? std::nullopt : std::optional(std::max(next, now_ns_ + instant_ns()));
}

void Machine::advance(double to_ns) {
  assert(to_ns >= now_ns_);
  const double dt = to_ns - now_ns_;
  for (Gpu& gpu : gpus_) {
    for (contention::ActiveWork* w : gpu.active) {
      if (!w->in_cohorts) w->remaining_ns -= dt * w->rate;
      for (auto& cohort : w->cohorts) cohort.remaining_ns -= dt * w->rate;
    }
  }
  now_ns_ = to_ns;
}

}  // namespace interlace::replay
