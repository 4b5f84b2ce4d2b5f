#include "gui/compare/facts.hpp"

#include <fmt/format.h>

#include <vector>

#include "simulator/report/text.hpp"

namespace interlace::gui {

namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "  ·  ") + part;
  return text;
}

void add_overlap(const analysis::OverlapSummary& overlap, std::vector<std::string>& parts) {
  parts.push_back(fmt::format("exposed communication {} ms", report::milliseconds(overlap.exposed_communication_ns)));
  parts.push_back(fmt::format("device idle {} ms", report::milliseconds(overlap.idle_ns)));
}

}  // namespace

std::string facts_of(const Recorded& recorded) {
  const report::RecordedRun& facts = recorded.facts;
  std::vector<std::string> parts;
  if (facts.schedule) parts.push_back(*facts.schedule);
  if (facts.step_time_ns) {
    parts.push_back(fmt::format("{} ms a step as recorded", report::milliseconds(*facts.step_time_ns)));
  }
  if (facts.overlap) add_overlap(*facts.overlap, parts);
  parts.push_back(facts.world_size ? fmt::format("{} of {} ranks", facts.ranks.size(), *facts.world_size)
                                   : fmt::format("{} rank{}", facts.ranks.size(), facts.ranks.size() == 1 ? "" : "s"));
  parts.push_back(report::thousands(static_cast<std::int64_t>(recorded.run->trace().size())) + " operations");
  return joined(parts);
}

std::string facts_of(const Forecast& forecast) {
  const report::Prediction& row = forecast.row;
  std::vector<std::string> parts = {fmt::format("{} ms a step ({} - {})", report::milliseconds(row.step_time_ns),
                                                report::milliseconds(row.step_time_low_ns),
                                                report::milliseconds(row.step_time_high_ns))};
  if (row.speedup) parts.push_back(fmt::format("{:.3f}x", *row.speedup));
  add_overlap(row.overlap, parts);
  return joined(parts);
}

}  // namespace interlace::gui
