#include "simulator/analysis/annotations.hpp"

#include <algorithm>
#include <charconv>

namespace interlace::analysis {

using trace::LaneId;
using trace::LaneKind;
using trace::OperationId;
using trace::RankId;

namespace {

bool is_annotation(const trace::Trace& trace, OperationId op) {
  return trace.kind(op) == trace::OperationKind::kRange && trace.range(op)->kind == trace::RangeKind::kAnnotation;
}

/// "[weighted]", but not "[lookup]_[weighted]".
bool only_names_a_module(std::string_view label) {
  return label.starts_with('[') && label.find(']') == label.size() - 1;
}

}  // namespace

StageLabel stage_label(std::string_view name) {
  constexpr std::string_view kOpen = "## ";
  constexpr std::string_view kClose = " ##";
  if (name.size() > kOpen.size() + kClose.size() && name.starts_with(kOpen) && name.ends_with(kClose)) {
    name = name.substr(kOpen.size(), name.size() - kOpen.size() - kClose.size());
  }
  const std::size_t cut = name.find_last_of(" #");
  if (cut == std::string_view::npos || cut == 0 || cut + 1 == name.size()) return {name, {}};
  const std::string_view digits = name.substr(cut + 1);
  std::int64_t batch = 0;
  const auto [rest, status] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
  if (status != std::errc{} || rest != digits.data() + digits.size()) return {name, {}};
  return {name.substr(0, cut), batch};
}

bool is_stage(std::string_view label, std::string_view word) {
  if (!label.starts_with(word)) return false;
  return label.size() == word.size() || std::string_view(".[(/: ").find(label[word.size()]) != std::string_view::npos;
}

Annotations::Annotations(const trace::Trace& trace)
    : trace_(&trace),
      enclosing_(trace.size(), kNone),
      annotations_(trace.lanes().size()),
      main_thread_(trace.ranks().size()) {
  std::vector<Nanoseconds> longest(trace.ranks().size(), 0);
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const LaneId lane{i};
    if (trace.lane(lane).kind != LaneKind::kHostThread) continue;
    sweep(lane);
    Nanoseconds inside = 0;
    for (const OperationId op : annotations_[i]) {
      if (enclosing_[op.index()] == kNone) inside += trace.duration(op);
    }
    const std::size_t rank = trace.lane(lane).rank.index();
    if (inside <= longest[rank]) continue;
    longest[rank] = inside;
    main_thread_[rank] = lane;
  }
}

void Annotations::sweep(LaneId thread) {
  std::vector<OperationId> open;
  for (const OperationId op : trace_->on_lane(thread)) {
    while (!open.empty() && trace_->end(open.back()) <= trace_->start(op)) open.pop_back();
    if (!open.empty()) enclosing_[op.index()] = open.back().value;
    if (!is_annotation(*trace_, op)) continue;
    annotations_[thread.index()].push_back(op);
    open.push_back(op);
  }
}

std::optional<OperationId> Annotations::own_thread(OperationId host_work) const {
  const std::uint32_t around = enclosing_[host_work.index()];
  return around == kNone ? std::nullopt : std::optional(OperationId{around});
}

std::optional<LaneId> Annotations::main_thread(RankId rank) const { return main_thread_[rank.index()]; }

std::optional<OperationId> Annotations::on_main_thread(RankId rank, Nanoseconds t) const {
  const auto lane = main_thread_[rank.index()];
  if (!lane) return std::nullopt;
  const auto& sorted = annotations_[lane->index()];
  const auto after = std::ranges::upper_bound(sorted, t, {}, [this](OperationId op) { return trace_->start(op); });
  if (after == sorted.begin()) return std::nullopt;
  // Annotations of a thread nest: the one that holds t is the last one begun, or one around that.
  std::optional<OperationId> candidate = *(after - 1);
  while (candidate && trace_->end(*candidate) <= t) candidate = own_thread(*candidate);
  return candidate;
}

std::optional<OperationId> Annotations::innermost(OperationId op) const {
  if (trace::is_device_work(trace_->kind(op))) {
    const auto launch = trace_->launch_of(op);
    return launch ? innermost(*launch) : std::nullopt;
  }
  if (const auto own = own_thread(op)) return own;
  const RankId rank = trace_->rank_of(op);
  if (trace_->lane_of(op) == main_thread_[rank.index()]) return std::nullopt;
  return on_main_thread(rank, trace_->start(op));
}

std::optional<StageLabel> Annotations::stage_of(OperationId op) const {
  if (trace::is_device_work(trace_->kind(op))) {
    const auto launch = trace_->launch_of(op);
    return launch ? stage_of(*launch) : std::nullopt;
  }
  std::optional<StageLabel> outermost;
  const auto climb = [&](std::optional<OperationId> from) -> std::optional<StageLabel> {
    std::optional<StageLabel> last;
    for (auto at = from; at; at = own_thread(*at)) {
      last = stage_label(trace_->name(*at));
      if (last->batch) return last;
    }
    if (!outermost) outermost = last;
    return std::nullopt;
  };
  if (const auto own = climb(is_annotation(*trace_, op) ? op : own_thread(op))) return own;
  const RankId rank = trace_->rank_of(op);
  if (trace_->lane_of(op) != main_thread_[rank.index()]) {
    if (const auto main = climb(on_main_thread(rank, trace_->start(op)))) return main;
  }
  return outermost;
}

std::string_view Annotations::place_of(OperationId op) const {
  const auto around = innermost(op);
  if (!around) return {};
  const std::string_view label = stage_label(trace_->name(*around)).stage;
  if (!only_names_a_module(label)) return label;
  const auto stage = stage_of(op);
  return stage ? stage->stage : label;
}

}  // namespace interlace::analysis
