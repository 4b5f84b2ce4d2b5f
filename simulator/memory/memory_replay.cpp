#include "simulator/memory/memory_replay.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "simulator/allocator/caching_allocator.hpp"

namespace interlace::memory {

namespace {

using stages::SegmentKey;

/// A part of what is not known is no limit.
allocator::Configuration settings_of(const RecordedMemory& memory, const MemoryReplayOptions& options) {
  allocator::Configuration settings = memory.settings;
  if (!options.capacity) settings.per_process_memory_fraction = 1;
  return settings;
}

class MemoryReplay {
 public:
  MemoryReplay(const RecordedMemory& memory, const Lifetimes& lifetimes, const StreamDrains& drains,
               const MemoryReplayOptions& options)
      : memory_(&memory),
        lifetimes_(&lifetimes),
        drains_(&drains),
        options_(options),
        allocator_(settings_of(memory, options),
                   allocator::DriverMemory({.total = options.capacity, .held_by_others = 0})) {
    allocator_.observe([this](const allocator::TraceEntry& entry) { entries_.push_back(entry); });
  }

  MemoryCourse run(std::span<const PlayedCall> calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const PlayedCall& call = calls[i];
      ++instances_[{call.segment, call.batch}].calls;
      segments_.insert(call.segment);
      if (call.run) last_calls_[{*call.run, call.batch}] = i;
    }
    find_followers(calls);
    if (!calls.empty()) now_ = calls.front().start;
    for (const Bytes bytes : memory_->persistent) make_persistent(bytes, options_.main_stream);
    make_first_bucket();
    start_.second_forward = second_forward(calls);
    find_first_multiplications(calls);
    entries_.clear();
    std::optional<std::int32_t> iteration;
    for (const PlayedCall& call : calls) {
      while (iteration && *iteration < call.iteration) end_iteration((*iteration)++);
      if (!iteration) iteration = call.iteration;
      iteration_ = call.iteration;
      start(call);
      play(call);
      const auto behind = behind_call_.find(present_++);
      if (behind == behind_call_.end()) continue;
      for (const std::uint32_t block : behind->second) drop_holder(block);
    }
    course_.reserved_peak = allocator_.statistics().reserved_bytes.all.peak;
    course_.usage = allocator_.usage();
    course_.inactive_split = allocator_.statistics().inactive_split_bytes.all.current;
    course_.iterations = calls.empty() ? 0 : std::max(calls.back().iteration + 1, 0);
    course_.retries = allocator_.statistics().num_alloc_retries;
    std::ranges::stable_sort(course_.culprits, std::greater{}, &Culprit::bytes);
    return std::move(course_);
  }

 private:
  /// How far a segment has come with a batch.
  struct Instance {
    std::uint32_t calls = 0;  ///< in all
    std::uint32_t played = 0;
    std::uint32_t made = 0;                               ///< of the segment's fates, with those of other batches
    std::vector<std::pair<Place, std::uint32_t>> let_go;  ///< places where holders let go of live blocks
  };
  struct LiveBlock {
    allocator::BlockId block;
    const Fate* fate = nullptr;
    std::int32_t batch = 0;
    std::size_t holders = 0;
    std::uint32_t stream = 0;
    Bytes bytes = 0;
    bool live = false;
  };

  /// Of DistributedDataParallel (gradient_buckets.hpp).
  struct Start {
    enum class Backward : std::uint8_t { kToCome, kRuns, kOver };
    std::optional<allocator::Allocation> bucket;  ///< that of all gradients, until it is let go
    std::vector<std::uint32_t> gradients;         ///< of the first backward, until it ends
    Backward backward = Backward::kToCome;        ///< the first
    std::optional<StepRun> run;                   ///< which that is, as long as it runs
    Nanoseconds reduction_seen = 0;               ///< before that the bucket is not let go
    std::optional<std::size_t> second_forward;    ///< the call
    bool over = false;                            ///< the buckets that stay are there
  };

  /// A wait that nothing was recorded of leaves its segment without calls for some batches: then what the program does
  /// there comes with the segment that follows it for most others.
  void find_followers(std::span<const PlayedCall> calls) {
    std::map<std::pair<SegmentKey, std::int32_t>, std::size_t> last;
    for (std::size_t i = 0; i < calls.size(); ++i) last[{calls[i].segment, calls[i].batch}] = i;
    std::map<SegmentKey, std::map<std::pair<SegmentKey, std::int32_t>, int>> seen;
    for (const auto& [instance, i] : last) {
      if (i + 1 == calls.size()) continue;
      ++seen[instance.first][{calls[i + 1].segment, calls[i + 1].batch - instance.second}];
    }
    for (const auto& [segment, followers] : seen) {
      followers_[segment] = std::ranges::max_element(followers, {}, [](const auto& v) { return v.second; })->first;
    }
  }

