#include "simulator/memory/recorded_memory.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "simulator/base/saturating.hpp"
#include "simulator/memory/asked_for.hpp"
#include "simulator/memory/gradient_buckets.hpp"
#include "simulator/memory/named_ranges.hpp"
#include "simulator/memory/persistent_blocks.hpp"
#include "simulator/memory/steps.hpp"

namespace interlace::memory {

namespace {

using schedule::Stage;
using stages::SegmentKey;
using trace::AllocationAction;

/// Stages around the place where an iteration ends.
bool may_end_iteration(const std::optional<SegmentKey>& last) {
  return !last || last->stage == Stage::kOptimizerStep || last->stage == Stage::kZeroGrad;
}

/// Positive also for negative batches.
std::size_t modulo(std::int32_t batch, std::int32_t batches) {
  return static_cast<std::size_t>((batch % batches + batches) % batches);
}

/// The same of a number of the program's.
std::int32_t modulo_number(std::int64_t number, std::int32_t batches) {
  return static_cast<std::int32_t>((number % batches + batches) % batches);
}

struct Block {
  BlockClass kind;
  Bytes bytes = 0;
  std::uint32_t calls = 0;
  std::int32_t batch = 0;
  std::int32_t iteration = 0;
  std::optional<Release> released;
  std::set<StreamUse> uses;
  bool gradient = false;
};

/// In which autograd gives the gradients of parameters to them.
constexpr std::string_view kAccumulation = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

/// What PyTorch takes for cuBLAS a stream and thread, where nobody says otherwise
/// (aten/src/ATen/cuda/CublasHandlePool.cpp): CUBLAS_WORKSPACE_CONFIG=:4096:8 from compute capability 9 on, else
/// :4096:2:16:8.
Bytes workspace_bytes(const std::vector<trace::Device>& devices) {
  constexpr Bytes kKiB = 1024;
  constexpr std::int32_t kHopper = 9;
  constexpr Bytes kOnHopper = 8 * (4096 * kKiB);
  constexpr Bytes kBefore = 2 * (4096 * kKiB) + 8 * (16 * kKiB);
  return !devices.empty() && devices.front().compute_major >= kHopper ? kOnHopper : kBefore;
}

/// Only parameters' are meant: autograd also accumulates those of pooled embeddings, where a backward in parts ends.
void forget_other_gradients(RecordedMemory& memory) {
  for (auto& [kind, history] : memory.classes) {
    history.gradient =
        history.gradient && std::ranges::find(memory.persistent, history.bytes) != memory.persistent.end();
  }
}

void set_workspaces_apart(Bytes bytes, RecordedMemory& memory) {
  constexpr std::size_t kThreads = 2;  // of the loop, and of autograd
  auto& persistent = memory.persistent;
  for (auto found = persistent.begin(); memory.workspaces.size() < kThreads;) {
    found = std::find(found, persistent.end(), bytes);
    if (found == persistent.end()) break;
    memory.workspaces.push_back(*found);
    found = persistent.erase(found);
  }
}

class Pairing {
 public:
  Pairing(const trace::Trace& trace, const stages::RankCut& cut, const schedule::Schedule& recorded,
          stages::Frees frees)
      : trace_(&trace),
        recorded_(&recorded),
        roles_(trace, cut, recorded),
        accumulations_(named_ranges(trace, cut.rank, kAccumulation)) {
    result_.frees = frees;
  }

  /// What of an iteration was recorded before the first whole one.
  void opening(const stages::Iteration& iteration) {
    has_opening_ = true;
    this->iteration(iteration);
  }

  void iteration(const stages::Iteration& iteration) {
    if (iteration.number && !first_number_) first_number_ = *iteration.number - iterations_;
    made_.clear();
    present_ = &iteration;
    find_ends(iteration);
    last_call_ = iteration.items.empty() ? iteration.host.end : trace_->start(iteration.items.back().call);
    for (const stages::MemoryItem& item : iteration.memory) {
      const trace::AllocationDetail& detail = *trace_->allocation(item.event);
      note_total(detail);
      if (detail.action == AllocationAction::kAlloc) {
        make(item, detail);
      } else if (detail.action == AllocationAction::kRecordStream) {
        use(item, detail);
      } else {
        release(item, detail);
      }
    }
    ++iterations_;
  }

