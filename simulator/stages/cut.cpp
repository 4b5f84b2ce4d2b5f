#include "simulator/stages/cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "simulator/stages/backward_origin.hpp"
#include "simulator/stages/classifier.hpp"

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

/// The host threads of a rank: the one that runs the loop, and those that autograd works on.
struct Threads {
  std::optional<LaneId> loop;
  std::vector<LaneId> autograd;
};

Threads find_threads(const Trace& trace, RankId rank, Classifier& classifier) {
  Threads threads;
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const LaneId lane{i};
    if (trace.lane(lane).kind != LaneKind::kHostThread || trace.lane(lane).rank != rank) continue;
    bool loop = false;
    bool autograd = false;
    for (const OperationId op : trace.on_lane(lane)) {
      const trace::RangeDetail* range = trace.range(op);
      if (range == nullptr) continue;
      if (range->kind == trace::RangeKind::kAnnotation)
        loop = loop || classifier.ends_iteration(trace.names()[op.index()]);
      autograd = autograd || is_backward_node(trace, op);
    }
    if (loop && !threads.loop) {
      threads.loop = lane;
    } else if (autograd) {
      threads.autograd.push_back(lane);
    }
  }
  return threads;
}

/// Cuts one rank; names of modules are shared with the others.
class RankCutter {
 public:
  RankCutter(const Trace& trace, RankId rank, Classifier& classifier, Diagnostics& diagnostics)
      : trace_(&trace), rank_(rank), classifier_(&classifier), diagnostics_(&diagnostics) {}

  [[nodiscard]] std::optional<RankCut> run() {
    const Threads threads = find_threads(*trace_, rank_, *classifier_);
    if (!threads.loop) return std::nullopt;
    loop_.emplace(*trace_, *threads.loop);
    origins_.emplace(*trace_, rank_);

    std::vector<Nanoseconds> ends;
    for (const AnnotationSpan& s : loop_->by_start()) {
      if (classifier_->ends_iteration(s.name)) ends.push_back(s.span.end);
    }
    if (ends.size() < 2) return std::nullopt;
    gather(*threads.loop, nullptr);
    for (const LaneId lane : threads.autograd) {
      own_annotations_.emplace_back(*trace_, lane);
      gather(lane, &own_annotations_.back());
    }
    count_other_threads(threads, {ends.front(), ends.back()});
    std::ranges::stable_sort(calls_, {}, [&](const Call& c) { return trace_->start(c.op); });

    RankCut cut{rank_, {}};
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) cut.iterations.push_back(iteration({ends[i], ends[i + 1]}));
    return cut;
  }

 private:
  struct Call {
    OperationId op;
    const ThreadAnnotations* own = nullptr;  ///< of the autograd thread, where it is one
  };

  void gather(LaneId lane, const ThreadAnnotations* own) {
    for (const OperationId op : trace_->on_lane(lane)) {
      if (is_item(*trace_, op)) calls_.push_back({op, own});
    }
  }

  void count_other_threads(const Threads& threads, Interval window) {
    for (std::uint32_t i = 0; i < trace_->lanes().size(); ++i) {
      const LaneId lane{i};
      const trace::Lane& info = trace_->lane(lane);
      if (info.kind != LaneKind::kHostThread || info.rank != rank_ || lane == threads.loop) continue;
      if (std::ranges::find(threads.autograd, lane) != threads.autograd.end()) continue;
      for (const OperationId op : trace_->on_lane(lane)) {
        if (window.contains(trace_->start(op)) && !trace_->launched_by(op).empty()) {
          diagnostics_->count(kOtherThread, trace_->name(op));
        }
      }
    }
  }

  Iteration iteration(Interval host) {
    Iteration result{host, {}};
    Nanoseconds last_end = host.begin;
    std::optional<SegmentKey> last_backward;
    for (const Call& call : calls_) {
      const Nanoseconds start = trace_->start(call.op);
      if (!host.contains(start)) continue;
      const Nanoseconds gap = std::max<Nanoseconds>(0, start - last_end);
      last_end = std::max(last_end, trace_->end(call.op));
      auto segment = classifier_->classify(start, *loop_, call.own);
      if (!segment) {
        diagnostics_->count(kOutsideAnyStage, trace_->name(call.op));
        continue;
      }
      if (segment->stage == Stage::kBackward) {
        if (call.own != nullptr) segment = backward_segment(call.op, *segment, last_backward);
        last_backward = segment;
      }
      result.items.push_back({call.op, *segment, gap});
    }
    return result;
  }

  /// The piece of backward that is the backward of the forward stage this work came from.
  SegmentKey backward_segment(OperationId call, SegmentKey fallback, const std::optional<SegmentKey>& before) {
    const auto forward = origins_->forward_of(call);
    if (!forward) {
      if (!origins_->is_accumulation(call)) diagnostics_->count(kBackwardWithoutForward, trace_->name(call));
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
};

/// Keeps, on every rank, the iterations that all ranks have (by how much they overlap on the host's clock).
void align(Cut& cut, Diagnostics& diagnostics) {
  std::size_t common = cut.ranks.front().iterations.size();
  for (const RankCut& rank : cut.ranks) common = std::min(common, rank.iterations.size());
  for (RankCut& rank : cut.ranks) {
    const std::size_t extra = rank.iterations.size() - common;
    if (extra == 0) continue;
    diagnostics.count(kUnevenIterations, {}, static_cast<std::int64_t>(extra));
    // Keep the run of iterations that lies closest to the first rank's.
    const Nanoseconds anchor = cut.ranks.front().iterations.front().host.begin;
    std::size_t best = 0;
    for (std::size_t shift = 1; shift <= extra; ++shift) {
      const auto distance = [&](std::size_t s) { return std::abs(rank.iterations[s].host.begin - anchor); };
      if (distance(shift) < distance(best)) best = shift;
    }
    const auto first = rank.iterations.begin() + static_cast<std::ptrdiff_t>(best);
    rank.iterations = std::vector<Iteration>(first, first + static_cast<std::ptrdiff_t>(common));
  }
}

}  // namespace

Cut cut(const Trace& trace, const Profile& profile, Diagnostics& diagnostics) {
  ModuleNames modules;
  Classifier classifier(trace, profile, modules);
  Cut result{profile.name, {}, {}};
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) {
    auto rank = RankCutter(trace, {r}, classifier, diagnostics).run();
    if (!rank) {
      throw Error(kNoIterations, trace.ranks()[r].source,
                  fmt::format("no complete training iteration: fewer than two ranges match \"{}\" of the \"{}\" "
                              "annotation profile",
                              profile.iteration_end, profile.name),
                  "record at least three steps with annotations, or give a profile of your own (--profile FILE)");
    }
    result.ranks.push_back(std::move(*rank));
  }
  if (!result.ranks.empty()) align(result, diagnostics);
  result.modules = modules.names();
  return result;
}

}  // namespace interlace::stages
