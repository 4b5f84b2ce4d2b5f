#include "gui/compare/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>

#include "gui/compare/alignment.hpp"
#include "gui/timeline/explanations.hpp"
#include "gui/timeline/ticks.hpp"
#include "simulator/report/text.hpp"

namespace interlace::gui {

namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "  ·  ") + part;
  return text;
}

void add_overlap(const analysis::OverlapSummary& overlap, std::vector<std::string>& parts) {
  parts.push_back(fmt::format("exposed communication {} ms", milliseconds_text(overlap.exposed_communication_ns)));
  parts.push_back(fmt::format("device idle {} ms", milliseconds_text(overlap.idle_ns)));
}

}  // namespace

std::string facts_of(const Recorded& recorded) {
  const report::RecordedRun& facts = recorded.facts;
  std::vector<std::string> parts;
  if (facts.schedule) parts.push_back(*facts.schedule);
  if (facts.step_time_ns) {
    parts.push_back(fmt::format("{} ms a step as recorded", milliseconds_text(*facts.step_time_ns)));
  }
  if (facts.overlap) add_overlap(*facts.overlap, parts);
  parts.push_back(facts.world_size
                      ? fmt::format("{} of {}", facts.ranks.size(), report::counted(*facts.world_size, "rank"))
                      : report::counted(static_cast<std::int64_t>(facts.ranks.size()), "rank"));
  parts.push_back(report::counted(static_cast<std::int64_t>(recorded.run->trace().size()), "operation"));
  return joined(parts);
}

std::string facts_of(const Forecast& forecast) {
  const report::Prediction& row = forecast.row;
  std::vector<std::string> parts = {fmt::format("{} ms a step ({} - {})", milliseconds_text(row.step_time_ns),
                                                milliseconds_text(row.step_time_low_ns),
                                                milliseconds_text(row.step_time_high_ns))};
  if (row.speedup && forecast.replayed_step_ns) {
    // Not over what was measured: so the line says over what.
    parts.push_back(
        fmt::format("{:.3f}x over {} ms replayed", *row.speedup, milliseconds_text(*forecast.replayed_step_ns)));
  }
  add_overlap(row.overlap, parts);
  if (forecast.replay_error) {
    parts.push_back(
        fmt::format("step corrected: recorded schedule replays {:+.1f} % off", *forecast.replay_error * 100));
  }
  if (auto text = report::hidden_correction(forecast.recorded_hidden_ratio, forecast.replayed_hidden_ratio)) {
    parts.push_back(std::move(*text));
  }
  return joined(parts);
}

std::string losses_of(const Recorded& recorded) {
  constexpr std::ptrdiff_t kMost = 2;
  std::vector<std::string_view> codes;
  for (const Diagnostic& found : recorded.diagnostics.entries()) {
    if (found.severity == Severity::kDataLoss) codes.push_back(found.code);
  }
  if (codes.empty()) return {};
  const std::ptrdiff_t more = std::ssize(codes) - kMost;
  if (more > 0) codes.resize(kMost);
  return fmt::format("data loss ({}{})", fmt::join(codes, ", "), more > 0 ? fmt::format(", {} more", more) : "");
}

std::string hazards_of(const Forecast& forecast) {
  const std::vector<std::string>& hazards = forecast.row.hazards;
  if (hazards.empty()) return {};
  return "✗ " + report::counted(std::ssize(hazards), "hazard");
}

std::vector<std::pair<std::string, std::string>> critical_facts(const Run& run, std::ptrdiff_t offset) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto step = step_at(run.first_steps(), offset);
  const auto path = std::ranges::find_if(run.critical_paths(),
                                         [&](const graph::CriticalPath& of) { return step && of.window == *step; });
  if (path == run.critical_paths().end()) return facts;
  const graph::PathBreakdown spent = graph::breakdown(*run.dependencies(), *path);
  std::string text;
  for (std::size_t i = 0; i < graph::kPathTimes; ++i) {
    const auto time = static_cast<graph::PathTime>(i);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph::to_string(time), duration_text(spent.of(time)));
  }
  facts.emplace_back("critical path", text);
  return facts;
}

std::vector<std::pair<std::string, std::string>> idle_facts(const Run& run, std::ptrdiff_t offset) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto step = step_at(run.first_steps(), offset);
  if (!step || run.idle().empty()) return facts;
  std::map<std::string, Nanoseconds> sums;
  for (const analysis::IdlePiece& piece : run.idle().front()) {
    const Nanoseconds length = intersection(piece.span, *step).length();
    if (length > 0) sums[idle_text(piece)] += length;
  }
  std::vector<std::pair<std::string, Nanoseconds>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<std::string, Nanoseconds>::second);
  constexpr std::size_t kMost = 5;
  Nanoseconds rest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [cause, length] = sorted[i];
    if (i < kMost) facts.emplace_back("idle", duration_text(length) + " " + cause);
    if (i >= kMost) rest += length;
  }
  if (rest > 0)
    facts.emplace_back("idle", fmt::format("{} for {} more reasons", duration_text(rest), sorted.size() - kMost));
  return facts;
}

}  // namespace interlace::gui