  /// What the last iteration drops as it ends.
  void closing(const stages::Iteration& iteration) {
    made_.clear();
    present_ = &iteration;
    last_call_ = iteration.host.end;
    for (const stages::MemoryItem& item : iteration.memory) {
      if (!may_end_iteration(item.segment)) return;
      const trace::AllocationDetail& detail = *trace_->allocation(item.event);
      if (detail.action == AllocationAction::kFree || detail.action == AllocationAction::kFreeRequested) {
        release(item, detail);
      }
    }
  }

  /// What was made and not given back.
  struct Left {
    std::unordered_set<std::uint64_t> by_each_batch;  ///< addresses of what stages make for each batch
    std::vector<Bytes> in_opening;                    ///< made once, before the first whole iteration
    std::vector<Bytes> later;                         ///< and in those
  };
  /// After finish(). What is made once is what stages made in instances that were left out, and outside all stages: not
  /// as late as blocks of batches that are still worked on.
  [[nodiscard]] Left left() const {
    Left left;
    const auto add = [&](Bytes bytes, std::int32_t iteration) {
      const bool before = has_opening_ && iteration == 0;
      if (iterations_ - iteration > depth_ + 1) (before ? left.in_opening : left.later).push_back(bytes);
    };
    const std::unordered_set<const Block*> regular(regular_.begin(), regular_.end());
    for (const auto& [address, at] : live_) {
      const Block& block = blocks_[at];
      if (regular.contains(&block)) {
        left.by_each_batch.insert(address);
      } else {
        add(block.bytes, block.iteration);
      }
    }
    for (const auto& [address, block] : outside_) add(block.bytes, block.iteration);
    std::ranges::sort(left.in_opening);
    std::ranges::sort(left.later);
    return left;
  }

  RecordedMemory finish(Diagnostics& diagnostics) {
    find_regular_batches(diagnostics);
    keep_sizes();
    if (result_.frees == stages::Frees::kBehindLastUse) find_variants();
    describe_classes(diagnostics);
    const Bytes persistent = allocated_before_.value_or(0) - carried_over_;
    if (persistent > 0) result_.persistent.push_back(persistent);
    return std::move(result_);
  }

 private:
  /// What was allocated before the first event.
  void note_total(const trace::AllocationDetail& detail) {
    if (allocated_before_ || !detail.total_allocated) return;
    const bool made = detail.action == AllocationAction::kAlloc;
    allocated_before_ = *detail.total_allocated + (made ? -detail.bytes : detail.bytes);
  }

  void make(const stages::MemoryItem& item, const trace::AllocationDetail& detail) {
    Block block;
    block.bytes = asked_for(detail);
    block.iteration = iterations_;
    if (!item.segment) {
      outside_[detail.address] = block;
      return;
    }
    block.kind = {*item.segment, made_[*item.segment]++, 0};
    block.calls = item.items_before;
    block.batch = iterations_ + batch_offset(*recorded_, *item.segment);
    depth_ = std::max(depth_, block.batch - iterations_);
    live_[detail.address] = blocks_.size();
    blocks_.push_back(block);
  }

  void use(const stages::MemoryItem& item, const trace::AllocationDetail& detail) {
    result_.knows_uses = true;
    const auto found = live_.find(detail.address);
    if (found == live_.end() || !item.segment || !detail.stream) return;
    if (const auto use = roles_.use(*item.segment, *detail.stream)) blocks_[found->second].uses.insert(*use);
  }

