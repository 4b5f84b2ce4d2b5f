#include "simulator/report/predict_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "simulator/report/diagnostics_table.hpp"
#include "simulator/report/memory_text.hpp"
#include "simulator/report/table_lines.hpp"

namespace interlace::report {

namespace {

constexpr std::size_t kStepColumns = 9;
constexpr std::size_t kRangeColumns = 17;
constexpr std::size_t kSpeedupColumns = 10;
constexpr std::size_t kLongestName = 44;

struct Axis {
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t column_of(Nanoseconds time) const {
    if (to <= from) return 0;
    const double part = static_cast<double>(time - from) / static_cast<double>(to - from);
    return static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(columns - 1)));
  }
};

/// The interval of one step time on the axis: a whisker with its dot.
std::string whisker(const Prediction& row, const Axis& axis, const TextStyle& style) {
  const std::size_t low = axis.column_of(std::min(row.step_time_low_ns, row.step_time_ns));
  const std::size_t high = axis.column_of(std::max(row.step_time_high_ns, row.step_time_ns));
  const std::size_t dot = axis.column_of(row.step_time_ns);
  std::string text;
  for (std::size_t column = 0; column <= high; ++column) {
    if (column == dot) {
      text += style.unicode ? "●" : "o";
    } else if (column < low) {
      text += ' ';
    } else if (column == low) {
      text += style.unicode ? "├" : "|";
    } else if (column == high) {
      text += style.unicode ? "┤" : "|";
    } else {
      text += style.unicode ? "─" : "-";
    }
  }
  return text;
}

/// Flaws and assumptions that concern all predictions: they are told once, and not with each.
std::vector<Diagnostic> shared_flaws(const PredictReport& report) {
  if (report.predictions.empty()) return {};
  std::vector<Diagnostic> shared = report.predictions.front().diagnostics;
  std::erase_if(shared, [&](const Diagnostic& flaw) {
    return !std::ranges::all_of(report.predictions, [&](const Prediction& row) {
      return std::ranges::find(row.diagnostics, flaw) != row.diagnostics.end();
    });
  });
  return shared;
}

std::string recordings_line(const Prediction& row) {
  std::string text = "by recording: ";
  for (const Nanoseconds step : row.step_times_ns) text += milliseconds(step) + ", ";
  text.resize(text.size() - 2);
  return text + " ms";
}

void write_row(std::ostream& out, const Prediction& row, bool is_best, std::size_t name_columns, const Axis& axis,
               std::optional<Bytes> capacity, const std::vector<Diagnostic>& told, const TextStyle& style) {
  std::string name = shortened_middle(row.schedule, name_columns);
  name.append(name_columns - columns_of(name), ' ');
  std::string speedup = row.speedup ? fmt::format("{:.3f}x", *row.speedup) : "-";
  speedup.insert(0, kSpeedupColumns - std::min(kSpeedupColumns, speedup.size()), ' ');
  if (row.speedup) speedup = coloured(style, *row.speedup < 1 ? Colour::kBad : Colour::kBold, speedup);
  const bool hazardous = !row.hazards.empty();
  const std::string_view bad = style.unicode ? "✗" : "x";
  const std::string_view mark = hazardous ? bad : !is_best ? " " : style.unicode ? "★" : "*";
  const auto marked = [&](std::string_view text) {
    if (hazardous) return coloured(style, Colour::kBad, text);
    return is_best ? coloured(style, Colour::kGood, text) : std::string(text);
  };
  out << marked(name) << ' ' << marked(mark) << fmt::format("{:>{}}", milliseconds(row.step_time_ns), kStepColumns)
      << fmt::format(" {:>{}}", milliseconds(row.step_time_low_ns) + " - " + milliseconds(row.step_time_high_ns),
                     kRangeColumns - 1)
      << speedup;
  if (axis.columns > 0) out << "  " << whisker(row, axis, style);
  out << '\n';
  std::vector<std::string> lines = memory_lines(row, capacity);
  lines.insert(lines.begin(), device_line(row.overlap, row.host_blocked_ns));
  if (!row.step_times_ns.empty()) lines.insert(lines.begin(), recordings_line(row));
  for (const std::string& line : lines) {
    for (const std::string& part : wrapped(line, style.width - kUnderRow)) {
      out << std::string(kUnderRow, ' ') << coloured(style, Colour::kDim, part) << '\n';
    }
  }
  for (const std::string& hazard : row.hazards) write_item(out, coloured(style, Colour::kBad, bad), hazard, style);
  for (const std::string& hazard : row.known_hazards) {
    write_item(out, coloured(style, Colour::kWarning, "!"), "known hazard: " + hazard, style);
  }
  if (const std::string late = staleness_line(row); !late.empty()) {
    write_item(out, coloured(style, Colour::kWarning, "!"), late, style);
  }
  for (const Diagnostic& flaw : row.diagnostics) {
    if (std::ranges::find(told, flaw) != told.end()) continue;
    write_item(out, coloured(style, Colour::kWarning, "!"), flaw_text(flaw), style);
  }
  for (const std::string& reason : row.reasons) write_item(out, "-", reason, style);
  for (const std::string& race : row.races) write_item(out, coloured(style, Colour::kWarning, "!"), race, style);
}

}  // namespace

void write_predict_table(std::ostream& out, const PredictReport& report, const TextStyle& style) {
  write_recorded(out, report.recorded, style);
  const std::vector<Diagnostic> shared = shared_flaws(report);
  for (const Diagnostic& flaw : shared) write_titled(out, "beware    ", flaw_text(flaw), style);
  if (!report.predictions.empty()) {
    std::size_t name_columns = std::string_view("schedule").size();
    Axis axis{.from = report.predictions.front().step_time_ns, .to = report.predictions.front().step_time_ns};
    for (const Prediction& row : report.predictions) {
      name_columns = std::max(name_columns, columns_of(row.schedule));
      axis.from = std::min({axis.from, row.step_time_low_ns, row.step_time_ns});
      axis.to = std::max({axis.to, row.step_time_high_ns, row.step_time_ns});
    }
    constexpr std::size_t kFigures = 2 + kStepColumns + kRangeColumns + kSpeedupColumns;
    constexpr std::size_t kLeastAxis = 14;  // with the gap in front of it
    name_columns = std::min({name_columns, kLongestName, style.width - std::min(style.width, kFigures)});
    const std::size_t room = style.width - std::min(style.width, name_columns + kFigures);
    axis.columns = room < kLeastAxis ? 0 : room - 2;  // the name tells more

    const std::string low = milliseconds(axis.from);
    const std::string high = milliseconds(axis.to);
    std::string head = fmt::format("{:<{}}{:>{}}{:>{}}{:>{}}", "schedule", name_columns + 2, "step ms", kStepColumns,
                                   "p10 - p90", kRangeColumns, "speed-up", kSpeedupColumns);
    if (axis.columns > 0) {
      head += "  " + low + std::string(axis.columns - std::min(axis.columns, low.size() + high.size()), ' ') + high;
    }
    out << '\n' << coloured(style, Colour::kDim, head) << '\n';
    const auto order = by_step_time(report);
    for (const std::size_t i : order) {
      write_row(out, report.predictions[i], is_best(report.predictions, i), name_columns, axis,
                report.recorded.capacity, shared, style);
    }
  }
  write_left_out(out, report.skipped, style);
}

}  // namespace interlace::report