  /// Where a segment has calls for this batch, the place; else the beginning of the first that follows and has.
  [[nodiscard]] std::pair<Place, std::int32_t> played_place(const Place& place, std::int32_t batch) const {
    std::pair<Place, std::int32_t> found{place, batch};
    for (std::size_t hops = 0; hops <= followers_.size(); ++hops) {
      if (instances_.contains({*found.first.segment, found.second})) return found;
      const auto next = followers_.find(*found.first.segment);
      if (next == followers_.end()) break;
      found = {{next->second.first, 0, 0}, found.second + next->second.second};
    }
    return {place, batch};
  }

  std::optional<allocator::Allocation> make_persistent(Bytes bytes, std::uint32_t stream) {
    course_.persistent += bytes;
    const auto allocation = allocator_.malloc(bytes, stream, now_).allocation;
    if (!allocation && !course_.first_failure) course_.first_failure = {.in = {}, .bytes = bytes};
    return allocation;
  }

  void make_first_bucket() {
    const auto& buckets = memory_->gradient_buckets;
    const Bytes all = std::accumulate(buckets.begin(), buckets.end(), Bytes{0});
    if (all == 0) return;
    start_.bucket = make_persistent(all, options_.main_stream);
    course_.persistent -= all;
  }

  /// The call with which it begins: the forward of the model is its dense net's and what the loop does for the same
  /// batch right before that.
  static std::optional<std::size_t> second_forward(std::span<const PlayedCall> calls) {
    using schedule::Stage;
    const auto feeds_forward = [](Stage stage) {
      return (stage >= Stage::kInputDistStart && stage <= Stage::kDataParallelLookup) ||
             stage == Stage::kFeatureProcessor || stage == Stage::kPrefetch;
    };
    const auto dense = std::ranges::find_if(
        calls, [](const PlayedCall& call) { return call.iteration > 0 && call.segment.stage == Stage::kDenseForward; });
    if (dense == calls.end()) return std::nullopt;
    auto first = dense;
    while (first != calls.begin() && (first - 1)->batch == dense->batch && feeds_forward((first - 1)->segment.stage)) {
      --first;
    }
    return static_cast<std::size_t>(first - calls.begin());
  }

  /// What DistributedDataParallel does in front of a call, until it has its buckets.
  void start(const PlayedCall& call) {
    using enum Start::Backward;
    const bool in_backward = call.segment.stage == schedule::Stage::kBackward;
    if (start_.backward == kToCome && in_backward) {
      start_.backward = kRuns;
      start_.run = call.run;
    } else if (start_.backward == kRuns && !(in_backward && call.run == start_.run)) {
      start_.backward = kOver;
      for (const std::uint32_t block : std::exchange(start_.gradients, {})) drop_holder(block);
      start_.reduction_seen = drains_->all_drained(now_) + options_.reduction_seen_after;
    }
    if (present_ == start_.second_forward) {
      start_.over = true;
      // All ranks agree on the buckets first, and the host waits for that.
      let_go_of_first_bucket(drains_->all_drained(call.start));
      for (const Bytes bytes : memory_->gradient_buckets) (void)make_persistent(bytes, options_.main_stream);
    }
    if (start_.over && call.communicates) let_go_of_first_bucket(call.start);
  }

  void let_go_of_first_bucket(Nanoseconds now) {
    if (!start_.bucket || now < start_.reduction_seen) return;
    allocator_.free(std::exchange(start_.bucket, std::nullopt)->block, now_, {});
    note();
  }

  /// Where workspaces are made: with the first multiplication (where none is known, call) of the dense forward, or of
  /// what stands for it, then of the dense backward; at once, where there is none.
  void find_first_multiplications(std::span<const PlayedCall> calls) {
    const bool known = std::ranges::any_of(calls, &PlayedCall::multiplies);
    const auto is_forward = [known](const PlayedCall& call) {
      return (call.segment.stage == schedule::Stage::kDenseForward ||
              call.segment.stage == schedule::Stage::kCompute) &&
             (call.multiplies || !known);
    };
    const auto is_backward = [known](const PlayedCall& call) {
      return call.segment.stage == schedule::Stage::kBackward && call.segment.of_dense_part() &&
             (call.multiplies || !known);
    };
    auto at = std::ranges::find_if(calls, is_forward);
    for (const Bytes bytes : memory_->workspaces) {
      if (at == calls.end()) {
        make_persistent(bytes, options_.main_stream);
      } else {
        workspaces_[static_cast<std::size_t>(at - calls.begin())] = bytes;
        at = std::find_if(at, calls.end(), is_backward);
      }
    }
  }

