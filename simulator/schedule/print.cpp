#include "simulator/schedule/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace interlace::schedule {

namespace {

constexpr std::size_t kDescriptionWidth = 100;  // columns of text in a line of a description

std::string json_string(std::string_view text) { return nlohmann::json(text).dump(); }

std::string array_of(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

std::string names_of(const Schedule& schedule, const std::vector<StreamIndex>& streams) {
  std::vector<std::string> names;
  names.reserve(streams.size());
  for (const StreamIndex stream : streams) names.push_back(json_string(schedule.stream(stream).name));
  return array_of(names);
}

std::string strings_of(const std::vector<std::string>& strings) {
  std::vector<std::string> items;
  items.reserve(strings.size());
  for (const std::string& text : strings) items.push_back(json_string(text));
  return array_of(items);
}

// Cuts at single blanks; joining the pieces with one blank each gives the text back.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t cut = text.rfind(' ', width);
    if (cut == std::string_view::npos) cut = text.find(' ', width);
    if (cut == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut + 1);
  }
  lines.emplace_back(text);
  return lines;
}

// A step as columns: what it is, its batch, and the rest.
struct Row {
  std::size_t indent = 4;
  std::string what;   // `"stage": "backward",`
  std::string batch;  // `"batch": 0,`, or nothing
  std::string rest;
  std::string before;  // lines that open or close a for_each
};

Row row_of(const Schedule& schedule, const StageStep& step) {
  Row row;
  row.what = fmt::format(R"("stage": {},)", json_string(to_string(step.stage)));
  row.batch = fmt::format(R"("batch": {},)", step.batch);
  row.rest = fmt::format(R"("stream": {})", json_string(schedule.stream(step.stream).name));
  const auto add = [&](std::string_view key, const std::string& value) {
    row.rest += fmt::format(R"(, "{}": {})", key, value);
  };
  if (step.module) add("module", json_string(*step.module));
  if (step.part) add("part", json_string(to_string(*step.part)));
  if (step.mode) add("mode", json_string(to_string(*step.mode)));
  if (step.async) add("async", "true");
  if (!step.after.empty()) add("after", names_of(schedule, step.after));
  if (step.alloc) add("alloc", json_string(schedule.stream(*step.alloc).name));
  if (!step.record_stream.empty()) add("record_stream", names_of(schedule, step.record_stream));
  if (step.kept_until) add("kept_until", json_string(to_string(*step.kept_until)));
  if (!step.reads.empty()) add("reads", strings_of(step.reads));
  if (!step.writes.empty()) add("writes", strings_of(step.writes));
  if (!step.frees.empty()) add("frees", strings_of(step.frees));
  if (step.record) add("record", json_string(*step.record));
  return row;
}

Row row_of(const Schedule& schedule, const WaitStep& step) {
  Row row;
  const auto* event = std::get_if<std::string>(&step.source);
  row.what =
      fmt::format(R"("wait":  {},)",
                  json_string(event != nullptr ? *event : schedule.stream(std::get<StreamIndex>(step.source)).name));
  if (step.event_batch != 0) row.batch = fmt::format(R"("batch": {},)", step.event_batch);
  if (!step.waiter) {
    row.rest = R"("on": "host")";
  } else {
    row.rest =
        fmt::format(R"("{}": {})", event != nullptr ? "on" : "stream", json_string(schedule.stream(*step.waiter).name));
  }
  return row;
}

Row row_of(const Schedule& schedule, const RecordStep& step) {
  Row row;
  row.what = fmt::format(R"("record": {},)", json_string(step.event));
  row.rest = fmt::format(R"("stream": {})", json_string(schedule.stream(step.stream).name));
  return row;
}

void add_rows(const Schedule& schedule, const std::vector<Step>& steps, std::size_t indent, std::vector<Row>& rows);

struct AddRows {
  const Schedule& schedule;
  std::size_t indent;
  std::vector<Row>& rows;

