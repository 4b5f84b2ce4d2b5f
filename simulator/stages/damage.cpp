#include "simulator/stages/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

/// A name without its first whole number, and that number.
std::pair<std::string, std::string> split_at_number(std::string_view name) {
  static constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = std::min(name.find_first_of(kDigits), name.size());
  const std::size_t end = std::min(name.find_first_not_of(kDigits, begin), name.size());
  return {std::string(name.substr(0, begin)).append(name.substr(end)), std::string(name.substr(begin, end - begin))};
}

/// How often backward begins anew. One in parts has a range for each, of different names or with the same number of an
/// iteration: only ranges of one name and different numbers, or without any, are several.
int count_backwards(const Trace& trace, Interval host, const ThreadAnnotations& loop, Classifier& classifier) {
  std::map<std::string, std::pair<int, std::set<std::string>>> by_name;  // ranges without a number, and the numbers
  std::optional<Nanoseconds> outer_end;
  for (const AnnotationSpan& s : loop.by_start()) {
    if (!classifier.opens_backward(s.name) || !host.contains(s.span.begin)) continue;
    if (outer_end && s.span.begin < *outer_end) continue;  // a part of the one around it
    outer_end = s.span.end;
    const auto [name, number] = split_at_number(trace.strings()[s.name.index()]);
    auto& [unnumbered, numbers] = by_name[name];
    if (number.empty()) {
      ++unnumbered;
    } else {
      numbers.insert(number);
    }
  }
  int most = 0;
  for (const auto& [name, count] : by_name) most = std::max(most, count.first + static_cast<int>(count.second.size()));
  return most;
}

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
  if (cut.iterations.empty()) return {};
  std::vector<int> counts;
  counts.reserve(cut.iterations.size());
  for (const Iteration& iteration : cut.iterations) {
    counts.push_back(count_backwards(trace, iteration.host, loop, classifier));
  }
  // An iteration may do with fewer than the others.
  std::vector<int> some;
  std::ranges::copy_if(counts, std::back_inserter(some), [](int count) { return count > 0; });
  std::ranges::sort(some);
  int usual = some.empty() ? 0 : some[(some.size() - 1) / 2];
  if (usual > 0 && counts.size() == 1) {
    // What is recorded of the iterations before and behind tells whether backward runs several times in each.
    const Interval before{std::numeric_limits<Nanoseconds>::min(), cut.iterations.front().host.begin};
    const Interval behind{cut.iterations.front().host.end, std::numeric_limits<Nanoseconds>::max()};
    usual = std::max(
        {1, count_backwards(trace, before, loop, classifier), count_backwards(trace, behind, loop, classifier)});
  }
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
