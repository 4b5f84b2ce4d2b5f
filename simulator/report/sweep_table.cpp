#include "simulator/report/sweep_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include "simulator/report/diagnostics_table.hpp"
#include "simulator/report/table_lines.hpp"

namespace interlace::report {

namespace {

constexpr std::size_t kLongestTitle = 44;
constexpr std::size_t kGap = 2;  // between columns

struct Column {
  std::string title;
  std::vector<std::string> cells;  ///< one a value, and that of the costs

  [[nodiscard]] std::size_t width() const {
    std::size_t most = columns_of(title);
    for (const std::string& cell : cells) most = std::max(most, columns_of(cell));
    return most;
  }
};

std::string_view unit(const SweepReport& report) { return report.scale == SweepScale::kTimes ? "" : " us"; }

/// What a bit more is, and what it costs, in this unit.
std::string_view bit_of(const SweepReport& report) { return report.scale == SweepScale::kTimes ? "%" : "us"; }

Column values_column(const SweepReport& report) {
  Column column{report.scale == SweepScale::kTimes ? "x" : "x us", {}};
  for (const double value : report.values) column.cells.push_back(fmt::format("{}", value));
  column.cells.push_back(fmt::format("{}, +1 {}", report.around, bit_of(report)));
  return column;
}

Column column_of(const SweepReport& report, std::size_t schedule, const std::string& name, const TextStyle& style) {
  Column column{is_recorded(report, schedule) ? name + " (recorded)" : name, {}};
  column.title = shortened_middle(column.title, kLongestTitle);
  const std::string_view best = style.unicode ? " ★" : " *";
  const std::string_view bad = style.unicode ? " ✗" : " x";
  for (const std::vector<Prediction>& row : report.rows) {
    const std::string text = milliseconds(row[schedule].step_time_ns);
    if (!row[schedule].hazards.empty()) {
      column.cells.push_back(coloured(style, Colour::kBad, text + std::string(bad)));
    } else if (row.size() > 1 && is_among_fastest(row, schedule)) {
      column.cells.push_back(coloured(style, Colour::kGood, text + std::string(best)));
    } else {
      column.cells.push_back(text + "  ");
    }
  }
  const double costs = report.costs[schedule];
  column.cells.push_back(
      fmt::format("{} {}", std::abs(costs) < 0.005 ? "0.00" : fmt::format("{:+.2f}", costs), bit_of(report)));
  return column;
}

std::string padded_left(const std::string& cell, std::size_t width) {
  return std::string(width - std::min(width, columns_of(cell)), ' ') + cell;
}

/// Some columns beside each other, the values in front.
void write_block(std::ostream& out, const Column& values, const std::vector<Column>& columns, const TextStyle& style) {
  const auto line = [&](const auto& cell_of) {
    std::string text = padded_left(cell_of(values), values.width());
    for (const Column& column : columns) text += std::string(kGap, ' ') + padded_left(cell_of(column), column.width());
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  out << '\n' << coloured(style, Colour::kDim, line([](const Column& column) { return column.title; })) << '\n';
  for (std::size_t i = 0; i < values.cells.size(); ++i) {
    const std::string text = line([&](const Column& column) { return column.cells[i]; });
    out << (i + 1 == values.cells.size() ? coloured(style, Colour::kDim, text) : text) << '\n';
  }
}

void write_blocks(std::ostream& out, const SweepReport& report, const std::vector<std::string>& names,
                  const TextStyle& style) {
  const Column values = values_column(report);
  std::vector<Column> block;
  std::size_t taken = values.width();
  for (std::size_t schedule = 0; schedule < names.size(); ++schedule) {
    Column column = column_of(report, schedule, names[schedule], style);
    const std::size_t wanted = kGap + column.width();
    if (!block.empty() && taken + wanted > style.width) {
      write_block(out, values, block, style);
      block.clear();
      taken = values.width();
    }
    taken += wanted;
    block.push_back(std::move(column));
  }
  write_block(out, values, block, style);
}

/// 0.7071 -> "0.71"
std::string about(double value) { return fmt::format("{}", std::stod(fmt::format("{:.2g}", value))); }

std::string overtaking_line(const SweepReport& report, const Overtaking& one, const std::vector<std::string>& names) {
  std::string text = fmt::format("between {} and {}{}", report.values[one.from], report.values[one.to], unit(report));
  if (one.at) text += fmt::format(" (at about {})", about(*one.at));
  const std::vector<Prediction>& row = report.rows[one.clear_from];
  std::size_t fastest = 0;
  for (std::size_t i = 0; i < row.size(); ++i) fastest += is_among_fastest(row, i) ? 1U : 0U;
  text += fmt::format(" {}{} {} {}", names[one.by], fastest > 1 ? ", as others that are marked," : "",
                      one.at ? "overtakes" : "takes the place of", names[one.overtaken]);
  if (one.clear_from != one.to) {
    text += fmt::format(", by over 1 % from {}{} on", report.values[one.clear_from], unit(report));
  }
  return text;
}

std::vector<std::string> fastest_lines(const SweepReport& report, const std::vector<std::string>& names) {
  if (names.size() < 2) return {};
  std::vector<std::string> lines;
  for (const Overtaking& one : overtakings(report)) lines.push_back(overtaking_line(report, one, names));
  if (!lines.empty()) return lines;
  std::vector<std::string> always;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto leads = [&](const auto& row) { return is_among_fastest(row, i); };
    if (std::ranges::all_of(report.rows, leads)) always.push_back(names[i]);
  }
  if (always.empty()) return {"no schedule is free of hazards and fits at all values"};
  return {fmt::format("fastest at all values (within 1 %): {}", fmt::join(always, ", "))};
}

/// Which schedules hardly depend on what is swept, and where.
std::vector<std::string> flat_lines(const SweepReport& report, const std::vector<std::string>& names) {
  if (report.values.size() < 2) return {};
  std::vector<std::string> everywhere;
  std::map<std::size_t, std::vector<std::string>> up_to;
  std::map<std::size_t, std::vector<std::string>> from;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const FlatEnds ends = flat_ends(report, i);
    if (ends.up_to == report.values.size() - 1) {
      everywhere.push_back(names[i]);
      continue;
    }
    if (ends.up_to) up_to[*ends.up_to].push_back(names[i]);
    if (ends.from) from[*ends.from].push_back(names[i]);
  }
  const std::string hardly =
      fmt::format("hardly any effect (a {0} costs less than {1} {0})", bit_of(report), kHardlyAny);
  std::vector<std::string> lines;
  const auto add = [&](const std::string& where, const std::vector<std::string>& of) {
    lines.push_back(fmt::format("{}{}: {}", where, lines.empty() ? hardly : "hardly any effect", fmt::join(of, ", ")));
  };
  if (!everywhere.empty()) add("", everywhere);
  for (const auto& [value, of] : up_to) add(fmt::format("up to {}{} ", report.values[value], unit(report)), of);
  for (const auto& [value, of] : from) add(fmt::format("from {}{} on ", report.values[value], unit(report)), of);
  return lines;
}

/// What is to be known of a schedule at any value.
std::vector<std::string> warnings_of(const Prediction& row) {
  std::vector<std::string> lines;
  for (const std::string& hazard : row.known_hazards) lines.push_back("known hazard: " + hazard);
  if (const std::string late = staleness_line(row); !late.empty()) lines.push_back(late);
  for (const Diagnostic& flaw : row.diagnostics) lines.push_back(flaw_text(flaw));
  return lines;
}

void write_notes(std::ostream& out, const SweepReport& report, const std::vector<std::string>& names,
                 const TextStyle& style) {
  out << '\n';
  for (const std::string& line : fastest_lines(report, names)) write_item(out, "-", line, style);
  for (const std::string& line : flat_lines(report, names)) write_item(out, "-", line, style);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Prediction& row = report.rows.front()[i];
    for (const std::string& hazard : row.hazards) {
      write_item(out, coloured(style, Colour::kBad, style.unicode ? "✗" : "x"), names[i] + ": " + hazard, style);
    }
    for (const std::string& line : warnings_of(row)) {
      write_item(out, coloured(style, Colour::kWarning, "!"), names[i] + ": " + line, style);
    }
  }
}

}  // namespace

void write_sweep_table(std::ostream& out, const SweepReport& report, const TextStyle& style) {
  write_recorded(out, report.recorded, style);
  write_titled(out, "sweep     ", fmt::format("{} ({})", report.swept, report.edit), style);
  if (!report.rows.front().empty()) {
    const std::vector<std::string> names = brief_names(report);
    write_blocks(out, report, names, style);
    write_notes(out, report, names, style);
  }
  write_left_out(out, report.skipped, style);
}

}  // namespace interlace::report
