#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "simulator/ingest/kineto/document.hpp"
#include "simulator/ingest/kineto/numbers.hpp"
#include "simulator/ingest/kineto/repair.hpp"
#include "simulator/ingest/kineto/scanner.hpp"
#include "simulator/trace/correlation_index.hpp"

namespace interlace::ingest::kineto {
namespace {

constexpr std::int64_t kYear = 365LL * 86'400 * 1'000'000'000;

std::string as_microseconds(Nanoseconds time) {
  const std::string_view sign = time < 0 ? "-" : "";
  const std::int64_t magnitude = time < 0 ? -time : time;
  return fmt::format("{}{}.{:03}", sign, magnitude / 1000, magnitude % 1000);
}

RC_GTEST_PROP(Microseconds, SurviveBeingPrinted, ()) {
  const auto time = *rc::gen::inRange<Nanoseconds>(-100 * kYear, 100 * kYear);
  RC_ASSERT(parse_microseconds(as_microseconds(time)) == time);
}

RC_GTEST_PROP(Microseconds, ShiftByTheExponent, ()) {
  // d.ddd...e12 with all digits is the number itself.
  const auto time = *rc::gen::inRange<Nanoseconds>(1'000'000'000'000'000, 9'999'999'999'999'999);
  const std::string digits = std::to_string(time);
  RC_ASSERT(parse_microseconds(digits.substr(0, 1) + "." + digits.substr(1) + "e12") == time);
}

/// A JSON string of characters that matter to a scanner.
std::string any_json_string() {
  const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", R"(\")", R"(\\)", "{", "}", "[", "]", ",", ":", "}, {\\\"ph\\\"", R"(\u00e9)", "é", " "));
  std::string text = "\"";
  for (const std::string& part : parts) text += part;
  return text + "\"";
}

std::string any_event(int index) {
  // The name begins with the event's number, by which it is known again.
  const std::string name = fmt::format("\"{}#{}", index, any_json_string().substr(1));
  std::vector<std::string> fields{R"("ph": "X")", R"("cat": "cpu_op")", R"("name": )" + name, R"("ts": 1.5)",
                                  R"("dur": 2)"};
  if (*rc::gen::arbitrary<bool>()) {
    fields.push_back(R"("args": {"list": [{"name": )" + any_json_string() + R"(},{"ph": 1}], "text": )" +
                     any_json_string() + "}");
  }
  const auto rotation = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, fields.size()));
  std::rotate(fields.begin(), fields.begin() + rotation, fields.end());
  const std::string space = *rc::gen::element<std::string>("", " ", "\n  ");
  std::string text = "{";
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i > 0 ? "," + space : space) + fields[i];
  return text + space + "}";
}

RC_GTEST_PROP(Document, KeepsEveryEventInOrderHoweverItIsCut, ()) {
  const auto count = *rc::gen::inRange(1, 30);
  const std::string space = *rc::gen::element<std::string>("", "\n  ");
  std::string text = R"({"before": [{"ph": 1}, {"ph": 2}], "traceEvents": [)";
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," + space : space) + any_event(i);
  text += R"(], "after": [{"x": "}, {\"ph\""}, {"ph": 3}, {"name": 4}]})";
  const auto slice_bytes = *rc::gen::inRange<std::size_t>(1, text.size() + 100);

  const Document document = read_document(text, "some.json", slice_bytes);
  int next = 0;
  for (const EventTable& slice : document.slices) {
    RC_ASSERT(slice.repaired.count + slice.unreadable.count + slice.malformed.count == 0);
    for (const RangeEvent& range : slice.ranges) {
      RC_ASSERT(slice.texts[range.span.name].starts_with(fmt::format("{}#", next)));
      RC_ASSERT(range.span.start == 1500);
      ++next;
    }
  }
  RC_ASSERT(next == count);
  RC_ASSERT(document.fields.size() == 2U);
}

RC_GTEST_PROP(Scanner, FindsTheEndOfAnyValue, ()) {
  const std::string event = any_event(0);
  Scanner scan(event);
  RC_ASSERT(scan.value() == std::optional<std::string_view>(event));
  const auto cut = *rc::gen::inRange<std::size_t>(0, event.size());
  RC_ASSERT(Scanner(std::string_view(event).substr(0, cut)).value() == std::nullopt);
}

RC_GTEST_PROP(Repair, GivesSoundTextForAnyBytesInAString, ()) {
  // Any bytes but quotes and backslashes: those two may be undecidable.
  auto bytes = *rc::gen::container<std::string>(
      rc::gen::suchThat(rc::gen::arbitrary<char>(), [](char c) { return c != '"' && c != '\\'; }));
  const std::string event = R"({"ph": "X", "cat": "cpu_op", "name": "x)" + bytes + R"(", "ts": 1, "dur": 1})";
  const Document document = read_document(R"({"traceEvents": [)" + event + "," + event + "]}", "some.json");
  std::size_t ranges = 0;
  for (const EventTable& slice : document.slices) ranges += slice.ranges.size();
  RC_ASSERT(ranges == 2U);
}

RC_GTEST_PROP(CorrelationIndex, FindsTheFirstRowOfEachId, ()) {
  const auto distance = *rc::gen::element<std::int64_t>(1, 100, std::int64_t{1} << 60U);
  auto ids = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-7, 7));
  for (std::int64_t& id : ids) id *= distance;
  std::vector<std::optional<std::int64_t>> rows(ids.begin(), ids.end());
  rows.insert(rows.begin(), std::nullopt);
  const trace::CorrelationIndex index(rows);
  for (const std::int64_t id : ids) {
    const auto first = std::find(rows.begin(), rows.end(), std::optional(id)) - rows.begin();
    RC_ASSERT(index.find(id) == std::optional(static_cast<std::uint32_t>(first)));
  }
  const auto other = *rc::gen::arbitrary<std::int64_t>();
  const bool is_there = std::find(ids.begin(), ids.end(), other) != ids.end();
  RC_ASSERT(index.find(other).has_value() == is_there);
}

}  // namespace
}  // namespace interlace::ingest::kineto