  void play(const PlayedCall& call) {
    Instance& instance = instances_[{call.segment, call.batch}];
    now_ = std::max(now_, call.start);
    if (const auto found = workspaces_.find(present_); found != workspaces_.end()) {
      make_persistent(found->second, call.stream);
    }
    if (instance.played == 0) pass(call, instance);
    now_ = std::max(now_, call.end);
    ++instance.played;
    pass(call, instance);
  }

  /// Makes and gives back what comes at the present place of a segment, in the recorded order.
  void pass(const PlayedCall& call, Instance& instance) {
    const bool done = instance.played == instance.calls;
    const auto found = lifetimes_->find(call.segment);
    const std::vector<Fate> none;
    const std::vector<Fate>& fates = found == lifetimes_->end() ? none : found->second;
    while (true) {
      while (instance.made < fates.size() && sizes_for(fates[instance.made], call.batch) == nullptr) {
        ++instance.made;
      }
      const bool due = instance.made < fates.size() && (done || fates[instance.made].made.calls <= instance.played);
      const Place here{call.segment, done && !due ? end_of(call.segment).calls : instance.played,
                       due ? fates[instance.made].made.blocks : end_of(call.segment).blocks};
      let_go(instance, here);
      if (!due) break;
      make(fates[instance.made++], call);
    }
    if (call.segment.stage == schedule::Stage::kZeroGrad && done) {
      for (const std::uint32_t block : std::exchange(until_zero_grad_, {})) drop_holder(block);
    }
  }

  [[nodiscard]] const std::vector<Bytes>* sizes_for(const Fate& fate, std::int32_t batch) const {
    return memory_->sizes_for(fate.size_of, batch + options_.first_batch);
  }

  void let_go(Instance& instance, const Place& here) {
    auto& waiting = instance.let_go;
    for (std::size_t i = 0; i < waiting.size();) {
      const Place& place = waiting[i].first;
      if (place.calls > here.calls || (place.calls == here.calls && place.blocks > here.blocks)) {
        ++i;
        continue;
      }
      const std::uint32_t block = waiting[i].second;
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      drop_holder(block);
    }
  }

  void make(const Fate& fate, const PlayedCall& call) {
    const std::vector<Bytes>& of_batch = *sizes_for(fate, call.batch);
    LiveBlock block;
    block.fate = &fate;
    block.batch = call.batch;
    block.stream = fate.pool ? fate.pool->value : call.stream;
    block.bytes = of_batch[fate.size_of.ordinal];
    const auto allocation = allocator_.malloc(block.bytes, block.stream, now_).allocation;
    if (!allocation) {
      if (!course_.first_failure) {
        course_.first_failure = {call.segment, iteration_, call.batch - iteration_, block.bytes};
      }
      return;
    }
    block.live = true;
    block.block = allocation->block;
    const auto index = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back(block);
    note(allocation->size);
    if (start_.bucket && start_.backward == Start::Backward::kRuns && is_gradient(fate)) {
      start_.gradients.push_back(index);
      ++blocks_[index].holders;
    } else {
      for (const Release& holder : fate.holders) hold(index, holder);
    }
    if (blocks_[index].holders == 0) give_back(index);
  }

  [[nodiscard]] bool is_gradient(const Fate& fate) const {
    const auto kind = memory_->classes.find(fate.size_of);
    return kind != memory_->classes.end() && kind->second.gradient;
  }

  /// A holder that has let go already does not count. One that waits for a stage which the schedule does not run lets
  /// go at the end of the iteration.
  void hold(std::uint32_t index, const Release& holder) {
    LiveBlock& block = blocks_[index];
    const std::int32_t batch = block.batch + holder.batches_later;
    if (const auto last = holder.behind ? last_calls_.find({*holder.behind, batch}) : last_calls_.end();
        last != last_calls_.end()) {
      if (last->second < present_) return;
      behind_call_[last->second].push_back(index);
    } else if (!holder.place.segment || !segments_.contains(*holder.place.segment)) {
      if (batch < iteration_) return;
      until_end_[batch].push_back(index);
    } else if (holder.place.segment->stage == schedule::Stage::kZeroGrad) {
      until_zero_grad_.push_back(index);
    } else {
      const auto [place, of_batch] = played_place(holder.place, batch);
      Instance& instance = instances_[{*place.segment, of_batch}];
      const bool own = batch == block.batch && *holder.place.segment == *block.fate->made.segment;
      const bool over = instance.calls > 0 ? instance.played == instance.calls : batch < block.batch;
      if (over && !own) return;
      instance.let_go.emplace_back(place, index);
    }
    ++block.holders;
  }

