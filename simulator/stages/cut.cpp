#include "simulator/stages/cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "simulator/stages/backward_origin.hpp"
#include "simulator/stages/classifier.hpp"
#include "simulator/stages/damage.hpp"
#include "simulator/stages/own_time.hpp"
#include "simulator/stages/unmatched_rules.hpp"

namespace interlace::stages {

namespace {

using schedule::Stage;
using trace::LaneId;
using trace::LaneKind;
using trace::OperationId;
using trace::OperationKind;
using trace::RankId;
using trace::Trace;

bool is_item(const Trace& trace, OperationId op) {
  if (trace.kind(op) == OperationKind::kHostSync) return true;
  return trace.kind(op) == OperationKind::kHostCall && !trace.launched_by(op).empty();
}

/// A block of device memory handed out, given back or said to be used on another stream, as the program asked for it.
bool is_memory_item(const Trace& trace, OperationId op) {
  const trace::AllocationDetail* detail = trace.allocation(op);
  if (detail == nullptr || !detail->on_device) return false;
  using enum trace::AllocationAction;
  return detail->action == kAlloc || detail->action == kFree || detail->action == kFreeRequested ||
         detail->action == kRecordStream;
}

/// The host threads of a rank: the one that runs the loop, and those that autograd works on.
struct Threads {
  std::optional<LaneId> loop;
  std::vector<LaneId> autograd;
  std::vector<LaneId> unnamed;  ///< those of autograd whose operations are not recorded
};

/// The loop is where most iterations end: another thread may save a state under a name like that.
Threads find_threads(const Trace& trace, RankId rank, Classifier& classifier) {
  Threads threads;
  std::size_t most = 0;
  std::vector<LaneId> autograd;
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const LaneId lane{i};
    if (trace.lane(lane).kind != LaneKind::kHostThread || trace.lane(lane).rank != rank) continue;
    std::size_t ends = 0;
    bool has_backward = false;
    for (const OperationId op : trace.on_lane(lane)) {
      const trace::RangeDetail* range = trace.range(op);
      if (range == nullptr) continue;
      if (range->kind == trace::RangeKind::kAnnotation && classifier.ends_iteration(trace.names()[op.index()])) ++ends;
      has_backward = has_backward || is_backward_node(trace, op);
    }
    if (ends > most) {
      most = ends;
      threads.loop = lane;
    }
    if (has_backward) autograd.push_back(lane);
  }
  for (const LaneId lane : autograd) {
    if (lane != threads.loop) threads.autograd.push_back(lane);
  }
  return threads;
}

/// Threads that launch work during the loop's backward ranges and hardly ever else.
std::vector<LaneId> find_unnamed_autograd(const Trace& trace, RankId rank, const Threads& threads,
                                          const ThreadAnnotations& loop, Classifier& classifier) {
  constexpr double kHardlyEver = 0.05;
  std::vector<LaneId> found;
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const LaneId lane{i};
    if (trace.lane(lane).kind != LaneKind::kHostThread || trace.lane(lane).rank != rank || lane == threads.loop ||
        std::ranges::find(threads.autograd, lane) != threads.autograd.end()) {
      continue;
    }
    std::int64_t all = 0;
    std::int64_t outside = 0;
    for (const OperationId op : trace.on_lane(lane)) {
      if (!is_item(trace, op)) continue;
      const auto around = loop.enclosing(trace.start(op));
      const bool in_backward =
          std::ranges::any_of(around, [&](const AnnotationSpan& s) { return classifier.opens_backward(s.name); });
      ++all;
      outside += in_backward ? 0 : 1;
    }
    if (all > 0 && static_cast<double>(outside) <= kHardlyEver * static_cast<double>(all)) found.push_back(lane);
  }
  return found;
}

