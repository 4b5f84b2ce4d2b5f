#include "simulator/schedule/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "simulator/schedule/effects.hpp"

namespace interlace::schedule {

namespace {

constexpr std::size_t kColumns = 5;
constexpr std::array<std::string_view, kColumns> kHeadings = {"line", "step", "batch", "stream", "waits and notes"};

class Table {
 public:
  explicit Table(const Schedule& schedule) : schedule_(schedule) { add(schedule.iteration, ""); }

  [[nodiscard]] std::string text() const {
    std::array<std::size_t, kColumns> widths{};
    for (std::size_t c = 0; c < kColumns; ++c) {
      widths[c] = kHeadings[c].size();
      for (const Row& row : rows_) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string text;
    const auto line = [&](const auto& cells) {
      std::string row;
      for (std::size_t c = 0; c < kColumns; ++c) row += fmt::format("{:<{}}  ", cells[c], widths[c]);
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    };
    line(kHeadings);
    for (const Row& row : rows_) line(row);
    return text;
  }

 private:
  using Row = std::array<std::string, kColumns>;

  void add(const std::vector<Step>& steps, const std::string& indent) {
    for (const Step& step : steps) {
      Row row;
      row[0] = step.line > 0 ? std::to_string(step.line) : "-";
      if (const auto* group = std::get_if<ForEachModule>(&step.action)) {
        row[1] = indent + "for each module:";
        rows_.push_back(row);
        add(group->steps, indent + "  ");
        continue;
      }
      if (const auto* stage = std::get_if<StageStep>(&step.action)) fill(row, *stage);
      if (const auto* wait = std::get_if<WaitStep>(&step.action)) fill(row, *wait);
      if (const auto* record = std::get_if<RecordStep>(&step.action)) {
        row[1] = "record " + record->event;
        row[3] = name(record->stream);
      }
      row[1] = indent + row[1];
      rows_.push_back(row);
    }
  }

  void fill(Row& row, const StageStep& step) const {
    row[1] = to_string(step.stage);
    if (step.part) row[1] += fmt::format(" ({})", to_string(*step.part));
    if (step.module) row[1] += fmt::format(" [{}]", *step.module);
    row[2] = batch_word(step.batch);
    row[3] = name(step.stream);
    std::vector<std::string> notes;
    if (!step.after.empty()) notes.push_back("after " + names(step.after));
    const HostBlock host = effects_of(step.stage, step.part).host;
    if (host == HostBlock::kStream) notes.push_back("host waits for " + name(step.stream));
    if (step.mode == ValidateMode::kBlocking) notes.push_back("host waits for " + name(step.stream));
    if (step.mode == ValidateMode::kUnsafe) notes.emplace_back("host reads at once, waiting for nothing");
    if (step.async) notes.emplace_back("not awaited");
    if (step.alloc) notes.push_back("memory of " + name(*step.alloc));
    if (!step.record_stream.empty()) notes.push_back("kept alive on " + names(step.record_stream));
    if (step.kept_until) notes.push_back("kept until " + std::string(to_string(*step.kept_until)));
    if (!step.reads.empty()) notes.push_back(fmt::format("reads {}", fmt::join(step.reads, ", ")));
    if (!step.writes.empty()) notes.push_back(fmt::format("writes {}", fmt::join(step.writes, ", ")));
    if (!step.frees.empty()) notes.push_back(fmt::format("frees {}", fmt::join(step.frees, ", ")));
    if (step.record) notes.push_back("records " + *step.record);
    row[4] = fmt::format("{}", fmt::join(notes, "; "));
  }

  void fill(Row& row, const WaitStep& step) const {
    const auto* event = std::get_if<std::string>(&step.source);
    const std::string who = step.waiter ? name(*step.waiter) : "host";
    row[1] = "wait";
    row[3] = who;
    if (event != nullptr) {
      row[2] = batch_word(step.event_batch);
      row[4] = fmt::format("{} waits for event {}", who, *event);
    } else {
      row[4] = fmt::format("{} waits for {}", who, name(std::get<StreamIndex>(step.source)));
    }
  }

  [[nodiscard]] std::string name(StreamIndex stream) const { return schedule_.stream(stream).name; }

  [[nodiscard]] std::string names(const std::vector<StreamIndex>& streams) const {
    std::vector<std::string> list;
    list.reserve(streams.size());
    for (const StreamIndex stream : streams) list.push_back(name(stream));
    return fmt::format("{}", fmt::join(list, ", "));
  }

  const Schedule& schedule_;
  std::vector<Row> rows_;
};

std::string streams_line(const Schedule& schedule) {
  std::vector<std::string> streams;
  for (const Stream& stream : schedule.streams) {
    std::string text = stream.name;
    if (stream.same_as) text += " = " + schedule.stream(*stream.same_as).name;
    if (stream.priority != 0) text += fmt::format(" (priority {})", stream.priority);
    streams.push_back(std::move(text));
  }
  return fmt::format("streams: {}\n", fmt::join(streams, ", "));
}

}  // namespace

std::string describe(const Schedule& schedule) {
  std::string text = schedule.name + (schedule.hazardous ? " (hazardous: a known race, kept as a specimen)\n" : "\n");
  if (!schedule.description.empty()) text += schedule.description + "\n";
  text += streams_line(schedule);
  text += fmt::format("iterations that fill the pipeline: {}\n\n", depth(schedule));
  return text + Table(schedule).text();
}

}  // namespace interlace::schedule
