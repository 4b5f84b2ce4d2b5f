#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "simulator/cli/subcommands.hpp"
#include "simulator/report/json_text.hpp"
#include "simulator/report/text.hpp"
#include "simulator/schedule/describe.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::cli {

namespace {

using report::Json;

struct SchedulesRequest {
  std::string format = "table";
  std::string named;  ///< what show and validate are about
};

constexpr std::size_t kLeastRoom = 24;  ///< for text beside a column, in columns

/// Each name with its description beside it, wrapped; where that leaves too little room, below it.
void list(Console& console) {
  const report::TextStyle& style = console.style();
  std::size_t names = 0;
  for (const schedule::LibraryEntry& entry : schedule::library()) names = std::max(names, entry.name.size());
  const bool beside = style.width >= names + 2 + kLeastRoom;
  const std::size_t margin = beside ? names + 2 : 4;
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const schedule::Schedule schedule = schedule::find(entry.name);
    const std::string text = schedule.hazardous ? "(hazardous) " + schedule.description : schedule.description;
    const std::string name = report::coloured(style, report::Colour::kBold, schedule.name);
    std::string lead = beside ? name + std::string(margin - schedule.name.size(), ' ') : std::string(margin, ' ');
    if (!beside) console.out() << name << '\n';
    for (const std::string& line : report::wrapped(text, style.width - margin)) {
      console.out() << lead << line << '\n';
      lead.assign(margin, ' ');
    }
  }
}

/// What its steps do, each once, in the order in which the host first does it.
void add_stages(const std::vector<schedule::Step>& steps, Json& words) {
  for (const schedule::Step& step : steps) {
    if (const auto* group = std::get_if<schedule::ForEachModule>(&step.action)) add_stages(group->steps, words);
    const auto* stage = std::get_if<schedule::StageStep>(&step.action);
    if (stage == nullptr) continue;
    const Json word = schedule::to_string(stage->stage);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
}

/// What one would choose it by; its steps are in the file that `show --format json` writes.
Json outline(const schedule::Schedule& schedule) {
  Json streams = Json::array();
  for (const schedule::Stream& stream : schedule.streams) {
    Json same_as(nullptr);
    if (stream.same_as) same_as = schedule.stream(*stream.same_as).name;
    streams.push_back({{"name", stream.name}, {"priority", stream.priority}, {"same_as", std::move(same_as)}});
  }
  Json known_hazards = Json::array();
  for (const schedule::KnownHazard& known : schedule.known_hazards) {
    known_hazards.push_back({{"kind", known.kind}, {"of", known.of}, {"why", known.why}});
  }
  Json stages = Json::array();
  add_stages(schedule.iteration, stages);
  const bool built_in = schedule.source == schedule::built_in_source(schedule.name);
  return Json{{"name", schedule.name},
              {"file", built_in ? Json(nullptr) : Json(schedule.source)},
              {"description", schedule.description},
              {"hazardous", schedule.hazardous},
              {"known_hazards", std::move(known_hazards)},
              {"caution", schedule.caution.empty() ? Json(nullptr) : Json(schedule.caution)},
              {"batches_ahead", schedule::depth(schedule)},
              {"streams", std::move(streams)},
              {"stages", std::move(stages)}};
}

void list_as_json(Console& console) {
  Json all = Json::array();
  for (const schedule::LibraryEntry& entry : schedule::library()) all.push_back(outline(schedule::find(entry.name)));
  console.out() << report::text_of(Json{{"schedules", std::move(all)}});
}

/// Wraps what schedule::describe() says: paragraphs, and in its table the last column.
void print_wrapped(const schedule::Schedule& schedule, Console& console) {
  const std::size_t width = console.style().width;
  std::istringstream lines(schedule::describe(schedule));
  std::size_t last_column = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("line ")) last_column = line.find("waits and notes");
    std::string lead = line.substr(0, last_column);
    if (report::columns_of(line) <= width) {
      console.out() << line << '\n';
      continue;
    }
    const std::string last = line.substr(lead.size());
    if (lead.size() + kLeastRoom > width) {  // no room beside
      console.out() << lead.substr(0, lead.find_last_not_of(' ') + 1) << '\n';
      lead.assign(8, ' ');
    }
    for (const std::string& part : report::wrapped(last, width - lead.size())) {
      console.out() << lead << part << '\n';
      lead.assign(lead.size(), ' ');
    }
  }
}

void add_format(CLI::App& command, SchedulesRequest& request, const char* help) {
  command.add_option("--format", request.format, help)->check(CLI::IsMember({"table", "json"}))->capture_default_str();
}

}  // namespace

void add_schedules(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<SchedulesRequest>();
  CLI::App* schedules = app.add_subcommand("schedules", "List the built-in schedules");
  schedules->require_subcommand(0, 1);
  add_format(*schedules, *request, "How to write the answer");
  schedules->callback([schedules, request, &chosen] {
    if (schedules->get_subcommands().empty()) chosen = request->format == "json" ? list_as_json : list;
  });

  CLI::App* show = schedules->add_subcommand("show", "Explain a schedule step by step");
  show->add_option("schedule", request->named, "A built-in schedule or a file")->required()->type_name("NAME|FILE");
  add_format(*show, *request, "How to write it; json: as a schedule file, to start one's own from");
  show->add_flag_callback(
      "--json", [request] { request->format = "json"; }, "The same as --format json");
  show->callback([request, &chosen] {
    chosen = [request](Console& console) {
      const schedule::Schedule schedule = schedule::load(request->named);
      if (request->format == "json") {
        console.out() << schedule::print(schedule);
      } else {
        print_wrapped(schedule, console);
      }
    };
  });

  CLI::App* validate =
      schedules->add_subcommand("validate", "Check a schedule file; all problems are told with their lines");
  validate->add_option("schedule", request->named, "A schedule as JSON, or a built-in one")
      ->required()
      ->type_name("NAME|FILE");
  add_format(*validate, *request, "How to write the answer; json: what the list says of one");
  validate->callback([request, &chosen] {
    chosen = [request](Console& console) {
      const schedule::Schedule schedule = schedule::load(request->named);
      if (request->format == "json") {
        console.out() << report::text_of(outline(schedule));
      } else {
        console.out() << request->named << ": " << schedule.name << " is well-formed\n";
      }
    };
  });
}

}  // namespace interlace::cli
