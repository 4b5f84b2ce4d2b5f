#include "simulator/report/table_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "simulator/report/memory_text.hpp"

namespace interlace::report {

void write_titled(std::ostream& out, std::string_view title, const std::string& text, const TextStyle& style) {
  std::string lead(title);
  for (const std::string& line : wrapped(text, style.width - title.size())) {
    out << coloured(style, Colour::kBold, lead) << line << '\n';
    lead.assign(title.size(), ' ');
  }
}

std::string device_line(const analysis::OverlapSummary& overlap, std::optional<Nanoseconds> host_blocked_ns) {
  std::string text = fmt::format("exposed communication {} ms", milliseconds(overlap.exposed_communication_ns));
  if (const auto hidden = overlap.communication_hidden_ratio()) text += fmt::format(" ({} hidden)", percent(*hidden));
  text += fmt::format(", device idle {} ms", milliseconds(overlap.idle_ns));
  if (host_blocked_ns) text += fmt::format(", host blocked {} ms", milliseconds(*host_blocked_ns));
  return text;
}

/// Which of the recorded steps figures are of.
std::string steps_text(const RecordedRun& recorded) {
  if (recorded.steps >= recorded.steps_found) return counted(recorded.steps, "step");
  return fmt::format("{} of {}", recorded.steps, counted(recorded.steps_found, "step"));
}

void write_recorded(std::ostream& out, const RecordedRun& recorded, const TextStyle& style) {
  std::string text = recorded.schedule.value_or("a schedule that is not in the library");
  const auto ranks = static_cast<std::int64_t>(recorded.ranks.size());
  text += recorded.world_size ? fmt::format(", {} of {}", ranks, counted(*recorded.world_size, "rank"))
                              : ", " + counted(ranks, "rank");
  if (recorded.recordings > 1) text += ", " + counted(recorded.recordings, "recording");
  text += recorded.steps > 0 ? ", " + steps_text(recorded) : ", no whole step of each rank known";
  if (recorded.step_time_ns) text += fmt::format(", {} ms a step as recorded", milliseconds(*recorded.step_time_ns));
  if (recorded.predicted_step_time_ns) {
    text += fmt::format(", {} ms {}", milliseconds(*recorded.predicted_step_time_ns), replayed(recorded));
  }
  write_titled(out, "recorded  ", text, style);
  if (recorded.overlap) {
    write_titled(out, "a step    ", device_line(*recorded.overlap, recorded.host_blocked_ns) + ", as recorded", style);
  }
  if (const auto late = late_starts(recorded)) write_titled(out, "queues    ", *late, style);
  if (const auto uneven = uneven_parts(recorded)) write_titled(out, "parts     ", *uneven, style);
  if (const std::string peaks = recorded_peaks(recorded); !peaks.empty()) {
    write_titled(out, "memory    ", peaks + ", as recorded", style);
  }
  for (const std::string& edit : recorded.edits) write_titled(out, "what if   ", edit, style);
  if (!recorded.edits.empty()) {
    write_titled(out, "          ",
                 "(replayed and predicted alike: speed-ups are over the recorded schedule so changed)", style);
  }
}

void write_item(std::ostream& out, std::string_view mark, const std::string& text, const TextStyle& style) {
  std::string lead = std::string(kUnderRow, ' ') + std::string(mark) + ' ';
  const std::size_t indent = columns_of(lead);
  for (const std::string& line : wrapped(text, style.width - indent)) {
    out << lead << shortened_middle(line, style.width - indent) << '\n';  // a name may be longer than a line
    lead.assign(indent, ' ');
  }
}

std::string staleness_line(const Prediction& row) {
  std::string text;
  const auto add = [&](std::string_view what, std::optional<std::int64_t> late) {
    if (late.value_or(0) == 0) return;
    text += fmt::format("{}reads {} {} late", text.empty() ? "" : ", ", what, counted(*late, "update"));
  };
  add("tables", row.tables_late);
  add("dense parameters", row.parameters_late);
  return text.empty() ? text : text + ": not the numbers of a synchronous loop";
}

void write_left_out(std::ostream& out, std::span<const SkippedSchedule> skipped, const TextStyle& style) {
  if (!skipped.empty()) out << '\n';
  for (const SkippedGroup& group : skipped_by_reason(skipped)) {
    for (const std::string& line : wrapped(fmt::format("left out, {}: {}", group.why, group.schedules), style.width)) {
      out << coloured(style, Colour::kDim, line) << '\n';
    }
  }
}

}  // namespace interlace::report
