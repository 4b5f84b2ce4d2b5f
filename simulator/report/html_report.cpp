#include "simulator/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "simulator/report/diagnostics_table.hpp"
#include "simulator/report/html_style.hpp"
#include "simulator/report/memory_text.hpp"
#include "simulator/report/svg.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

std::string or_dash(const std::optional<double>& ratio) { return ratio ? percent(*ratio) : "-"; }

void write_head(std::ostream& out) {
  out << "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
         "charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<title>Interlace: predicted schedules</title>\n<style>"
      << kReportStyle << "</style>\n</head>\n<body>\n<main>\n";
}

void write_recorded(std::ostream& out, const RecordedRun& recorded) {
  out << "<h1>Predicted schedules</h1>\n<dl>\n";
  const auto entry = [&](std::string_view key, const std::string& value) {
    out << fmt::format("<dt>{}</dt><dd>{}</dd>\n", key, escaped_markup(value));
  };
  entry("recorded schedule", recorded.schedule.value_or("not in the library"));
  std::string ranks;
  for (const std::int32_t rank : recorded.ranks) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  if (recorded.world_size) ranks += fmt::format(" of {}", *recorded.world_size);
  entry("ranks", ranks);
  for (const std::string& edit : recorded.edits) entry("what if", edit);
  if (!recorded.edits.empty()) entry("speed-ups", "over the recorded schedule under the same what-ifs");
  if (recorded.recordings > 1)
    entry("recordings", std::to_string(recorded.recordings) + ": what is predicted is their mean");
  entry("steps used", fmt::format("{} of {}", recorded.steps, std::max(recorded.steps, recorded.steps_found)));
  if (recorded.step_time_ns) entry("step as recorded", milliseconds(*recorded.step_time_ns) + " ms");
  if (recorded.predicted_step_time_ns) {
    entry("step", fmt::format("{} ms {}", milliseconds(*recorded.predicted_step_time_ns), replayed(recorded)));
  }
  if (recorded.host_blocked_ns)
    entry("host blocked as recorded", milliseconds(*recorded.host_blocked_ns) + " ms a step");
  if (const auto late = late_starts(recorded)) entry("queues", *late);
  if (const auto uneven = uneven_parts(recorded)) entry("parts", *uneven);
  if (const std::string peaks = recorded_peaks(recorded); !peaks.empty()) entry("memory as recorded", peaks);
  std::string files;
  for (const std::string& file : recorded.files) files += (files.empty() ? "" : ", ") + file;
  entry("files", files);
  out << "</dl>\n";
}

std::string late(const std::optional<std::int64_t>& updates) { return updates ? std::to_string(*updates) : "-"; }

std::string soundness(const Prediction& row) {
  if (!row.hazards.empty()) return "<span class=\"hazard\">hazardous</span>";
  return row.known_hazards.empty() ? "yes" : fmt::format("yes, {} known", row.known_hazards.size());
}

void write_table(std::ostream& out, const PredictReport& report) {
  out << "<table>\n<thead><tr><th>schedule</th><th>step, ms</th><th>p10 to p90, ms</th><th>speed-up</th>"
         "<th>exposed communication, ms</th><th>communication hidden</th><th>device busy</th><th>host blocked, ms</th>"
         "<th>sound</th><th>late tables, dense</th></tr></thead>\n<tbody>\n";
  const auto order = by_step_time(report);
  for (const std::size_t i : order) {
    const Prediction& row = report.predictions[i];
    out << fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{} to {}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{}, {}</td></tr>\n",
        is_best(report.predictions, i) ? " class=\"best\"" : "", escaped_markup(row.schedule),
        milliseconds(row.step_time_ns), milliseconds(row.step_time_low_ns), milliseconds(row.step_time_high_ns),
        row.speedup ? fmt::format("{:.3f}", *row.speedup) : "-", milliseconds(row.overlap.exposed_communication_ns),
        or_dash(row.overlap.communication_hidden_ratio()), or_dash(row.overlap.busy_ratio()),
        row.host_blocked_ns ? milliseconds(*row.host_blocked_ns) : "-", soundness(row), late(row.tables_late),
        late(row.parameters_late));
  }
  out << "</tbody>\n</table>\n";
  const auto best = [&](std::size_t i) { return is_best(report.predictions, i); };
  if (std::ranges::any_of(order, best)) out << fmt::format("<p class=\"note\">Bold: {}.</p>\n", kBestMeans);
  for (const SkippedGroup& group : skipped_by_reason(report.skipped)) {
    out << fmt::format("<p class=\"note\">Left out, {}: {}</p>\n", escaped_markup(group.why),
                       escaped_markup(group.schedules));
  }
}

