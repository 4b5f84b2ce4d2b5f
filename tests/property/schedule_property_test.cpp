#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/describe.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::schedule {
namespace {

// From low to below high, evenly from the first case on: RapidCheck's own keeps to the low end while cases are small.
template <class T>
rc::Gen<T> in_range(T low, T high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

// Names that need care in JSON or in the printer's columns.
const std::vector<std::string> kNames = {"a",    "b\"c",     "d\\e",           "f g",
                                         "h\ni", "\xc3\xa9", "{\"stage\": 1}", "a-long-name"};

std::string word() { return *rc::gen::elementOf(kNames); }

bool chance() { return *rc::gen::arbitrary<bool>(); }

std::vector<Stream> any_streams() {
  std::vector<Stream> streams = {{.name = "main"}};
  const auto count = *in_range<std::uint32_t>(1, 5);
  for (std::uint32_t i = 1; i < count; ++i) {
    Stream stream{.name = word() + std::to_string(i)};
    if (chance()) {
      stream.same_as = StreamIndex{*in_range<std::uint32_t>(0, i)};  // an earlier one: no circle
    } else {
      stream.priority = *in_range<std::int32_t>(-3, 3);
    }
    streams.push_back(stream);
  }
  return streams;
}

// Builds one schedule of well-formed steps whose order need not make sense: what print() and read_words() deal with.
class AnySchedule {
 public:
  Schedule build() {
    schedule_.name = "own/any";
    schedule_.source = "any.json";
    schedule_.hazardous = chance();
    while (*in_range(0, 3) == 0) schedule_.known_hazards.push_back({word(), word(), word()});
    const auto words = *in_range(0, 40);
    for (int i = 0; i < words; ++i) schedule_.description += (i == 0 ? "" : *rc::gen::element(" ", "  ")) + word();
    schedule_.streams = any_streams();
    const auto steps = *in_range(1, 12);
    for (int i = 0; i < steps; ++i) schedule_.iteration.push_back(any_step(true));
    return schedule_;
  }

 private:
  StreamIndex any_stream() {
    return StreamIndex{*in_range<std::uint32_t>(0, static_cast<std::uint32_t>(schedule_.streams.size()))};
  }

  std::vector<StreamIndex> some_streams(std::optional<StreamIndex> but) {
    std::vector<StreamIndex> some;
    for (std::uint32_t i = 0; i < schedule_.streams.size(); ++i) {
      if (StreamIndex{i} != but && chance()) some.push_back(StreamIndex{i});
    }
    return some;
  }

  std::string new_event() {
    events_.push_back("event " + word() + std::to_string(events_.size()));
    return events_.back();
  }

  Step any_step(bool group_allowed) {
    const auto kind = *in_range(0, group_allowed ? 5 : 4);
    if (kind == 4) {
      ForEachModule group;
      const auto count = *in_range(1, 4);
      for (int i = 0; i < count; ++i) group.steps.push_back(any_step(false));
      return {group};
    }
    if (kind == 3) return {RecordStep{new_event(), any_stream()}};
    if (kind == 2) return {any_wait()};
    return {any_stage(!group_allowed)};
  }

  WaitStep any_wait() {
    WaitStep wait;
    if (!events_.empty() && chance()) {
      wait.source = *rc::gen::elementOf(events_);
      wait.event_batch = *in_range(-kMaxBatch, kMaxBatch + 1);
      if (chance()) wait.waiter = any_stream();
      return wait;
    }
    const StreamIndex source = any_stream();
    wait.source = source;
    const StreamIndex waiter = any_stream();
    if (waiter != source) wait.waiter = waiter;
    return wait;
  }

  StageStep any_stage(bool in_for_each) {
    StageStep step;
    step.stage = static_cast<Stage>(*in_range<int>(0, kStages));
    step.batch = *in_range(0, kMaxBatch + 1);
    step.stream = any_stream();
    step.after = some_streams(step.stream);
    if (!in_for_each && chance()) step.module = word();
    if (step.stage == Stage::kBackward && chance()) step.part = static_cast<Part>(*in_range(0, 2));
    if (chance()) step.alloc = any_stream();
    step.record_stream = some_streams(std::nullopt);
    if (chance()) step.kept_until = KeptUntil{};
    if (step.kept_until && chance()) step.kept_until->stage = static_cast<Stage>(*in_range<int>(0, kStages));
    if (step.stage == Stage::kValidateOutput) step.mode = static_cast<ValidateMode>(*in_range(0, 3));
    if (step.stage == Stage::kAllToAll) step.async = chance();
    if (chance() || step.mode == ValidateMode::kEvent) step.record = new_event();
    if (chance()) step.reads = {word(), word()};
    if (chance()) step.writes = {word()};
    if (chance()) step.frees = {word(), word()};
    return step;
  }

  Schedule schedule_;
  std::vector<std::string> events_;
};

RC_GTEST_PROP(ScheduleText, WhatIsPrintedReadsBackTheSame, ()) {
  const Schedule schedule = AnySchedule().build();
  const std::string text = print(schedule);
  const ReadSchedule read = read_words(text, schedule.source);
  if (!read.problems.empty()) RC_FAIL(read.problems.front().text + "\n" + text);
  RC_ASSERT(read.complete);
  RC_ASSERT(read.schedule == schedule);
  RC_ASSERT(print(read.schedule) == text);
}

RC_GTEST_PROP(ScheduleText, EachStepIsALineAndKnowsIt, ()) {
  const Schedule schedule = AnySchedule().build();
  const std::string text = print(schedule);
  const ReadSchedule read = read_words(text, schedule.source);
  int line = 1 + static_cast<int>(std::count(
                     text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("\"iteration\"")), '\n'));
  for (const Step& step : read.schedule.iteration) {
    RC_ASSERT(step.line == ++line);
    if (const auto* group = std::get_if<ForEachModule>(&step.action)) {
      for (const Step& inner : group->steps) RC_ASSERT(inner.line == ++line);
      ++line;  // the bracket that closes it
    }
  }
}

RC_GTEST_PROP(ScheduleText, ChecksAndTablesTakeAnySteps, ()) {
  const Schedule schedule = AnySchedule().build();
  const auto problems = find_problems(schedule);
  RC_ASSERT(std::ranges::is_sorted(problems, {}, &Problem::line));
  RC_ASSERT(!describe(schedule).empty());
}

// Damages the text of a built-in schedule; each result is read or refused with coded problems on lines it has.
void expect_read_or_refused(const std::string& text) {
  const int lines = 1 + static_cast<int>(std::ranges::count(text, '\n'));
  try {
    const Schedule schedule = parse(text, "damaged.json");
    RC_ASSERT(parse(print(schedule), schedule.source) == schedule);
  } catch (const InvalidSchedule& error) {
    RC_ASSERT(!error.problems().empty());
    for (const Problem& problem : error.problems()) {
      RC_ASSERT(problem.code.name.starts_with("schedule."));
      RC_ASSERT(problem.line >= 1);
      RC_ASSERT(problem.line <= lines);
      RC_ASSERT(!problem.text.empty());
    }
  }
}

std::string any_library_text() {
  const auto entries = library();
  return std::string(entries[*in_range<std::size_t>(0, entries.size())].text);
}

RC_GTEST_PROP(DamagedSchedule, BytesChanged, ()) {
  std::string text = any_library_text();
  const auto changes = *in_range(1, 4);
  for (int i = 0; i < changes; ++i) text[*in_range<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  expect_read_or_refused(text);
}

RC_GTEST_PROP(DamagedSchedule, CutOff, ()) {
  std::string text = any_library_text();
  text.resize(*in_range<std::size_t>(0, text.size()));
  expect_read_or_refused(text);
}

RC_GTEST_PROP(DamagedSchedule, LinesMovedAndLost, ()) {
  const std::string text = any_library_text();
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto any_line = [&] { return *in_range<std::size_t>(0, lines.size()); };
  if (chance()) std::swap(lines[any_line()], lines[any_line()]);
  if (chance()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(any_line()));
  if (chance()) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(any_line()), lines[any_line()]);
  std::string damaged;
  for (const std::string& line : lines) damaged += line + "\n";
  expect_read_or_refused(damaged);
}

// Words of the language in places where they do not belong.
RC_GTEST_PROP(DamagedSchedule, WordsExchanged, ()) {
  std::string text = any_library_text();
  const auto words = std::vector<std::string>{"\"stage\"",
                                              "\"wait\"",
                                              "\"record\"",
                                              "\"batch\"",
                                              "\"stream\"",
                                              "\"main\"",
                                              "\"data_dist\"",
                                              "\"backward\"",
                                              "\"on\"",
                                              "\"do\"",
                                              "\"for_each\"",
                                              "0",
                                              "1",
                                              "null",
                                              "[]",
                                              "{}",
                                              "\"input_dist_start\"",
                                              "\"streams\""};
  const std::string from = *rc::gen::elementOf(words);
  const std::string to = *rc::gen::elementOf(words);
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) places.push_back(at);
  RC_PRE(!places.empty());
  text.replace(*rc::gen::elementOf(places), from.size(), to);
  expect_read_or_refused(text);
}

}  // namespace
}  // namespace interlace::schedule