  void drop_holder(std::uint32_t index) {
    LiveBlock& block = blocks_[index];
    if (--block.holders == 0) give_back(index);
  }

  /// When a stream is done with what is queued on it. In the first iteration the host loads each kernel as it comes to
  /// it (CUDA does so lazily) and sets up what libraries need: the device waits for it.
  [[nodiscard]] Nanoseconds drained(std::uint32_t stream) const {
    return iteration_ > 0 ? drains_->drained(stream, now_) : now_;
  }

  void give_back(std::uint32_t index) {
    LiveBlock& block = blocks_[index];
    if (!block.live) return;
    block.live = false;
    uses_.clear();
    for (const schedule::StreamIndex stream : block.fate->used_on) {
      if (stream.value != block.stream) uses_.push_back({stream.value, drained(stream.value)});
    }
    allocator_.free(block.block, now_, uses_);
    note();
  }

  void end_iteration(std::int32_t iteration) {
    const auto found = until_end_.find(iteration);
    if (found == until_end_.end()) return;
    for (const std::uint32_t block : found->second) drop_holder(block);
    until_end_.erase(found);
  }

  void note(Bytes block_bytes = 0) {
    if (iteration_ < options_.first_counted) {
      entries_.clear();
      return;
    }
    const allocator::Statistics& now = allocator_.statistics();
    const Bytes allocated = now.allocated_bytes.all.current;
    const Bytes active = now.active_bytes.all.current;
    const Bytes of_start = start_.bucket && start_.over ? start_.bucket->size : 0;
    for (const allocator::TraceEntry& entry : entries_) {
      const Bytes block = entry.action == allocator::Action::kAlloc ? block_bytes : 0;
      course_.events.push_back({entry, block, allocated, active, now.reserved_bytes.all.current});
    }
    entries_.clear();
    course_.active_peak = std::max(course_.active_peak, active - of_start);
    if (allocated - of_start <= course_.allocated_peak) return;
    course_.allocated_peak = allocated - of_start;
    find_culprits();
  }

  void find_culprits();

  const RecordedMemory* memory_;
  const Lifetimes* lifetimes_;
  const StreamDrains* drains_;
  MemoryReplayOptions options_;
  allocator::CachingAllocator allocator_;
  MemoryCourse course_;
  std::map<std::pair<SegmentKey, std::int32_t>, Instance> instances_;
  std::set<SegmentKey> segments_;                                            ///< all that are played
  std::map<SegmentKey, std::pair<SegmentKey, std::int32_t>> followers_;      ///< and how many batches later theirs is
  std::map<std::pair<StepRun, std::int32_t>, std::size_t> last_calls_;       ///< of a step's run with a batch
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> behind_call_;  ///< blocks that somebody lets go there
  Start start_;
  std::map<std::size_t, Bytes> workspaces_;  ///< by the call with which they are made
  std::size_t present_ = 0;                  ///< the call that is played
  std::map<std::int32_t, std::vector<std::uint32_t>> until_end_;
  std::vector<std::uint32_t> until_zero_grad_;
  std::vector<LiveBlock> blocks_;
  std::vector<allocator::StreamUse> uses_;
  std::vector<allocator::TraceEntry> entries_;  ///< not yet noted
  Nanoseconds now_ = 0;
  std::int32_t iteration_ = 0;
};

void MemoryReplay::find_culprits() {
  std::map<std::pair<SegmentKey, std::int32_t>, Bytes> by_origin;
  for (const LiveBlock& block : blocks_) {
    if (block.live) by_origin[{*block.fate->made.segment, block.batch - iteration_}] += block.bytes;
  }
  course_.culprits.clear();
  for (const auto& [origin, bytes] : by_origin) course_.culprits.push_back({origin.first, origin.second, bytes});
}

}  // namespace

MemoryCourse replay_memory(const RecordedMemory& memory, const Lifetimes& lifetimes, std::span<const PlayedCall> calls,
                           const StreamDrains& drains, const MemoryReplayOptions& options) {
  return MemoryReplay(memory, lifetimes, drains, options).run(calls);
}

}  // namespace interlace::memory