  void release(const stages::MemoryItem& item, const trace::AllocationDetail& detail) {
    const auto found = live_.find(detail.address);
    if (found == live_.end()) {
      if (outside_.erase(detail.address) > 0) return;
      carried_over_ = saturating_sum(carried_over_, detail.bytes);
      return;
    }
    Block& block = blocks_[found->second];
    live_.erase(found);
    block.gradient = accumulates_at(trace_->start(item.event));
    const bool at_end = item.between_stages && may_end_iteration(item.segment);
    if (!at_end && is_left_behind(item, block)) {
      if (const auto before = segment_before(item)) {
        block.released =
            Release{end_of(*before), iterations_ + batch_offset(*recorded_, *before) - block.batch, std::nullopt};
        return;
      }
    }
    const Place place = at_end ? Place{} : Place{item.segment, item.items_before, made_[*item.segment]};
    // Where the cut lies right behind the optimizer step, what an iteration drops as it ends is found in the next one.
    const std::int32_t trained = trace_->start(item.event) >= last_call_ ? iterations_ : iterations_ - 1;
    const std::int32_t batch = at_end ? trained : iterations_ + batch_offset(*recorded_, *item.segment);
    block.released = Release{place, batch - block.batch, at_end ? std::nullopt : ended_run(item)};
  }

  [[nodiscard]] bool accumulates_at(Nanoseconds time) const {
    const auto after = std::ranges::upper_bound(accumulations_, time, {}, &Interval::begin);
    return after != accumulations_.begin() && (after - 1)->end >= time;
  }

  /// Is a block given back before anything has been done for another module? That has no use for it: the program has
  /// left what came before.
  bool is_left_behind(const stages::MemoryItem& item, const Block& block) {
    const auto& own = block.kind.made_in.module;
    return own && item.segment->module && item.segment->module != own && item.items_before == 0 &&
           made_[*item.segment] == 0;
  }

  /// The segment of the last call before an event.
  [[nodiscard]] std::optional<SegmentKey> segment_before(const stages::MemoryItem& item) const {
    const auto& calls = present_->items;  // by start
    const auto after = std::ranges::upper_bound(calls, trace_->start(item.event), {},
                                                [&](const stages::Item& call) { return trace_->start(call.call); });
    return after == calls.begin() ? std::nullopt : std::optional((after - 1)->segment);
  }

  void find_ends(const stages::Iteration& iteration) {
    ends_.clear();
    if (result_.frees != stages::Frees::kBehindLastUse) return;
    for (const stages::Item& item : iteration.items) {
      if (const auto run = step_run_of(*recorded_, item.segment)) ends_[*run] = trace_->start(item.call);
    }
  }

  /// The run of a step that an event lies behind, if it does.
  [[nodiscard]] std::optional<StepRun> ended_run(const stages::MemoryItem& item) const {
    if (ends_.empty() || !item.segment) return std::nullopt;
    const auto run = step_run_of(*recorded_, *item.segment);
    if (!run) return std::nullopt;
    const auto end = ends_.find(*run);
    return end != ends_.end() && end->second < trace_->start(item.event) ? run : std::nullopt;
  }

  /// Of each segment, the batches for which it made as many blocks as for most; or, where nothing but the data can tell
  /// them apart, as for another one.
  void find_regular_batches(Diagnostics& diagnostics) {
    std::map<SegmentKey, std::map<std::int32_t, std::vector<Block*>>> by_segment;
    for (Block& block : blocks_) by_segment[block.kind.made_in][block.batch].push_back(&block);
    for (const auto& [segment, by_batch] : by_segment) {
      std::map<std::size_t, int> votes;
      for (const auto& [batch, blocks] : by_batch) ++votes[blocks.size()];
      const std::size_t usual = std::ranges::max_element(votes, {}, [](const auto& v) { return v.second; })->first;
      const bool may_differ = result_.frees == stages::Frees::kBehindLastUse;
      auto& sizes = sizes_[segment];
      for (const auto& [batch, blocks] : by_batch) {
        if (blocks.size() != usual && !(may_differ && votes[blocks.size()] > 1)) {
          diagnostics.count(kIrregularIteration, schedule::to_string(segment.stage));
          continue;
        }
        for (Block* block : blocks) {
          block->kind.of = static_cast<std::uint32_t>(blocks.size());
          sizes[batch].push_back(block->bytes);
          regular_.push_back(block);
        }
      }
    }
  }