/// The first whole number in a name.
std::optional<std::int64_t> number_in(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const std::size_t begin = digits > 0 && name[digits - 1] == '-' ? digits - 1 : digits;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::set<Stage> stages_of(const Iteration& iteration) {
  std::set<Stage> stages;
  for (const Item& item : iteration.items) stages.insert(item.segment.stage);
  return stages;
}

/// The run of iterations from the first to the last that have all stages that half of them have: [first, second).
std::pair<std::size_t, std::size_t> whole_iterations(const std::vector<Iteration>& iterations) {
  std::map<Stage, std::size_t> counts;
  std::vector<std::set<Stage>> stages;
  for (const Iteration& iteration : iterations) {
    stages.push_back(stages_of(iteration));
    for (const Stage stage : stages.back()) ++counts[stage];
  }
  const auto is_whole = [&](const std::set<Stage>& those) {
    return std::ranges::all_of(
        counts, [&](const auto& entry) { return 2 * entry.second < iterations.size() || those.contains(entry.first); });
  };
  const auto first = std::ranges::find_if(stages, is_whole);
  if (first == stages.end()) return {0, iterations.size()};
  const auto last = std::find_if(stages.rbegin(), stages.rend(), is_whole).base();
  return {static_cast<std::size_t>(first - stages.begin()), static_cast<std::size_t>(last - stages.begin())};
}

/// Cuts one rank; names of modules are shared with the others.
class RankCutter {
 public:
  RankCutter(const Trace& trace, RankId rank, Classifier& classifier, Diagnostics& diagnostics)
      : trace_(&trace), rank_(rank), classifier_(&classifier), diagnostics_(&diagnostics) {}

  /// Of the rank that was cut.
  [[nodiscard]] std::vector<Damage> damage(const RankCut& cut) const {
    std::vector<Damage> found = find_damage(*trace_, rank_);
    std::ranges::move(find_doubled_iterations(*trace_, cut, *loop_, *classifier_), std::back_inserter(found));
    return found;
  }

  /// The stages that this rank's loop runs, whether device work comes of them or not.
  [[nodiscard]] const std::set<Stage>& entered() const { return entered_; }

  [[nodiscard]] std::optional<RankCut> run() {
    Threads threads = find_threads(*trace_, rank_, *classifier_);
    if (!threads.loop) return std::nullopt;
    loop_.emplace(*trace_, *threads.loop);
    threads.unnamed = find_unnamed_autograd(*trace_, rank_, threads, *loop_, *classifier_);
    origins_.emplace(*trace_, rank_);

    std::vector<Nanoseconds> ends;
    for (const AnnotationSpan& s : loop_->by_start()) {
      if (!classifier_->ends_iteration(s.name)) continue;
      if (!ends.empty() && s.span.begin < ends.back()) continue;  // within another: PyTorch's own in the loop's
      ends.push_back(s.span.end);
      if (const auto number = number_in(trace_->strings()[s.name.index()])) numbers_[s.span.end] = *number;
    }
    if (ends.size() < 2) return std::nullopt;
    gather(*threads.loop, nullptr);
    for (const LaneId lane : threads.unnamed) gather(lane, nullptr);
    for (const LaneId lane : threads.autograd) {
      own_annotations_.emplace_back(*trace_, lane);
      gather(lane, &own_annotations_.back());
    }
    std::ranges::stable_sort(calls_, {}, [&](const Call& c) { return trace_->start(c.op); });

    RankCut cut{rank_, {}, {}, {}};
    cut_whole_iterations(ends, cut);
    find_entered({ends.front(), ends.back()}, cut);
    count_other_threads(threads, {ends.front(), ends.back()});
    if (!cut.iterations.front().memory.empty()) {
      Diagnostics of_partial_work;
      cut.opening = iteration({0, ends.front()}, of_partial_work);
      cut.closing = iteration({ends.back(), trace_->length() + 1}, of_partial_work);
    }
    return cut;
  }

 private:
  /// ends: of all iterations; then of those that are kept, and of the one before them.
  void cut_whole_iterations(std::vector<Nanoseconds>& ends, RankCut& cut) {
    std::vector<Iteration> all;
    std::vector<Diagnostics> flaws(ends.size() - 1);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) all.push_back(iteration({ends[i], ends[i + 1]}, flaws[i]));
    const auto [first, last] = whole_iterations(all);
    const auto partial = static_cast<std::int64_t>(all.size() - (last - first));
    if (partial > 0) diagnostics_->count(kPartialIterations, trace_->ranks()[rank_.index()].source, partial);
    for (std::size_t i = first; i < last; ++i) {
      diagnostics_->merge(flaws[i]);
      cut.iterations.push_back(std::move(all[i]));
    }
    ends = std::vector<Nanoseconds>(ends.begin() + static_cast<std::ptrdiff_t>(first),
                                    ends.begin() + static_cast<std::ptrdiff_t>(last + 1));
  }

  void find_entered(Interval window, const RankCut& cut) {
    std::set<Stage> with_work;
    for (const Iteration& iteration : cut.iterations) with_work.merge(stages_of(iteration));
    for (const AnnotationSpan& s : loop_->by_start()) {
      if (!window.contains(s.span.begin)) continue;
      if (const auto segment = classifier_->classify(s.span.begin, *loop_, nullptr)) entered_.insert(segment->stage);
    }
    for (const Stage stage : entered_) {
      if (with_work.contains(stage) || mostly_without_work(stage)) continue;
      diagnostics_->count(kWithoutWork, schedule::to_string(stage));
    }
  }

  struct Call {
    OperationId op;
    const ThreadAnnotations* own = nullptr;  ///< of the autograd thread, where it is one
    bool memory = false;
  };

  void gather(LaneId lane, const ThreadAnnotations* own) {
    for (const OperationId op : trace_->on_lane(lane)) {
      if (is_item(*trace_, op)) calls_.push_back({op, own, false});
      if (is_memory_item(*trace_, op)) calls_.push_back({op, own, true});
    }
  }

  void count_other_threads(const Threads& threads, Interval window) {
    for (std::uint32_t i = 0; i < trace_->lanes().size(); ++i) {
      const LaneId lane{i};
      const trace::Lane& info = trace_->lane(lane);
      if (info.kind != LaneKind::kHostThread || info.rank != rank_ || lane == threads.loop) continue;
      if (std::ranges::find(threads.autograd, lane) != threads.autograd.end()) continue;
      if (std::ranges::find(threads.unnamed, lane) != threads.unnamed.end()) continue;
      for (const OperationId op : trace_->on_lane(lane)) {
        if (window.contains(trace_->start(op)) && !trace_->launched_by(op).empty()) {
          diagnostics_->count(kOtherThread, trace_->name(op));
        }
      }
    }
  }

  Iteration iteration(Interval host, Diagnostics& diagnostics) {
    Iteration result{host, {}, {}};
    if (const auto number = numbers_.find(host.end); number != numbers_.end()) result.number = number->second;
    Nanoseconds last_end = host.begin;
    Nanoseconds carried = 0;  // of calls in no stage
    std::optional<SegmentKey> last;
    std::optional<SegmentKey> last_backward;
    std::map<SegmentKey, std::uint32_t> items;
    std::vector<std::size_t> items_before;  ///< of any segment, by memory event
    const auto start_of = [&](const Call& call) { return trace_->start(call.op); };
    for (auto at = std::ranges::lower_bound(calls_, host.begin, {}, start_of); at != calls_.end(); ++at) {
      const Call& call = *at;
      const Nanoseconds start = start_of(call);
      if (start >= host.end) break;
      auto segment = classifier_->classify(start, *loop_, call.own);
      if (segment && segment->stage == Stage::kBackward) {
        if (call.own != nullptr) {
          segment = backward_segment(call.op, *segment, last_backward, diagnostics);
        } else if (call.memory && last_backward && in_no_piece(start)) {
          segment = last_backward;  // what the main thread drops when autograd returns
        }
        last_backward = segment;
      }
      if (call.memory) {
        const std::optional<SegmentKey> place = segment ? segment : last;
        result.memory.push_back({call.op, place, place ? items[*place] : 0, !segment});
        if (segment) last = segment;
        items_before.push_back(result.items.size());
        continue;
      }
      const Nanoseconds gap = std::max<Nanoseconds>(0, start - last_end);
      last_end = std::max(last_end, trace_->end(call.op));
      if (!segment) {
        diagnostics.count(kOutsideAnyStage, trace_->name(call.op));
        carried += gap + host_work(call.op);
        continue;
      }
      last = segment;
      ++items[*segment];
      result.items.push_back({call.op, *segment, gap + std::exchange(carried, 0)});
    }
    result.tail = std::max<Nanoseconds>(0, host.end - last_end) + carried;
    settle_strays(items_before, items, result);
    return result;
  }

  /// What a call takes of the host itself.
  [[nodiscard]] Nanoseconds host_work(OperationId call) const {
    return trace_->kind(call) == OperationKind::kHostSync ? 0 : own_time(*trace_, call);
  }

  /// Calls of a segment among the first `end` of an iteration.
  static std::uint32_t count_items(const Iteration& iteration, std::size_t end, const SegmentKey& segment) {
    const auto first = iteration.items.begin();
    return static_cast<std::uint32_t>(
        std::ranges::count(first, first + static_cast<std::ptrdiff_t>(end), segment, &Item::segment));
  }

  /// In the range of backward itself, not in one that says which piece it is?
  bool in_no_piece(Nanoseconds time) {
    const auto around = loop_->enclosing(time);
    return !around.empty() && classifier_->opens_backward(around.back().name);
  }

  /// A stage whose annotation holds those of others (a forward, of the lookups in it) is not where memory events lie
  /// that come between the calls of two such others: what a module drops as it returns goes with the module.
  static void settle_strays(const std::vector<std::size_t>& items_before,
                            const std::map<SegmentKey, std::uint32_t>& items, Iteration& iteration) {
    for (std::size_t i = 0; i < iteration.memory.size(); ++i) {
      MemoryItem& event = iteration.memory[i];
      const std::size_t next = items_before[i];
      if (!event.segment || event.between_stages || next == 0 || next == iteration.items.size()) continue;
      const SegmentKey& before = iteration.items[next - 1].segment;
      const SegmentKey& after = iteration.items[next].segment;
      const bool has_calls = std::ranges::any_of(
          items, [&](const auto& entry) { return entry.first.stage == event.segment->stage && entry.second > 0; });
      if (!has_calls || event.segment == before || event.segment == after) continue;
      if (after.stage == event.segment->stage && !event.segment->module) {
        // Of all modules, before the first call that is of one.
        event.segment = after;
        event.items_before = count_items(iteration, next, after);
        continue;
      }
      event.segment = before;
      event.items_before = count_items(iteration, next, before);
    }
  }

  /// The piece of backward that is the backward of the forward stage this work came from.
  SegmentKey backward_segment(OperationId call, SegmentKey fallback, const std::optional<SegmentKey>& before,
                              Diagnostics& diagnostics) {
    const auto forward = origins_->forward_of(call);
    if (!forward) {
      if (!origins_->is_accumulation(call)) diagnostics.count(kBackwardWithoutForward, trace_->name(call));
      // Gradient accumulation and DDP's hooks carry no link: they belong to the node that ran just before.
      return before.value_or(fallback);
    }
    const auto origin = classifier_->classify(trace_->start(*forward), *loop_, nullptr);
    if (!origin) return before.value_or(fallback);
    switch (origin->stage) {
      case Stage::kEmbeddingLookup:
      case Stage::kOutputDistStart: return {Stage::kBackward, Piece::kUpdate, origin->module};
      case Stage::kOutputDistWait: return {Stage::kBackward, Piece::kGradDist, origin->module};
      default: return {Stage::kBackward, Piece::kDense, {}};
    }
  }

  const Trace* trace_;
  RankId rank_;
  Classifier* classifier_;
  Diagnostics* diagnostics_;
  std::optional<ThreadAnnotations> loop_;
  std::optional<BackwardOrigins> origins_;
  std::deque<ThreadAnnotations> own_annotations_;
  std::vector<Call> calls_;
  std::set<Stage> entered_;
  std::map<Nanoseconds, std::int64_t> numbers_;  ///< of iterations, by where they end
};

