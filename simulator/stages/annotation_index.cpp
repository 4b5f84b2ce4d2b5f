#include "simulator/stages/annotation_index.hpp"

#include <algorithm>

namespace interlace::stages {

std::size_t PatternCache::add(const std::string& pattern) {
  const auto same = std::ranges::find(entries_, pattern, &Entry::text);
  if (same != entries_.end()) return static_cast<std::size_t>(same - entries_.begin());
  entries_.push_back({pattern, Pattern(pattern), std::vector(trace_->strings().size(), Known::kUntested), {}});
  return entries_.size() - 1;
}

void PatternCache::test(Entry& entry, trace::StringId name) {
  const std::string_view text = trace_->text(name);
  const bool matches = entry.expression.is_in(text);
  entry.known[name.index()] = matches ? Known::kYes : Known::kNo;
  if (!matches) return;
  if (const auto capture = entry.expression.capture_in(text)) entry.captures.emplace(name.value, *capture);
}

bool PatternCache::matches(std::size_t pattern, trace::StringId name) {
  Entry& entry = entries_[pattern];
  if (entry.known[name.index()] == Known::kUntested) test(entry, name);
  return entry.known[name.index()] == Known::kYes;
}

std::string_view PatternCache::capture(std::size_t pattern, trace::StringId name) {
  if (!matches(pattern, name)) return {};
  const auto found = entries_[pattern].captures.find(name.value);
  return found == entries_[pattern].captures.end() ? std::string_view{} : std::string_view{found->second};
}

ThreadAnnotations::ThreadAnnotations(const trace::Trace& trace, trace::LaneId thread) {
  std::vector<std::size_t> open;
  for (const trace::OperationId op : trace.on_lane(thread)) {
    const trace::RangeDetail* range = trace.range(op);
    if (range == nullptr || range->kind != trace::RangeKind::kAnnotation) continue;
    const AnnotationSpan span{{trace.start(op), trace.end(op)}, trace.names()[op.index()]};
    while (!open.empty() && spans_[open.back()].span.end <= span.span.begin) open.pop_back();
    parents_.push_back(open.empty() ? std::nullopt : std::optional(open.back()));
    open.push_back(spans_.size());
    spans_.push_back(span);
  }
}

std::vector<AnnotationSpan> ThreadAnnotations::enclosing(Nanoseconds t) const {
  const auto after = std::ranges::upper_bound(spans_, t, {}, [](const AnnotationSpan& s) { return s.span.begin; });
  std::vector<AnnotationSpan> stack;
  if (after == spans_.begin()) return stack;
  for (auto at = std::optional(static_cast<std::size_t>(after - spans_.begin() - 1)); at; at = parents_[*at]) {
    if (spans_[*at].span.contains(t)) stack.push_back(spans_[*at]);
  }
  std::ranges::reverse(stack);
  return stack;
}

}  // namespace interlace::stages
