#include "simulator/report/sweep_report.hpp"

#include <algorithm>
#include <cmath>

namespace interlace::report {

namespace {

/// How many values from this one on a schedule stays among the fastest.
std::size_t stay(const SweepReport& report, std::size_t value, std::size_t schedule) {
  std::size_t end = value;
  while (end < report.values.size() && is_among_fastest(report.rows[end], schedule)) ++end;
  return end - value;
}

/// Of the fastest at a value, as far as predictions can tell, the one that stays so for most values; of several the one
/// asked for first. None where none may be taken.
std::optional<std::size_t> leader(const SweepReport& report, std::size_t value) {
  std::optional<std::size_t> found;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < report.rows[value].size(); ++i) {
    const std::size_t length = stay(report, value, i);
    if (length <= longest) continue;
    longest = length;
    found = i;
  }
  return found;
}

double step(const SweepReport& report, std::size_t value, std::size_t schedule) {
  return static_cast<double>(report.rows[value][schedule].step_time_ns);
}

/// Where the lines of two schedules last cross in front of a value, at which `by` is ahead or `overtaken` is out.
Overtaking crossing(const SweepReport& report, std::size_t overtaken, std::size_t by, std::size_t clear_from) {
  Overtaking found{.overtaken = overtaken,
                   .by = by,
                   .from = clear_from - 1,
                   .to = clear_from,
                   .at = std::nullopt,
                   .clear_from = clear_from};
  const auto lead = [&](std::size_t value) { return step(report, value, by) - step(report, value, overtaken); };
  for (std::size_t to = clear_from; to > 0; --to) {
    if (lead(to) >= 0) return found;  // it is ahead, and no longer to be taken
    if (lead(to - 1) < 0) continue;
    found.from = to - 1;
    found.to = to;
    const double part = lead(to - 1) / (lead(to - 1) - lead(to));
    // A step is a sum of times.
    const auto time = [&](std::size_t value) {
      return report.is_bandwidth ? 1 / report.values[value] : report.values[value];
    };
    const double at = std::lerp(time(to - 1), time(to), part);
    found.at = report.is_bandwidth ? 1 / at : at;
    return found;
  }
  return found;
}

}  // namespace

double cost(SweepScale scale, double less, Nanoseconds step_at_less, double more, Nanoseconds step_at_more) {
  const auto before = static_cast<double>(step_at_less);
  const auto after = static_cast<double>(step_at_more);
  if (scale == SweepScale::kTimes) return std::log(after / before) / std::log(more / less);
  return (after - before) / ((more - less) * static_cast<double>(kMicrosecond));
}

std::vector<Overtaking> overtakings(const SweepReport& report) {
  std::vector<Overtaking> all;
  std::optional<std::size_t> ahead;
  for (std::size_t value = 0; value < report.values.size(); ++value) {
    if (ahead && is_among_fastest(report.rows[value], *ahead)) continue;
    const std::optional<std::size_t> next = leader(report, value);
    if (ahead && next) all.push_back(crossing(report, *ahead, *next, value));
    if (next) ahead = next;
  }
  return all;
}

FlatEnds flat_ends(const SweepReport& report, std::size_t schedule) {
  constexpr double kNoise = 0.001;  // of a step: what jitter makes of a change that does nothing
  const auto is_flat_between = [&](std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax(a, b);
    const double before = step(report, low, schedule);
    const double after = step(report, high, schedule);
    const double change = std::abs(after - before);
    if (change > kToldApart * before) return false;  // little a percent, and much in all
    return change < kNoise * before ||
           std::abs(cost(report.scale, report.values[low], report.rows[low][schedule].step_time_ns, report.values[high],
                         report.rows[high][schedule].step_time_ns)) < kHardlyAny;
  };
  // From the value before, which a long flat part would hide, and from the end, as a close one may differ by noise.
  const std::size_t last = report.values.size() - 1;
  std::size_t up_to = 0;
  while (up_to < last && is_flat_between(up_to, up_to + 1) && is_flat_between(0, up_to + 1)) ++up_to;
  std::size_t from = last;
  while (from > 0 && is_flat_between(from - 1, from) && is_flat_between(from - 1, last)) --from;
  FlatEnds ends;
  if (up_to > 0) ends.up_to = up_to;
  if (from < last) ends.from = from;
  return ends;
}

std::vector<std::string> brief_names(const SweepReport& report) {
  const auto last_part = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };
  const std::vector<Prediction>& row = report.rows.front();
  std::vector<std::string> names;
  for (const Prediction& one : row) {
    const std::string brief = last_part(one.schedule);
    const auto alike =
        std::ranges::count_if(row, [&](const auto& other) { return last_part(other.schedule) == brief; });
    names.push_back(alike == 1 ? brief : one.schedule);
  }
  return names;
}

bool is_recorded(const SweepReport& report, std::size_t schedule) {
  return report.recorded.schedule && *report.recorded.schedule == report.rows.front()[schedule].schedule;
}

}  // namespace interlace::report
