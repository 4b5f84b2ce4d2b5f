#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>

#include "simulator/cli/subcommands.hpp"
#include "simulator/report/text.hpp"
#include "simulator/schedule/describe.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::cli {

namespace {

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

}  // namespace

void add_schedules(CLI::App& app, Action& chosen) {
  CLI::App* schedules = app.add_subcommand("schedules", "List the built-in schedules");
  schedules->require_subcommand(0, 1);
  schedules->callback([schedules, &chosen] {
    if (schedules->get_subcommands().empty()) chosen = list;
  });

  const auto shown = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* show = schedules->add_subcommand("show", "Explain a schedule step by step");
  show->add_option("schedule", *shown, "A built-in schedule or a file")->required()->type_name("NAME|FILE");
  show->add_flag("--json", *as_json, "Write it as a schedule file instead, to start one's own from");
  show->callback([shown, as_json, &chosen] {
    chosen = [shown, as_json](Console& console) {
      const schedule::Schedule schedule = schedule::load(*shown);
      if (*as_json) {
        console.out() << schedule::print(schedule);
      } else {
        print_wrapped(schedule, console);
      }
    };
  });

  const auto validated = std::make_shared<std::string>();
  CLI::App* validate =
      schedules->add_subcommand("validate", "Check a schedule file; all problems are told with their lines");
  validate->add_option("schedule", *validated, "A schedule as JSON, or a built-in one")
      ->required()
      ->type_name("NAME|FILE");
  validate->callback([validated, &chosen] {
    chosen = [validated](Console& console) {
      const schedule::Schedule schedule = schedule::load(*validated);
      console.out() << *validated << ": " << schedule.name << " is well-formed\n";
    };
  });
}

}  // namespace interlace::cli
