#include "gui/session/tagging.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "simulator/analysis/annotations.hpp"

namespace interlace::gui {

namespace {

using trace::OperationId;
using trace::OperationKind;

/// Which batch a stage works on, relative to the iteration.
std::map<schedule::Stage, std::int32_t> batch_offsets(const schedule::Schedule& schedule) {
  std::map<schedule::Stage, std::int32_t> offsets;
  const auto add = [&](const schedule::Step& step) {
    if (const auto* stage = std::get_if<schedule::StageStep>(&step.action))
      offsets.try_emplace(stage->stage, stage->batch);
  };
  for (const schedule::Step& step : schedule.iteration) {
    add(step);
    if (const auto* each = std::get_if<schedule::ForEachModule>(&step.action)) std::ranges::for_each(each->steps, add);
  }
  return offsets;
}

struct StageAndBatch {
  std::uint8_t stage = 0;
  std::int64_t batch = 0;

  bool operator==(const StageAndBatch&) const = default;
};

/// The cut calls of one host thread by start.
struct KnownCall {
  Nanoseconds start = 0;
  StageAndBatch of;
  std::size_t same_until = 0;  ///< position of the next call that differs
};

void tag(Tags& tags, const trace::Trace& trace, OperationId op, const StageAndBatch& of) {
  tags.set_stage(op, of.stage);
  tags.set_batch(op, of.batch);
  for (const OperationId work : trace.launched_by(op)) {
    tags.set_stage(work, of.stage);
    tags.set_batch(work, of.batch);
  }
}

/// Tags what else a thread did: a span belongs to a stage where the known calls in it, or around it, are all of that.
void spread_over_thread(const trace::Trace& trace, trace::LaneId thread, std::vector<KnownCall>& known, Tags& tags) {
  std::ranges::sort(known, {}, &KnownCall::start);
  for (std::size_t i = known.size(); i-- > 0;) {
    const bool as_next = i + 1 < known.size() && known[i + 1].of == known[i].of;
    known[i].same_until = as_next ? known[i + 1].same_until : i + 1;
  }
  const auto position = [&](Nanoseconds t) {
    return static_cast<std::size_t>(std::ranges::lower_bound(known, t, {}, &KnownCall::start) - known.begin());
  };
  for (const OperationId op : trace.on_lane(thread)) {
    if (tags.stage_of(op) != 0) continue;
    const std::size_t first = position(trace.start(op));
    const std::size_t behind = position(trace.end(op));
    if (first == known.size()) continue;
    const bool holds_one_stage = first < behind && known[first].same_until >= behind;
    const bool lies_in_one = first == behind && first > 0 && known[first - 1].of == known[first].of;
    if (!holds_one_stage && !lies_in_one) continue;
    tags.set_stage(op, known[first].of.stage);
    tags.set_batch(op, known[first].of.batch);
  }
}

/// Stages of work outside the whole iterations, at the ends of a recording: that of work of the same name under the
/// same annotation in them, where there is only one.
class StagesByName {
 public:
  StagesByName(const trace::Trace& trace, const analysis::Annotations& annotations)
      : trace_(&trace), annotations_(&annotations) {}

  void learn(OperationId device_work, std::uint8_t stage) {
    const auto [found, is_new] = stages_.try_emplace(key_of(device_work), stage);
    if (!is_new && found->second != stage) found->second = 0;
  }
  /// 0: not known.
  [[nodiscard]] std::uint8_t stage_of(OperationId device_work) const {
    const auto found = stages_.find(key_of(device_work));
    return found == stages_.end() ? std::uint8_t{0} : found->second;
  }

 private:
  using Key = std::pair<std::uint32_t, std::string_view>;
  [[nodiscard]] Key key_of(OperationId op) const {
    const auto label = annotations_->stage_of(op);
    return {trace_->names()[op.index()].value, label ? label->stage : std::string_view()};
  }

