#include "simulator/explain/matching.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace interlace::explain {

namespace {

using trace::OperationId;

/// Device work of a rank that starts in its steps.
template <class Visit>
void for_each_work(const Run& run, std::size_t rank, Visit visit) {
  const trace::Trace& trace = *run.trace;
  const Interval window{run.steps[rank].front().begin, run.steps[rank].back().end};
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    if (trace.lane({l}).rank.index() != rank || trace.lane({l}).kind != trace::LaneKind::kStream) continue;
    for (const OperationId op : trace.on_lane({l})) {
      if (trace::is_device_work(trace.kind(op)) && window.contains(trace.start(op))) visit(op);
    }
  }
}

/// Of one rank: where each work of a step stands on its stream.
struct StreamPlaces {
  std::vector<NameId> order;  ///< of one step, by stream and start
  std::map<NameId, std::uint32_t> stream_of;
};

StreamPlaces places(const Run& run, const NamedWork& names, std::size_t rank) {
  StreamPlaces result;
  const trace::Trace& trace = *run.trace;
  const Interval step = run.steps[rank].front();
  for_each_work(run, rank, [&](OperationId op) {
    if (!step.contains(trace.start(op))) return;
    const NameId name = *names[op.index()];
    if (result.stream_of.try_emplace(name, trace.lane_of(op).value).second) result.order.push_back(name);
  });
  return result;
}

/// The works of `mine` that are not in the longest common order with `other`: patience sorting.
std::vector<NameId> out_of_order(const std::vector<NameId>& mine, const std::map<NameId, std::size_t>& place_in_other) {
  std::vector<std::size_t> tails;  // position in `mine` of the end of the best order of each length
  std::vector<std::ptrdiff_t> before(mine.size(), -1);
  const auto place = [&](std::size_t i) { return place_in_other.at(mine[i]); };
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto at = std::ranges::lower_bound(tails, place(i), {}, place);
    if (at != tails.begin()) before[i] = static_cast<std::ptrdiff_t>(*std::prev(at));
    if (at == tails.end()) {
      tails.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<bool> in_order(mine.size(), false);
  for (std::ptrdiff_t i = tails.empty() ? -1 : static_cast<std::ptrdiff_t>(tails.back()); i >= 0;) {
    in_order[static_cast<std::size_t>(i)] = true;
    i = before[static_cast<std::size_t>(i)];
  }
  std::vector<NameId> moved;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (!in_order[i]) moved.push_back(mine[i]);
  }
  return moved;
}

std::vector<NameId> moved_works(const StreamPlaces& measured, const StreamPlaces& predicted) {
  std::map<std::uint32_t, std::vector<NameId>> by_stream;
  std::map<NameId, std::size_t> place;
  for (const NameId name : predicted.order) place.emplace(name, place.size());
  for (const NameId name : measured.order) {
    if (place.contains(name)) by_stream[measured.stream_of.at(name)].push_back(name);
  }
  std::vector<NameId> all;
  for (const auto& [stream, works] : by_stream) {
    const auto moved = out_of_order(works, place);
    all.insert(all.end(), moved.begin(), moved.end());
  }
  return all;
}

void add_moved(const ComparedRun& measured, const ComparedRun& predicted, const WorkNames& known,
               std::span<const NameTimes> times, Matching& result) {
  std::map<std::string, Moved> by_stage;
  const std::size_t ranks = measured.ranks.size();
  for (std::size_t i = 0; i < ranks; ++i) {
    for (const NameId name : moved_works(places(*measured.run, *measured.names, measured.ranks[i]),
                                         places(*predicted.run, *predicted.names, predicted.ranks[i]))) {
      Moved& moved = by_stage[known[name].stage];
      moved.stage = known[name].stage;
      moved.works += 1.0 / static_cast<double>(ranks);
      moved.time_ns += std::llround(times[name.index()].own_ns / static_cast<double>(ranks));
    }
  }
  for (auto& [stage, moved] : by_stage) result.moved.push_back(std::move(moved));
  std::ranges::stable_sort(result.moved, std::ranges::greater{}, &Moved::time_ns);
}

/// By NameId: whether a run has it at all. A trace of few steps may lack the works of a stage that runs far ahead of
/// the optimizer within its steps, though it has them before.
std::vector<bool> present(const NamedWork& works, std::size_t known) {
  std::vector<bool> there(known, false);
  for (const auto& name : works) {
    if (name) there[name->index()] = true;
  }
  return there;
}

