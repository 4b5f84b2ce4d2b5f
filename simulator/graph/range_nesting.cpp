#include "simulator/graph/range_nesting.hpp"

#include <algorithm>
#include <cctype>

namespace interlace::graph {

using trace::OperationId;
using trace::OperationKind;

RangeNesting::RangeNesting(const trace::Trace& trace) : enclosing_(trace.size(), kOutside) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    if (trace.lane({l}).kind != trace::LaneKind::kHostThread) continue;
    open.clear();
    for (const OperationId op : trace.on_lane({l})) {
      while (!open.empty() && trace.end({open.back()}) <= trace.start(op)) open.pop_back();
      if (!open.empty()) enclosing_[op.index()] = open.back();
      if (trace.kind(op) != OperationKind::kRange) continue;
      const trace::RangeKind kind = trace.range(op)->kind;
      if (kind == trace::RangeKind::kAnnotation || kind == trace::RangeKind::kCpuOp) open.push_back(op.value);
    }
  }
}

std::optional<OperationId> RangeNesting::enclosing(OperationId op) const {
  const std::uint32_t range = enclosing_[op.index()];
  return range == kOutside ? std::nullopt : std::optional(OperationId{range});
}

std::optional<OperationId> RangeNesting::outermost(OperationId op) const {
  std::optional<OperationId> outer = enclosing(op);
  while (outer) {
    const auto next = enclosing(*outer);
    if (!next) return outer;
    outer = next;
  }
  return outer;
}

namespace {

static constexpr std::size_t kSiteDepth = 4;

/// "## forward 28 ##" becomes "## forward # ##".
std::string without_numbers(std::string_view name) {
  std::string kept;
  kept.reserve(name.size());
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      kept += c;
    } else if (kept.empty() || kept.back() != '#') {
      kept += '#';
    }
  }
  return kept;
}

}  // namespace

SiteTable::SiteTable(const trace::Trace& trace, const RangeNesting& nesting)
    : trace_(trace), nesting_(nesting), of_range_(trace.size()) {}

SiteId SiteTable::site_of(OperationId op) {
  const auto range = nesting_.enclosing(op);
  if (!range) {
    if (!outside_) outside_ = intern({});
    return *outside_;
  }
  std::optional<SiteId>& known = of_range_[range->index()];
  if (!known) {
    std::vector<std::string> names;
    for (auto outer = range; outer && names.size() < kSiteDepth; outer = nesting_.enclosing(*outer)) {
      names.push_back(without_numbers(trace_.name(*outer)));
    }
    std::ranges::reverse(names);
    known = intern(std::move(names));
  }
  return *known;
}

SiteId SiteTable::intern(std::vector<std::string> names) {
  std::string key;
  for (const std::string& name : names) key += name + '\n';
  const auto [entry, is_new] = ids_.try_emplace(std::move(key), SiteId{static_cast<std::uint32_t>(names_.size())});
  if (is_new) names_.push_back(std::move(names));
  return entry->second;
}

}  // namespace interlace::graph