  const trace::Trace* trace_;
  const analysis::Annotations* annotations_;
  std::map<Key, std::uint8_t> stages_;
};

/// The number of the iteration that host time t of a rank falls into: -1 before the first, and behind the last one
/// more.
std::int64_t iteration_at(const stages::Cut& cut, trace::RankId rank, Nanoseconds t) {
  const auto of_rank = std::ranges::find(cut.ranks, rank, &stages::RankCut::rank);
  if (of_rank == cut.ranks.end()) return 0;
  std::int64_t number = -1;
  for (const stages::Iteration& iteration : of_rank->iterations) {
    if (t >= iteration.host.begin) ++number;
  }
  const bool behind = !of_rank->iterations.empty() && t >= of_rank->iterations.back().host.end;
  return behind ? number + 1 : number;
}

void tag_ends(const trace::Trace& trace, const stages::Cut& cut, const std::map<schedule::Stage, std::int32_t>& offsets,
              Tags& tags) {
  const analysis::Annotations annotations(trace);
  StagesByName by_name(trace, annotations);
  const auto is_work = [&](OperationId op) { return trace::is_device_work(trace.kind(op)); };
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (is_work({i}) && tags.stage_of({i}) != 0) by_name.learn({i}, tags.stage_of({i}));
  }
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (!is_work(op) || tags.stage_of(op) != 0) continue;
    const std::uint8_t stage = by_name.stage_of(op);
    const auto launch = trace.launch_of(op);
    if (stage == 0 || !launch) continue;
    const auto known = schedule::stage_named(tags.stages()[stage]);
    const auto offset = known ? offsets.find(*known) : offsets.end();
    const std::int64_t iteration = iteration_at(cut, trace.rank_of(op), trace.start(*launch));
    tag(tags, trace, *launch, {stage, iteration + (offset == offsets.end() ? 0 : offset->second)});
  }
}

Tags from_cut(const trace::Trace& trace, const stages::Cut& cut, const schedule::Schedule* recorded) {
  Tags tags(trace.size());
  const auto offsets = recorded == nullptr ? std::map<schedule::Stage, std::int32_t>{} : batch_offsets(*recorded);
  std::map<trace::LaneId, std::vector<KnownCall>> known;
  for (const stages::RankCut& rank : cut.ranks) {
    for (std::size_t k = 0; k < rank.iterations.size(); ++k) {
      for (const stages::Item& item : rank.iterations[k].items) {
        const auto offset = offsets.find(item.segment.stage);
        const StageAndBatch of{tags.stage_number(schedule::to_string(item.segment.stage)),
                               static_cast<std::int64_t>(k) + (offset == offsets.end() ? 0 : offset->second)};
        tag(tags, trace, item.call, of);
        known[trace.lane_of(item.call)].push_back({trace.start(item.call), of});
      }
    }
  }
  tag_ends(trace, cut, offsets, tags);
  for (auto& [thread, calls] : known) spread_over_thread(trace, thread, calls, tags);
  return tags;
}

/// The stage of the schedule language that a label names ("backward.dense", "embedding_lookup[ebc]"), else the label.
std::string_view stage_word(std::string_view label) {
  const std::string_view word = label.substr(0, label.find_first_of(".["));
  return schedule::stage_named(word) ? word : label;
}

void name_by_annotations(const trace::Trace& trace, std::int64_t first_batch, Tags& tags) {
  const analysis::Annotations annotations(trace);
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (tags.stage_of(op) != 0) continue;
    const auto label = annotations.stage_of(op);
    if (!label) continue;
    tags.set_stage(op, tags.stage_number(stage_word(label->stage)));
    if (label->batch) tags.set_batch(op, *label->batch - first_batch);
  }
}

/// The batch of the first optimizer step in a predicted trace, which is the number of its iteration.
std::int64_t first_trained_batch(const trace::Trace& trace) {
  const std::string_view optimizer = schedule::to_string(schedule::Stage::kOptimizerStep);
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) != OperationKind::kRange) continue;
    const analysis::StageLabel label = analysis::stage_label(trace.name({i}));
    if (label.batch && analysis::is_stage(label.stage, optimizer)) return *label.batch;
  }
  return 0;
}

}  // namespace

Tags tags_of_recording(const trace::Trace& trace, const stages::Cut* cut, const schedule::Schedule* recorded) {
  if (cut != nullptr) return from_cut(trace, *cut, recorded);
  Tags tags(trace.size());
  name_by_annotations(trace, 0, tags);
  return tags;
}

Tags tags_of_prediction(const trace::Trace& trace) {
  Tags tags(trace.size());
  name_by_annotations(trace, first_trained_batch(trace), tags);
  return tags;
}

}  // namespace interlace::gui
