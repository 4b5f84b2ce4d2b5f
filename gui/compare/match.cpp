#include "gui/compare/match.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "simulator/schedule/schedule.hpp"

namespace interlace::gui {

namespace {

using trace::OperationId;

/// What makes two pieces of work the same: rank, batches from the aligned one, stage, name, and which of them it is.
using Key = std::tuple<std::int32_t, std::int32_t, std::string_view, std::string_view, int>;

/// Batches from the aligned one on.
struct Batches {
  std::int32_t first = INT32_MIN;
  std::int32_t last = INT32_MAX;
};

/// Calls visit(key, operation) for the device work of a run whose stage is known and whose batch is one of these. The
/// views in a key live as long as the run.
template <class Visit>
void for_each_key(const Run& run, std::int32_t aligned_batch, Batches wanted, Visit visit) {
  const trace::Trace& trace = run.trace();
  const Tags& tags = run.scene().tags();
  std::map<std::tuple<std::int32_t, std::int32_t, std::string_view, std::string_view>, int> seen;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (!trace::is_device_work(trace.kind(op)) || tags.stage_of(op) == 0) continue;
    const auto batch = tags.batch_of(op);
    if (!batch || *batch - aligned_batch < wanted.first || *batch - aligned_batch > wanted.last) continue;
    const std::tuple like(trace.ranks()[trace.rank_of(op).index()].number, *batch - aligned_batch,
                          std::string_view(tags.stages()[tags.stage_of(op)]), trace.name(op));
    visit(std::tuple_cat(like, std::tuple(seen[like]++)), op);
  }
}

}  // namespace

std::optional<std::int32_t> trained_batch(const Run& run, Interval step) {
  const trace::Trace& trace = run.trace();
  const Tags& tags = run.scene().tags();
  const auto optimizer = std::ranges::find(tags.stages(), schedule::to_string(schedule::Stage::kOptimizerStep));
  if (optimizer == tags.stages().end()) return std::nullopt;
  const auto stage = static_cast<std::uint8_t>(optimizer - tags.stages().begin());
  std::optional<std::int32_t> batch;
  Nanoseconds latest = step.begin;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (tags.stage_of(op) != stage || !trace::is_device_work(trace.kind(op))) continue;
    if (trace.end(op) <= latest || trace.end(op) > step.end) continue;
    latest = trace.end(op);
    batch = tags.batch_of(op);
  }
  return batch;
}

Matching::Matching(const Run& measured, std::int32_t measured_batch, const Run& predicted,
                   std::int32_t predicted_batch) {
  // The prediction is the smaller of the two: a few steps. What else was recorded costs nothing.
  std::map<Key, OperationId> predicted_works;
  for_each_key(predicted, predicted_batch, {},
               [&](const Key& key, OperationId op) { predicted_works.emplace(key, op); });
  Batches wanted{INT32_MAX, INT32_MIN};
  for (const auto& [key, op] : predicted_works) {
    wanted = {std::min(wanted.first, std::get<1>(key)), std::max(wanted.last, std::get<1>(key))};
  }
  for_each_key(measured, measured_batch, wanted, [&](const Key& key, OperationId op) {
    const auto found = predicted_works.find(key);
    if (found == predicted_works.end()) return;
    join(op, found->second);
    const auto measured_launch = measured.trace().launch_of(op);
    const auto predicted_launch = predicted.trace().launch_of(found->second);
    if (measured_launch && predicted_launch) join(*measured_launch, *predicted_launch);
  });
}

void Matching::join(OperationId measured, OperationId predicted) {
  predicted_of_.emplace(measured, predicted);
  measured_of_.emplace(predicted, measured);
}

std::optional<OperationId> Matching::predicted_of(OperationId measured) const {
  const auto found = predicted_of_.find(measured);
  return found == predicted_of_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<OperationId> Matching::measured_of(OperationId predicted) const {
  const auto found = measured_of_.find(predicted);
  return found == measured_of_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace interlace::gui