/// A row a schedule, least reserved first.
void write_memory(std::ostream& out, const PredictReport& report) {
  std::vector<const Prediction*> rows;
  for (const Prediction& row : report.predictions) {
    if (!row.memory.empty()) rows.push_back(&row);
  }
  if (rows.empty()) return;
  std::ranges::stable_sort(rows, {}, [](const Prediction* row) { return fullest_rank(*row).reserved_peak; });
  out << "<h2>Peak memory</h2>\n<p class=\"note\">Of the rank that reserves most. Active: allocated, or given back "
         "while another stream still uses it. Reserved: what the allocator holds of the driver.</p>\n"
         "<div class=\"scroll\"><table>\n<thead><tr><th>schedule</th><th>allocated</th><th>active</th>"
         "<th>reserved</th><th>free in split segments</th><th>what it is made of</th></tr></thead>\n<tbody>\n";
  for (const Prediction* row : rows) {
    const RankMemory& memory = fullest_rank(*row);
    std::string words;
    const std::vector<std::string> lines = memory_lines(*row, report.recorded.capacity);
    for (std::size_t i = 1; i < lines.size(); ++i) words += (i == 1 ? "" : "; ") + lines[i];
    out << fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       escaped_markup(row->schedule), bytes_text(memory.allocated_peak), bytes_text(memory.active_peak),
                       bytes_text(memory.reserved_peak), bytes_text(memory.split_free), escaped_markup(words));
  }
  out << "</tbody>\n</table></div>\n";
}

void write_reasons(std::ostream& out, const PredictReport& report) {
  out << "<h2>What changes, and why</h2>\n";
  for (const std::size_t i : by_step_time(report)) {
    const Prediction& row = report.predictions[i];
    out << fmt::format("<h3>{}</h3>\n", escaped_markup(row.schedule));
    if (row.reasons.empty() && row.races.empty() && row.hazards.empty() && row.known_hazards.empty()) {
      out << "<p class=\"note\">No difference worth telling.</p>\n";
      continue;
    }
    out << "<ul>\n";
    for (const std::string& hazard : row.hazards) {
      out << fmt::format("<li class=\"hazard\">Hazard: {}</li>\n", escaped_markup(hazard));
    }
    for (const std::string& hazard : row.known_hazards) {
      out << fmt::format("<li>Known hazard: {}</li>\n", escaped_markup(hazard));
    }
    for (const std::string& reason : row.reasons) out << fmt::format("<li>{}</li>\n", escaped_markup(reason));
    for (const std::string& race : row.races) out << fmt::format("<li class=\"race\">{}</li>\n", escaped_markup(race));
    out << "</ul>\n";
  }
}

void write_timelines(std::ostream& out, std::span<const TimelineComparison> timelines) {
  if (timelines.empty()) return;
  out << "<h2>One step, measured above predicted</h2>\n<p class=\"key\">";
  for (const std::string_view kind : {"stage", "blocked", "compute", "communication", "copy"}) {
    out << fmt::format(
        "<svg width=\"14\" height=\"14\"><g class=\"{0}\"><rect width=\"14\" height=\"14\"/></g></svg> "
        "{0} &#160; ",
        kind);
  }
  out << "</p>\n";
  for (const TimelineComparison& comparison : timelines) {
    out << fmt::format("<details{}><summary>{}</summary>\n<div class=\"scroll\">{}</div></details>\n",
                       &comparison == timelines.data() ? " open=\"open\"" : "", escaped_markup(comparison.title),
                       timeline_plot(comparison.pictures));
  }
}

void write_quality(std::ostream& out, std::string_view whose, std::span<const Diagnostic> diagnostics) {
  if (diagnostics.empty()) return;
  out << fmt::format(
      "<h3>{}</h3>\n<table class=\"quality\">\n<thead><tr><th>severity</th><th>code</th><th>count</th>"
      "<th>meaning</th><th>advice</th></tr></thead>\n<tbody>\n",
      escaped_markup(whose));
  for (const Diagnostic& found : gravest_first(diagnostics)) {
    const std::string place =
        found.first_place.empty() ? "" : fmt::format(" (first: {})", shortened_front(found.first_place, 80));
    out << fmt::format("<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       to_string(found.severity), escaped_markup(found.code), thousands(found.count),
                       escaped_markup(found.meaning + place), escaped_markup(found.advice));
  }
  out << "</tbody>\n</table>\n";
}

}  // namespace

void write_html(std::ostream& out, const PredictReport& report, std::span<const TimelineComparison> timelines) {
  write_head(out);
  write_recorded(out, report.recorded);
  if (!report.predictions.empty()) {
    out << "<h2>Step times</h2>\n<p class=\"note\">Dot: predicted mean. Bar: 10th to 90th percentile of single steps. "
           "Dashed: the recorded schedule, replayed. The axis does not begin at zero.</p>\n<div class=\"scroll\">"
        << interval_plot(report) << "</div>\n<div class=\"scroll\">";
    write_table(out, report);
    out << "</div>\n";
    write_memory(out, report);
    write_timelines(out, timelines);
    write_reasons(out, report);
  }
  out << "<h2>Data quality</h2>\n";
  bool any = !report.recorded.diagnostics.empty();
  write_quality(out, "The recording", report.recorded.diagnostics);
  for (const Prediction& row : report.predictions) {
    any = any || !row.diagnostics.empty();
    write_quality(out, row.schedule, row.diagnostics);
  }
  if (!any) out << "<p class=\"note\">Nothing was missing, repaired or inferred.</p>\n";
  out << "</main>\n</body>\n</html>\n";
}

}  // namespace interlace::report