  void keep_sizes() {
    const auto period = period_of_sizes();
    result_.batches = period.value_or(iterations_);
    first_batch_ = period ? modulo_number(first_number_.value_or(0), *period) : 0;
    result_.knows_first_batch = period && first_number_;
    for (const auto& [segment, by_batch] : sizes_) {
      auto& sizes = result_.sizes[segment];
      sizes.resize(static_cast<std::size_t>(result_.batches));
      for (const auto& [batch, of_batch] : by_batch) sizes[batch_index(batch)] = of_batch;
      // A batch that was left out is like the one after it.
      for (std::size_t i = sizes.size() * 2; i-- > 0;) {
        auto& of_batch = sizes[i % sizes.size()];
        if (of_batch.empty()) of_batch = sizes[(i + 1) % sizes.size()];
      }
    }
  }

  /// After how many batches all sizes are the same again; none where they are not, or too few batches were recorded.
  [[nodiscard]] std::optional<std::int32_t> period_of_sizes() const {
    for (std::int32_t period = 1; period < iterations_; ++period) {
      bool known = false;
      const bool repeats = std::ranges::all_of(sizes_, [&](const auto& segment) {
        return std::ranges::all_of(segment.second, [&](const auto& batch) {
          const auto later = segment.second.find(batch.first + period);
          known = known || later != segment.second.end();
          return later == segment.second.end() || later->second == batch.second;
        });
      });
      if (known && repeats) return period;
    }
    return std::nullopt;
  }

  /// Modulo the batches that are told apart.
  [[nodiscard]] std::size_t batch_index(std::int32_t batch) const {
    return modulo(batch + first_batch_, result_.batches);
  }

  static Release most_often(const std::map<Release, int>& seen) {
    return std::ranges::max_element(seen, {}, [](const auto& v) { return v.second; })->first;
  }

  /// Where the data decides, a place counts that was seen more than once.
  void find_variants() {
    std::map<BlockClass, std::map<Release, int>> places;
    std::map<BlockClass, std::map<std::size_t, std::map<Release, int>>> by_batch;
    for (const Block* block : regular_) {
      if (!block->released) continue;
      ++places[block->kind][*block->released];
      ++by_batch[block->kind][batch_index(block->batch)][*block->released];
    }
    for (const auto& [kind, seen] : places) {
      std::vector<Release> often;
      for (const auto& [place, times] : seen) {
        if (times > 1) often.push_back(place);
      }
      if (often.size() < 2) continue;
      const Release usual = most_often(seen);
      const auto number = [&often, &usual](const Release& place) {
        const auto found = std::ranges::find(often, place);
        return static_cast<std::uint32_t>((found == often.end() ? std::ranges::find(often, usual) : found) -
                                          often.begin());
      };
      auto& variants = result_.variants[kind];
      variants.assign(static_cast<std::size_t>(result_.batches), number(usual));
      for (const auto& [batch, of_batch] : by_batch[kind]) variants[batch] = number(most_often(of_batch));
    }
    for (Block* block : regular_) {
      const auto found = result_.variants.find(block->kind);
      if (found != result_.variants.end()) block->kind.variant = found->second[batch_index(block->batch)];
    }
  }

  void describe_classes(Diagnostics& diagnostics) {
    std::map<BlockClass, std::map<Release, int>> releases;
    std::map<BlockClass, std::map<std::set<StreamUse>, int>> uses;
    for (const Block* block : regular_) {
      ClassHistory& history = result_.classes[block->kind];
      history.calls = std::max(history.calls, block->calls);
      history.bytes = std::max(history.bytes, block->bytes);
      history.gradient = history.gradient || block->gradient;
      if (block->released) ++releases[block->kind][*block->released];
      ++uses[block->kind][block->uses];
    }
    for (auto& [kind, history] : result_.classes) {
      history.uses = std::ranges::max_element(uses[kind], {}, [](const auto& v) { return v.second; })->first;
      const auto& seen = releases[kind];
      if (seen.empty()) {
        diagnostics.count(kNeverReleased, schedule::to_string(kind.made_in.stage));
      } else {
        history.released = most_often(seen);
      }
    }
  }