/// Which of a rank's iterations goes with the first one of `first`: negative where the rank began later. By when they
/// began on the hosts' clock.
std::ptrdiff_t offset_from(const std::vector<Iteration>& first, const std::vector<Iteration>& other) {
  const auto apart = [&](std::ptrdiff_t offset) {
    const auto at = [](const std::vector<Iteration>& of, std::ptrdiff_t i) {
      return of[static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, i))].host.begin;
    };
    return std::abs(at(other, offset) - at(first, -offset));
  };
  std::ptrdiff_t best = 0;
  for (std::ptrdiff_t offset = 1 - std::ssize(first); offset < std::ssize(other); ++offset) {
    if (apart(offset) < apart(best)) best = offset;
  }
  // Clocks of hosts that nobody has aligned tell nothing: as many iterations are taken to be the same ones.
  const bool is_clear = apart(best) < first.front().host.length() / 4;
  return first.size() == other.size() && !is_clear ? 0 : best;
}

/// Keeps, on every rank, the iterations that all ranks have.
void align(Cut& cut, Diagnostics& diagnostics) {
  const std::vector<Iteration>& first = cut.ranks.front().iterations;
  std::vector<std::ptrdiff_t> offsets;
  std::ptrdiff_t begin = 0;  // of what all ranks have, counted as the first rank does
  std::ptrdiff_t end = std::ssize(first);
  for (const RankCut& rank : cut.ranks) {
    offsets.push_back(offset_from(first, rank.iterations));
    begin = std::max(begin, -offsets.back());
    end = std::min(end, std::ssize(rank.iterations) - offsets.back());
  }
  if (begin >= end) {
    throw Error(kNoIterations, {}, "no training iteration is in the recordings of all ranks: they began at other times",
                "give recordings of the same steps");
  }
  for (std::size_t r = 0; r < cut.ranks.size(); ++r) {
    RankCut& rank = cut.ranks[r];
    const auto extra = std::ssize(rank.iterations) - (end - begin);
    if (extra == 0) continue;
    diagnostics.count(kUnevenIterations, {}, static_cast<std::int64_t>(extra));
    if (begin + offsets[r] > 0) rank.opening.reset();
    if (end + offsets[r] < std::ssize(rank.iterations)) rank.closing.reset();
    const auto from = rank.iterations.begin() + begin + offsets[r];
    rank.iterations = std::vector<Iteration>(from, from + (end - begin));
  }
}