std::vector<Uneven> uneven_of(const std::map<std::string, Uneven>& by_stage) {
  constexpr double kLeast = 0.05;  // what one decimal shows
  const auto difference = [](const Uneven& row) { return std::abs(row.predicted - row.measured); };
  std::vector<Uneven> uneven;
  for (const auto& [stage, row] : by_stage) {
    if (difference(row) >= kLeast) uneven.push_back({stage, row.measured, row.predicted});
  }
  std::ranges::stable_sort(uneven, std::ranges::greater{}, difference);
  return uneven;
}

}  // namespace

std::vector<NameTimes> name_times(const ComparedRun& compared, std::size_t known) {
  const Run& run = *compared.run;
  const NamedWork& names = *compared.names;
  std::vector<NameTimes> times(known);
  struct Own {
    double sum = 0;
    double count = 0;
  };
  std::vector<Own> own(known);
  std::map<std::pair<NameId, std::int64_t>, double> collectives;  // name and batch: the shortest
  for (const std::size_t rank : compared.ranks) {
    const double weight = 1.0 / static_cast<double>(run.steps[rank].size() * compared.ranks.size());
    for_each_work(run, rank, [&](OperationId op) {
      const NameId name = *names[op.index()];
      const auto duration = static_cast<double>(run.trace->duration(op));
      times[name.index()].works += weight;
      times[name.index()].time_ns += duration * weight;
      const trace_check::StageRun* stage = run.staged->run(op);
      if (run.trace->kind(op) == trace::OperationKind::kCollective && stage != nullptr) {
        const auto [shortest, is_new] = collectives.try_emplace({name, stage->batch}, duration);
        if (!is_new) shortest->second = std::min(shortest->second, duration);
      } else {
        own[name.index()].sum += duration;
        own[name.index()].count += 1;
      }
    });
  }
  for (const auto& [key, shortest] : collectives) {
    own[key.first.index()].sum += shortest;
    own[key.first.index()].count += 1;
  }
  for (std::size_t i = 0; i < known; ++i) times[i].own_ns = own[i].count > 0 ? own[i].sum / own[i].count : 0;
  return times;
}

Matching match(const ComparedRun& measured, std::span<const NameTimes> before, const ComparedRun& predicted,
               std::span<const NameTimes> now, const WorkNames& known) {
  const std::vector<bool> in_measured = present(*measured.names, known.size());
  const std::vector<bool> in_predicted = present(*predicted.names, known.size());
  Matching result;
  std::map<std::tuple<bool, std::string, std::string>, Unmatched> unmatched;
  std::map<std::pair<std::string, std::string>, OperationTimes> operations;
  std::map<std::string, Uneven> by_stage;
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    const WorkName& name = known[{i}];
    if (name.operation.empty()) continue;
    result.measured += before[i].works;
    result.predicted += now[i].works;
    if (in_measured[i] && in_predicted[i]) {
      result.matched_measured += before[i].works;
      result.matched_predicted += now[i].works;
      by_stage[name.stage].measured += before[i].works;
      by_stage[name.stage].predicted += now[i].works;
      if (before[i].works == 0 || now[i].works == 0) continue;
      OperationTimes& times = operations[{name.stage, name.operation}];
      times.stage = name.stage;
      times.operation = name.operation;
      ++times.works;
      times.measured_ns += std::llround(before[i].own_ns);
      times.predicted_ns += std::llround(now[i].own_ns);
    } else if (before[i].works > 0 || now[i].works > 0) {
      const bool only_measured = before[i].works > 0;
      const NameTimes& times = only_measured ? before[i] : now[i];
      Unmatched& row = unmatched[{only_measured, name.stage, name.operation}];
      row.measured = only_measured;
      row.stage = name.stage;
      row.operation = name.operation;
      row.works += times.works;
      row.time_ns += std::llround(times.time_ns);
    }
  }
  for (auto& [key, row] : unmatched) result.unmatched.push_back(std::move(row));
  std::ranges::stable_sort(result.unmatched, std::ranges::greater{}, &Unmatched::time_ns);
  const auto change = [](const OperationTimes& times) { return std::abs(times.predicted_ns - times.measured_ns); };
  for (auto& [key, row] : operations) {
    if (change(row) > 0) result.operations.push_back(std::move(row));
  }
  std::ranges::stable_sort(result.operations, std::ranges::greater{}, change);
  add_moved(measured, predicted, known, before, result);
  result.uneven = uneven_of(by_stage);
  return result;
}

}  // namespace interlace::explain
