#include "simulator/stages/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace interlace::stages {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::RankId;
using trace::Trace;

std::string place(const Trace& trace, RankId rank, Nanoseconds time, std::string_view what) {
  return fmt::format("rank {} at {:.3f} ms: {}", trace.ranks()[rank.index()].number, static_cast<double>(time) / 1e6,
                     what);
}

void find_work_without_launch(const Trace& trace, RankId rank, LaneId stream, std::vector<Damage>& found) {
  const auto on_stream = trace.on_lane(stream);
  std::optional<Nanoseconds> next_launch;                    // of the work behind
  std::vector<std::pair<OperationId, Nanoseconds>> orphans;  // and when they were launched at the latest; last first
  for (auto op = on_stream.rbegin(); op != on_stream.rend(); ++op) {
    if (!trace::is_device_work(trace.kind(*op))) continue;
    if (const auto launch = trace.launch_of(*op)) {
      next_launch = trace.start(*launch);
    } else {
      orphans.emplace_back(*op, std::min(trace.start(*op), next_launch.value_or(trace.start(*op))));
    }
  }
  Nanoseconds last_launch = 0;
  auto orphan = orphans.rbegin();
  for (const OperationId op : on_stream) {
    if (orphan == orphans.rend()) break;
    if (op != orphan->first) {
      const auto launch = trace::is_device_work(trace.kind(op)) ? trace.launch_of(op) : std::nullopt;
      if (launch) last_launch = trace.start(*launch);
      continue;
    }
    const Nanoseconds latest = orphan->second;
    found.push_back({{std::min(last_launch, latest), latest + 1},
                     place(trace, rank, trace.start(op), fmt::format("{} without its launch", trace.name(op)))});
    ++orphan;
  }
}

bool overlap(Interval a, Interval b) { return a.begin < b.end && b.begin < a.end; }

/// The longest run of iterations that are not left out: [first, second).
std::pair<std::size_t, std::size_t> longest_run(const std::vector<bool>& left_out) {
  std::pair<std::size_t, std::size_t> best{0, 0};
  std::size_t first = 0;
  for (std::size_t i = 0; i <= left_out.size(); ++i) {
    if (i < left_out.size() && !left_out[i]) continue;
    if (i - first > best.second - best.first) best = {first, i};
    first = i + 1;
  }
  return best;
}

}  // namespace

std::vector<Damage> find_damage(const Trace& trace, RankId rank) {
  std::vector<Damage> found;
  for (const OperationId call : trace.launches_without_work()) {
    if (trace.rank_of(call) != rank) continue;
    const Nanoseconds start = trace.start(call);
    found.push_back(
        {{start, start + 1}, place(trace, rank, start, fmt::format("{} without its kernel", trace.name(call)))});
  }
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const trace::Lane& lane = trace.lane(LaneId{i});
    if (lane.kind == trace::LaneKind::kStream && lane.rank == rank) {
      find_work_without_launch(trace, rank, LaneId{i}, found);
    }
  }
  return found;
}

std::vector<Damage> find_doubled_iterations(const Trace& trace, const RankCut& cut, const ThreadAnnotations& loop,
                                            Classifier& classifier) {
  std::vector<int> counts(cut.iterations.size());
  for (const AnnotationSpan& s : loop.by_start()) {
    if (!classifier.opens_backward(s.name)) continue;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += cut.iterations[i].host.contains(s.span.begin) ? 1 : 0;
  }
  // An iteration may do with fewer than the others.
  std::vector<int> some;
  std::ranges::copy_if(counts, std::back_inserter(some), [](int count) { return count > 0; });
  std::ranges::sort(some);
  const int usual = some.empty() ? 0 : counts.size() == 1 ? 1 : some[(some.size() - 1) / 2];
  std::vector<Damage> found;
  for (std::size_t i = 0; usual > 0 && i < counts.size(); ++i) {
    if (counts[i] < 2 * usual) continue;
    const Interval host = cut.iterations[i].host;
    found.push_back({host, place(trace, cut.rank, host.begin, fmt::format("backward runs {} times", counts[i]))});
  }
  return found;
}

void leave_out_damaged(Cut& cut, std::span<const std::vector<Damage>> damage, Diagnostics& diagnostics) {
  std::vector<Interval> damaged;
  std::string first_place;
  std::vector<std::vector<bool>> left_out;
  for (std::size_t r = 0; r < cut.ranks.size(); ++r) {
    auto& flags = left_out.emplace_back();
    for (const Iteration& iteration : cut.ranks[r].iterations) {
      const auto hit =
          std::ranges::find_if(damage[r], [&](const Damage& d) { return overlap(d.host, iteration.host); });
      flags.push_back(hit != damage[r].end());
      if (!flags.back()) continue;
      if (damaged.empty()) first_place = hit->what;
      damaged.push_back(iteration.host);
    }
  }
  if (damaged.empty()) return;
  bool some_remain = true;
  for (std::size_t r = 0; r < cut.ranks.size(); ++r) {
    for (std::size_t i = 0; i < left_out[r].size(); ++i) {
      const Interval host = cut.ranks[r].iterations[i].host;
      left_out[r][i] = left_out[r][i] || std::ranges::any_of(damaged, [&](Interval other) {
                         return 2 * intersection(host, other).length() > host.length();
                       });
    }
    some_remain = some_remain && std::ranges::find(left_out[r], false) != left_out[r].end();
  }
  if (!some_remain) {
    diagnostics.count(kNoSoundIteration, first_place, static_cast<std::int64_t>(damaged.size()));
    return;
  }
  for (std::size_t r = 0; r < cut.ranks.size(); ++r) {
    RankCut& rank = cut.ranks[r];
    const auto [first, last] = longest_run(left_out[r]);
    const std::size_t all = rank.iterations.size();
    if (last - first == all) continue;
    diagnostics.count(kDamagedIterations, first_place, static_cast<std::int64_t>(all - (last - first)));
    if (first > 0) rank.opening.reset();
    if (last < all) rank.closing.reset();
    const auto begin = rank.iterations.begin();
    rank.iterations =
        std::vector<Iteration>(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last));
  }
}

}  // namespace interlace::stages
