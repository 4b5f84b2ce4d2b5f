#include "gui/timeline/measure.hpp"

#include <algorithm>
#include <unordered_map>

namespace interlace::gui {

namespace {

void add(Nanoseconds duration, std::int64_t& count, Nanoseconds& sum, Nanoseconds& shortest, Nanoseconds& longest) {
  shortest = count == 0 ? duration : std::min(shortest, duration);
  longest = std::max(longest, duration);
  sum += duration;
  ++count;
}

}  // namespace

RangeTotals measure(const trace::Trace& trace, const Lanes& lanes, std::span<const RowIndex> rows, Interval range) {
  RangeTotals totals{.range = range, .names = {}};
  std::unordered_map<trace::StringId, std::size_t> position;
  std::vector<Interval> busy;
  for (const RowIndex row : rows) {
    const Row& of = lanes.rows[row];
    const auto first = std::ranges::lower_bound(of.spans, range.begin, {}, &Interval::end) - of.spans.begin();
    for (auto at = static_cast<std::size_t>(first); at < of.spans.size() && of.spans[at].begin < range.end; ++at) {
      const Interval& span = of.spans[at];
      const bool instant = span.begin == span.end;
      if (!instant && span.end <= range.begin) continue;
      add(span.length(), totals.count, totals.sum, totals.shortest, totals.longest);
      if (span.begin < range.begin || span.end > range.end) ++totals.cut;
      busy.push_back(intersection(span, range));
      const trace::StringId name = trace.names()[of.operations[at].index()];
      const auto [found, is_new] = position.try_emplace(name, totals.names.size());
      if (is_new) totals.names.push_back({.name = name});
      NameTotals& of_name = totals.names[found->second];
      add(span.length(), of_name.count, of_name.sum, of_name.shortest, of_name.longest);
    }
  }
  totals.busy = IntervalSet(std::move(busy)).length();
  std::ranges::stable_sort(totals.names, std::greater{}, &NameTotals::sum);
  return totals;
}

}  // namespace interlace::gui