/// What the recording lost may be what is missed in it: "; it lost data (ilt.truncated)".
std::string losses(const Diagnostics& diagnostics) {
  std::string codes;
  for (const Diagnostic& found : diagnostics.entries()) {
    if (found.severity == Severity::kDataLoss) codes += (codes.empty() ? "" : ", ") + found.code;
  }
  return codes.empty() ? codes : "; the recording lost data (" + codes + ")";
}

/// Where a profile only counts modules, none of its rules says what they are called.
void name_counted_modules(const Cut& cut, ModuleNames& modules) {
  const auto name = [&](const std::optional<SegmentKey>& segment) {
    if (!segment || !segment->module) return;
    while (modules.names().size() <= segment->module->index()) {
      modules.id(fmt::format("module {}", modules.names().size()));
    }
  };
  for (const RankCut& rank : cut.ranks) {
    for (const Iteration& iteration : rank.iterations) {
      for (const Item& item : iteration.items) name(item.segment);
      for (const MemoryItem& event : iteration.memory) name(event.segment);
    }
  }
}

}  // namespace

Cut cut(const Trace& trace, const Profile& profile, Diagnostics& diagnostics) {
  count_unmatched_rules(trace, profile, diagnostics);
  ModuleNames modules;
  Classifier classifier(trace, profile, modules);
  Cut result{profile.name, profile.frees, {}, {}, {}};
  std::vector<std::vector<Damage>> damage;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) {
    RankCutter cutter(trace, {r}, classifier, diagnostics);
    auto rank = cutter.run();
    if (!rank) {
      throw Error(
          kNoIterations, trace.ranks()[r].source,
          fmt::format("no complete training iteration: fewer than two ranges match \"{}\", the iteration_end of "
                      "the \"{}\" annotation profile{}",
                      profile.iteration_end, profile.name, losses(diagnostics)),
          "record at least three steps with annotations, or give a profile of your own (--profile FILE)");
    }
    damage.push_back(cutter.damage(*rank));
    result.ranks.push_back(std::move(*rank));
    result.entered.insert(cutter.entered().begin(), cutter.entered().end());
  }
  leave_out_damaged(result, damage, diagnostics);
  if (!result.ranks.empty()) align(result, diagnostics);
  name_counted_modules(result, modules);
  result.modules = modules.names();
  return result;
}

}  // namespace interlace::stages