  const trace::Trace* trace_;
  const schedule::Schedule* recorded_;
  StreamRoles roles_;
  std::vector<Interval> accumulations_;
  RecordedMemory result_;
  std::int32_t iterations_ = 0;
  const stages::Iteration* present_ = nullptr;
  std::map<SegmentKey, std::uint32_t> made_;  ///< in the present iteration
  Nanoseconds last_call_ = 0;                 ///< of the present iteration
  std::map<StepRun, Nanoseconds> ends_;       ///< its last calls; empty where nobody asks
  std::vector<Block> blocks_;
  std::vector<Block*> regular_;
  std::map<SegmentKey, std::map<std::int32_t, std::vector<Bytes>>> sizes_;  ///< of these, by batch
  std::int32_t first_batch_ = 0;              ///< which of those that come again the first recorded one is
  std::optional<std::int64_t> first_number_;  ///< that the program gives to the first recorded iteration
  std::unordered_map<std::uint64_t, std::size_t> live_;
  std::unordered_map<std::uint64_t, Block> outside_;  ///< made before the first stage, and not given back
  bool has_opening_ = false;
  std::int32_t depth_ = 0;  ///< how many batches ahead stages work at most
  std::optional<Bytes> allocated_before_;
  Bytes carried_over_ = 0;
};

}  // namespace

const std::vector<Bytes>* RecordedMemory::sizes_for(const BlockClass& kind, std::int32_t batch) const {
  const auto of_segment = sizes.find(kind.made_in);
  if (of_segment == sizes.end()) return nullptr;
  const std::vector<Bytes>& of_batch = of_segment->second[modulo(batch, batches)];
  const auto several = variants.find({kind.made_in, kind.ordinal, kind.of, 0});
  if (several != variants.end() && several->second[modulo(batch, batches)] != kind.variant) return nullptr;
  return of_batch.size() == kind.of ? &of_batch : nullptr;
}

Place end_of(const SegmentKey& segment) {
  return {segment, std::numeric_limits<std::uint32_t>::max(), std::numeric_limits<std::uint32_t>::max()};
}

std::int32_t batch_offset(const schedule::Schedule& recorded, const SegmentKey& segment) {
  // A cut iteration ends with the optimizer: what the schedule runs behind it is found in the next one.
  bool behind = false;
  for (const schedule::StageStep* step : stage_steps(recorded)) {
    if (runs_segment(*step, segment)) return step->batch - (behind ? 1 : 0);
    behind = behind || step->stage == Stage::kOptimizerStep;
  }
  return 0;
}

RecordedMemory recorded_memory(const trace::Trace& trace, const stages::RankCut& cut,
                               const schedule::Schedule& recorded, stages::Frees frees, Diagnostics& diagnostics) {
  Pairing pairing(trace, cut, recorded, frees);
  if (cut.opening) pairing.opening(*cut.opening);
  for (const stages::Iteration& iteration : cut.iterations) pairing.iteration(iteration);
  if (cut.closing) pairing.closing(*cut.closing);
  RecordedMemory memory = pairing.finish(diagnostics);
  if (cut.iterations.empty()) return memory;
  const Pairing::Left left = pairing.left();
  const auto add = [&memory](const std::vector<Bytes>& blocks) {
    memory.persistent.insert(memory.persistent.end(), blocks.begin(), blocks.end());
  };
  const Interval steps{cut.iterations.front().host.begin, cut.iterations.back().host.end};
  if (auto known = persistent_blocks(trace, cut.rank, steps, left.by_each_batch, diagnostics)) {
    memory.persistent = std::move(known->bytes);
    memory.settings = known->settings;
  } else {
    add(left.in_opening);
  }
  add(left.later);
  set_workspaces_apart(workspace_bytes(trace.ranks()[cut.rank.index()].devices), memory);
  forget_other_gradients(memory);
  memory.gradient_buckets = take_gradient_buckets(trace, cut, memory.persistent);
  return memory;
}

}  // namespace interlace::memory