  template <class Action>
  void operator()(const Action& action) const {
    rows.push_back(row_of(schedule, action));
    rows.back().indent = indent;
  }
  void operator()(const ForEachModule& group) const {
    const std::size_t first = rows.size();
    add_rows(schedule, group.steps, indent + 2, rows);
    rows[first].before = std::string(indent, ' ') + "{\"for_each\": \"module\", \"do\": [\n";
  }
};

void add_rows(const Schedule& schedule, const std::vector<Step>& steps, std::size_t indent, std::vector<Row>& rows) {
  for (const Step& step : steps) std::visit(AddRows{schedule, indent, rows}, step.action);
}

std::string streams_text(const Schedule& schedule) {
  std::size_t width = 0;
  for (const Stream& stream : schedule.streams) width = std::max(width, json_string(stream.name).size() + 1);
  std::string text;
  for (const Stream& stream : schedule.streams) {
    std::string body;
    if (stream.same_as) {
      body = fmt::format(R"("same_as": {})", json_string(schedule.stream(*stream.same_as).name));
    } else if (stream.priority != 0) {
      body = fmt::format(R"("priority": {})", stream.priority);
    }
    text += fmt::format("    {:<{}} {{{}}}{}\n", json_string(stream.name) + ":", width, body,
                        &stream == &schedule.streams.back() ? "" : ",");
  }
  return text;
}

std::string iteration_text(const Schedule& schedule) {
  std::vector<Row> rows;
  add_rows(schedule, schedule.iteration, 4, rows);
  std::size_t what_width = 0;
  std::size_t batch_width = 0;
  for (const Row& row : rows) {
    what_width = std::max(what_width, row.indent + row.what.size());
    batch_width = std::max(batch_width, row.batch.size());
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const std::string batch = batch_width == 0 ? "" : fmt::format("{:<{}} ", row.batch, batch_width);
    text += fmt::format("{}{}{{{:<{}}{}{}}}", row.before, std::string(row.indent, ' '), row.what,
                        what_width - row.indent + 1, batch, row.rest);
    const bool last = i + 1 == rows.size();
    const bool closes = row.indent > 4 && (last || rows[i + 1].indent == 4 || !rows[i + 1].before.empty());
    text += closes ? "\n    ]}" : "";
    text += last ? "\n" : ",\n";
  }
  return text;
}

std::string wrapped_text(std::string_view key, const std::string& value) {
  if (value.empty()) return "";
  std::vector<std::string> lines = wrapped(value, kDescriptionWidth);
  for (std::string& line : lines) line = json_string(line);
  return lines.size() == 1 ? fmt::format("  \"{}\": {},\n", key, lines.front())
                           : fmt::format("  \"{}\": [\n    {}\n  ],\n", key, fmt::join(lines, ",\n    "));
}

std::string known_hazards_text(const Schedule& schedule) {
  if (schedule.known_hazards.empty()) return "";
  std::vector<std::string> entries;
  for (const KnownHazard& known : schedule.known_hazards) {
    const auto side = [](std::string_view key, std::optional<Stage> stage) {
      return stage ? fmt::format(R"("{}": "{}", )", key, to_string(*stage)) : std::string();
    };
    entries.push_back(fmt::format(R"({{"kind": {}, "of": {}, {}{}"why": {}}})", json_string(known.kind),
                                  json_string(known.of), side("earlier", known.earlier), side("later", known.later),
                                  json_string(known.why)));
  }
  return fmt::format("  \"known_hazards\": [\n    {}\n  ],\n", fmt::join(entries, ",\n    "));
}

}  // namespace

std::string print(const Schedule& schedule) {
  std::string text = "{\n  \"interlace_schedule\": 1,\n";
  text += fmt::format("  \"name\": {},\n", json_string(schedule.name));
  text += wrapped_text("description", schedule.description);
  if (schedule.hazardous) text += "  \"hazardous\": true,\n";
  text += known_hazards_text(schedule);
  text += wrapped_text("caution", schedule.caution);
  text += fmt::format("  \"streams\": {{\n{}  }},\n", streams_text(schedule));
  return text + fmt::format("  \"iteration\": [\n{}  ]\n}}\n", iteration_text(schedule));
}

}  // namespace interlace::schedule
