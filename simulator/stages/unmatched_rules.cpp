#include "simulator/stages/unmatched_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/pattern.hpp"

namespace interlace::stages {

namespace {

std::set<std::string_view> annotation_names(const trace::Trace& trace) {
  std::set<trace::StringId> ids;
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    for (const trace::OperationId op : trace.on_lane(trace::LaneId{i})) {
      const trace::RangeDetail* range = trace.range(op);
      if (range != nullptr && range->kind == trace::RangeKind::kAnnotation) ids.insert(trace.names()[op.index()]);
    }
  }
  std::set<std::string_view> names;
  for (const trace::StringId id : ids) names.insert(trace.strings()[id.index()]);
  return names;
}

bool is_built_in(const Rule& rule) {
  const auto is_same = [&](const Rule& other) {
    return rule.stage == other.stage && rule.piece == other.piece && rule.within == other.within &&
           rule.markers == other.markers;
  };
  return std::ranges::any_of(torchrec_profile().rules, is_same) ||
         std::ranges::any_of(interlace_profile().rules, is_same);
}

bool has_built_in_backward(const Profile& profile) {
  return profile.backward.empty() || profile.backward == torchrec_profile().backward ||
         profile.backward == interlace_profile().backward;
}

/// `dense_forward: "^fwd$"`, with the patterns that match nothing; empty where all do.
std::string unmatched(std::string_view place, const std::vector<std::string>& needed,
                      const std::set<std::string_view>& names) {
  std::string patterns;
  for (const std::string& text : needed) {
    const Pattern pattern(text);
    if (std::ranges::any_of(names, [&](std::string_view name) { return pattern.is_in(name); })) continue;
    patterns += fmt::format("{}\"{}\"", patterns.empty() ? "" : ", ", text);
  }
  return patterns.empty() ? patterns : fmt::format("{}: {}", place, patterns);
}

/// What must match for a rule to fit.
std::vector<std::string> needed_by(const Rule& rule) {
  std::vector<std::string> needed = rule.within;
  if (!rule.markers.empty()) needed.push_back(rule.markers.front());
  return needed;
}

}  // namespace

void count_unmatched_rules(const trace::Trace& trace, const Profile& profile, Diagnostics& diagnostics) {
  if (has_built_in_backward(profile) && std::ranges::all_of(profile.rules, is_built_in)) return;
  const std::set<std::string_view> names = annotation_names(trace);
  const auto count = [&](std::string_view whose, const std::vector<std::string>& needed) {
    if (const std::string place = unmatched(whose, needed, names); !place.empty()) {
      diagnostics.count(kUnmatchedRule, place);
    }
  };
  for (const Rule& rule : profile.rules) {
    if (!is_built_in(rule)) count(schedule::to_string(rule.stage), needed_by(rule));
  }
  if (!has_built_in_backward(profile)) count(R"("backward" of the profile)", {profile.backward});
}

}  // namespace interlace::stages
