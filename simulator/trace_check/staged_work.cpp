#include "simulator/trace_check/staged_work.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "simulator/memory/recorded_memory.hpp"
#include "simulator/stages/backward_origin.hpp"

namespace interlace::trace_check {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;

struct Label {
  schedule::Stage stage = schedule::Stage::kCompute;
  std::int64_t batch = 0;
};

/// "backward 12".
std::optional<Label> label_of(std::string_view name) {
  const std::size_t space = name.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto stage = schedule::stage_named(name.substr(0, space));
  if (!stage) return std::nullopt;
  Label label{*stage, 0};
  const auto [end, error] = std::from_chars(name.data() + space + 1, name.data() + name.size(), label.batch);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return label;
}

/// Which run the host of a rank was in, by name.
class ByNames {
 public:
  explicit ByNames(const trace::Trace& trace) : trace_(&trace) { work_.run_of.resize(trace.size()); }

  StagedWork run() {
    for (std::uint32_t l = 0; l < trace_->lanes().size(); ++l) {
      if (trace_->lane({l}).kind == trace::LaneKind::kHostThread) find_ranges({l});
    }
    for (std::uint32_t i = 0; i < trace_->size(); ++i) {
      const OperationId op{i};
      const OperationKind kind = trace_->kind(op);
      const bool on_host = kind >= OperationKind::kHostCall && kind <= OperationKind::kHostSync;
      if (on_host || kind == OperationKind::kAllocation) {
        work_.run_of[i] = run_around(op);
      } else if (const auto call = trace_->launch_of(op)) {
        work_.run_of[i] = run_around(*call);
      }
    }
    return std::move(work_);
  }

 private:
  struct Span {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::uint32_t run = 0;
  };

  void find_ranges(LaneId thread) {
    std::vector<Span>& spans = spans_[thread];
    for (const OperationId op : trace_->on_lane(thread)) {
      const trace::RangeDetail* range = trace_->range(op);
      if (range == nullptr) continue;
      if (stages::is_backward_node(*trace_, op)) autograd_.insert(thread);
      const bool annotation = range->kind == trace::RangeKind::kAnnotation;
      if (!annotation && range->kind != trace::RangeKind::kOther) continue;
      StageRun run;
      if (const auto label = annotation ? label_of(trace_->name(op)) : std::nullopt) {
        run.stage = label->stage;
        run.batch = label->batch;
      } else if (const auto part = stages::part_label_of(trace_->name(op))) {
        const auto stage = open_on(thread, trace_->start(op));
        if (!stage) continue;
        run = work_.runs[*stage];
        run.piece = part->piece;
        if (!part->module.empty()) run.module = module_number(part->module);
      } else {
        continue;
      }
      run.rank = trace_->rank_of(op);
      spans.push_back({trace_->start(op), trace_->end(op), static_cast<std::uint32_t>(work_.runs.size())});
      work_.runs.push_back(run);
    }
  }

  std::uint32_t module_number(std::string_view name) {
    const auto [known, is_new] =
        modules_.try_emplace(std::string(name), static_cast<std::uint32_t>(work_.modules.size()));
    if (is_new) work_.modules.emplace_back(name);
    return known->second;
  }

  /// Autograd's threads work for the range that is open on another; where several are, for backward.
  [[nodiscard]] std::optional<std::uint32_t> run_around(OperationId call) const {
    const LaneId thread = trace_->lane_of(call);
    if (const auto own = open_on(thread, trace_->start(call))) return own;
    if (!may_be_of_autograd(thread)) return std::nullopt;
    std::vector<std::uint32_t> open;
    for (const auto& [lane, spans] : spans_) {
      if (lane == thread || trace_->lane(lane).rank != trace_->lane(thread).rank) continue;
      if (const auto run = open_on(lane, trace_->start(call))) open.push_back(*run);
    }
    if (open.size() > 1) {
      std::erase_if(open, [&](std::uint32_t run) { return work_.runs[run].stage != schedule::Stage::kBackward; });
    }
    return open.size() == 1 ? std::optional(open.front()) : std::nullopt;
  }

  /// Where the recording has PyTorch's operators, they tell autograd's threads from others, such as loaders of batches.
  [[nodiscard]] bool may_be_of_autograd(LaneId thread) const {
    return autograd_.contains(thread) || std::ranges::none_of(autograd_, [&](LaneId known) {
             return trace_->lane(known).rank == trace_->lane(thread).rank;
           });
  }

  /// The range open on a thread at a time: the innermost, which is the last to have begun.
  [[nodiscard]] std::optional<std::uint32_t> open_on(LaneId thread, Nanoseconds time) const {
    const auto found = spans_.find(thread);
    if (found == spans_.end()) return std::nullopt;
    const std::vector<Span>& spans = found->second;
    auto at = std::ranges::upper_bound(spans, time, {}, &Span::start);
    // A stage holds its parts one after another: the stage around one is at most so many ranges back.
    for (int steps = 0; at != spans.begin() && steps < kMostParts; ++steps) {
      --at;
      if (time < at->end || (time == at->end && time == at->start)) return at->run;
    }
    return std::nullopt;
  }

  static constexpr int kMostParts = 256;

  const trace::Trace* trace_;
  StagedWork work_;
  std::map<LaneId, std::vector<Span>> spans_;  ///< by start
  std::set<LaneId> autograd_;                  ///< threads seen to run the functions of backward
  std::map<std::string, std::uint32_t> modules_;
};

}  // namespace

StagedWork staged_by(const trace::Trace& trace, const stages::Cut& cut, const schedule::Schedule& recorded) {
  StagedWork work;
  work.run_of.resize(trace.size());
  work.modules = cut.modules;
  for (const stages::RankCut& rank : cut.ranks) {
    for (std::size_t i = 0; i < rank.iterations.size(); ++i) {
      std::map<stages::SegmentKey, std::uint32_t> run_of;
      const auto run_for = [&](const stages::SegmentKey& segment) {
        const auto [known, is_new] = run_of.try_emplace(segment, static_cast<std::uint32_t>(work.runs.size()));
        if (!is_new) return known->second;
        std::optional<std::uint32_t> module;
        if (segment.module) module = segment.module->value;
        work.runs.push_back({rank.rank, segment.stage, segment.piece, module,
                             static_cast<std::int64_t>(i) + memory::batch_offset(recorded, segment)});
        return known->second;
      };
      for (const stages::Item& item : rank.iterations[i].items) {
        const std::uint32_t run = run_for(item.segment);
        work.run_of[item.call.index()] = run;
        for (const OperationId op : trace.launched_by(item.call)) work.run_of[op.index()] = run;
      }
      for (const stages::MemoryItem& item : rank.iterations[i].memory) {
        if (item.segment && !item.between_stages) work.run_of[item.event.index()] = run_for(*item.segment);
      }
    }
  }
  return work;
}

StagedWork staged_by_names(const trace::Trace& trace) { return ByNames(trace).run(); }

bool names_its_stages(const trace::Trace& trace) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::RangeDetail* range = trace.range({i});
    if (range != nullptr && range->kind == trace::RangeKind::kAnnotation && label_of(trace.name({i}))) return true;
  }
  return false;
}

}  // namespace interlace::trace_check
