#include "simulator/ingest/kineto/document.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "simulator/ingest/kineto/repair.hpp"
#include "simulator/ingest/kineto/scanner.hpp"
#include "tests/support/kineto_text.hpp"

namespace interlace::ingest::kineto {
namespace {

using testing::KinetoText;

/// The names of all ranges, in the order of the file.
std::vector<std::string> range_names(const Document& document) {
  std::vector<std::string> names;
  for (const EventTable& slice : document.slices) {
    for (const RangeEvent& range : slice.ranges) names.emplace_back(slice.texts[range.span.name]);
  }
  return names;
}

template <class Count>
std::int64_t sum(const Document& document, Count count) {
  std::int64_t total = 0;
  for (const EventTable& slice : document.slices) total += count(slice);
  return total;
}
std::int64_t repaired(const Document& document) {
  return sum(document, [](const EventTable& slice) { return slice.repaired.count; });
}
std::int64_t unreadable(const Document& document) {
  return sum(document, [](const EventTable& slice) { return slice.unreadable.count; });
}

std::string code_of(const std::string& text) {
  try {
    (void)read_document(text, "some.json");
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return "none";
}

KinetoText ranges(int count) {
  KinetoText text;
  for (int i = 0; i < count; ++i) text.annotation("range " + std::to_string(i), std::to_string(i), "1");
  return text;
}

TEST(Document, DoesNotDependOnTheSlices) {
  // Texts and lists that look like the start of an event stand where none begins.
  KinetoText text = ranges(20);
  text.complete("cpu_op", R"(trap }, {\"ph\": \"X\")", "1", "2", "21", "1",
                R"("list": [{"name": 1}, {"name": 2},{"ph":3}], "text": "}, {\"ph\"")");
  text.annotation("after", "22", "1");
  const std::string whole = text.text();

  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) expected.push_back("range " + std::to_string(i));
  expected.emplace_back(R"(trap }, {"ph": "X")");
  expected.emplace_back("after");
  for (std::size_t bytes = 1; bytes < whole.size() + 2; bytes += bytes < 400 ? 1 : 97) {
    const Document document = read_document(whole, "some.json", bytes);
    EXPECT_EQ(range_names(document), expected) << bytes;
    EXPECT_EQ(repaired(document) + unreadable(document), 0) << bytes;
    EXPECT_EQ(document.fields.at("traceName"), "\"test.json\"");
  }
}

TEST(Document, TakesTextWithoutWhiteSpaceAndFieldsInAnyOrder) {
  const std::string text =
      R"({"traceEvents":[{"args":{"correlation":1},"dur":2,"ts":1,"tid":4,"pid":3,"name":"a","cat":"cuda_runtime","ph":"X"},)"
      R"({"dur":0,"name":"b","ts":5,"ph":"X","cat":"cpu_op"}],"schemaVersion":1})";
  for (std::size_t bytes : {1U, 50U, 1000U}) {
    const Document document = read_document(text, "some.json", bytes);
    ASSERT_EQ(sum(document, [](const EventTable& slice) { return slice.calls.size(); }), 1);
    const HostCallEvent& call = document.slices.front().calls.front();
    EXPECT_EQ(call.correlation, 1);
    EXPECT_EQ(call.span.start, 1000);
    EXPECT_EQ(call.span.duration, 2000);
    EXPECT_EQ(call.span.process, 3);
    EXPECT_EQ(call.span.number, 4);
    EXPECT_EQ(range_names(document), std::vector<std::string>{"b"});
    EXPECT_EQ(document.fields.at("schemaVersion"), "1");
  }
}

TEST(Document, TakesTooManyAndTooFewCommas) {
  const std::string event = R"({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1})";
  EXPECT_EQ(range_names(read_document("{\"traceEvents\": [" + event + ",\n]}", "f")), std::vector<std::string>{"a"});
  EXPECT_EQ(range_names(read_document("{\"traceEvents\": [" + event + event + "," + event + "]}", "f")).size(), 3U);
  EXPECT_TRUE(read_document("{\"traceEvents\": []}", "f").has_events);
  EXPECT_FALSE(read_document("{\"traceEvents\": {}}", "f").has_events);
}

TEST(Document, MendsSingleEvents) {
  KinetoText text = ranges(3);
  text.annotation("not \xFF utf8", "3", "1");
  text.annotation("line\nbreak", "4", "1");
  text.annotation("a \"bare\" quote", "5", "1");
  text.annotation("C:\\path", "6", "1");
  text.annotation("odd \" quote", "7", "1");
  text.annotation("last", "8", "1");
  const std::string whole = text.text();
  const std::vector<std::string> expected{"range 0",    "range 1",          "range 2",  "not \xEF\xBF\xBD utf8",
                                          "line break", "a \"bare\" quote", "C:\\path", "odd \" quote",
                                          "last"};
  for (std::size_t bytes : {1U, 150U, 100'000U}) {
    const Document document = read_document(whole, "some.json", bytes);
    EXPECT_EQ(range_names(document), expected) << bytes;
    EXPECT_EQ(repaired(document), 5) << bytes;
    EXPECT_EQ(unreadable(document), 0) << bytes;
  }
}

TEST(Document, LeavesOutWhatCannotBeMendedAndSaysSo) {
  KinetoText text = ranges(2);
  text.event(R"({"ph": "X", "cat": "cpu_op", "name": "broken", "ts": )");
  text.annotation("between", "4", "1");
  text.event(R"({"ph": "X", "cat" "cpu_op"})");
  text.event("17");
  text.annotation("last", "5", "1");
  const std::string whole = text.text();
  for (std::size_t bytes : {1U, 150U, 100'000U}) {
    const Document document = read_document(whole, "some.json", bytes);
    EXPECT_EQ(range_names(document), (std::vector<std::string>{"range 0", "range 1", "between", "last"})) << bytes;
    EXPECT_EQ(unreadable(document), 3) << bytes;
    EXPECT_EQ(document.fields.count("traceName"), 1U) << bytes;
  }
}

TEST(Document, FindsTheEndBehindADamagedLastEvent) {
  KinetoText text = ranges(2);
  text.event(R"({"ph": "X", "name": "bro"ken, "grid": [1, 2], "ts": 1})");
  const Document document = read_document(text.text(), "some.json");
  EXPECT_EQ(range_names(document).size(), 2U);
  EXPECT_EQ(unreadable(document), 1);
  EXPECT_EQ(document.fields.at("traceName"), "\"test.json\"");
}

TEST(Document, SaysWhereItIsCutOff) {
  const std::string whole = ranges(3).field("schemaVersion", "1").text();
  const std::size_t last = whole.rfind('}');
  for (std::size_t size = 1; size <= last; ++size) {
    EXPECT_EQ(code_of(whole.substr(0, size)), "kineto.truncated") << size;
  }
  EXPECT_EQ(code_of(whole.substr(0, last + 1)), "none");
  try {
    (void)read_document(whole.substr(0, whole.find("range 2")), "some.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.place(), "some.json: byte " + std::to_string(whole.find("range 2")));
    const std::size_t begun = whole.rfind('{', whole.find("range 2"));
    EXPECT_NE(error.problem().find("byte " + std::to_string(begun)), std::string::npos) << error.problem();
  }
}

TEST(Document, RefusesWhatIsNoObject) {
  EXPECT_EQ(code_of("[1, 2]"), "kineto.not_a_trace");
  EXPECT_EQ(code_of("{1: 2}"), "kineto.not_a_trace");
  EXPECT_EQ(code_of("{\"a\" 2}"), "kineto.not_a_trace");
  EXPECT_EQ(code_of("{\"a\": 2 \"b\": 3}"), "kineto.not_a_trace");
  EXPECT_EQ(code_of("{\"a\": }"), "kineto.not_a_trace");
}

TEST(Document, CountsWhatFollows) {
  const std::string whole = ranges(1).text();
  EXPECT_EQ(read_document(whole + " \n", "f").trailing_bytes, 0U);
  EXPECT_EQ(read_document(whole + whole, "f").trailing_bytes, whole.size());
}

TEST(Document, GivesUpWhereReadingWouldNotEnd) {
  // Each event is unbalanced, so that the search for its end runs through the rest of the file.
  KinetoText text;
  for (int i = 0; i < 20'000; ++i) text.event(R"({"ph": "X", "name": "a", "args": {)");
  EXPECT_EQ(code_of(text.text()), "kineto.too_damaged");
}

TEST(Scanner, KnowsStringsEscapesAndNesting) {
  const auto value = [](std::string_view text) { return Scanner(text).value(); };
  EXPECT_EQ(value(R"({"a": "}\"]", "b": [1, {"c": "\\"}]} ,)"), R"({"a": "}\"]", "b": [1, {"c": "\\"}]})");
  EXPECT_EQ(value(R"("a\\\"b" ,)"), R"("a\\\"b")");
  EXPECT_EQ(value("-1.5e3,"), "-1.5e3");
  EXPECT_EQ(value("true]"), "true");
  for (const char* const text : {"", "\"a", "\"a\\\"", "{", "[[]", "{\"}\"", "12", ",", "]"}) {
    EXPECT_EQ(value(text), std::nullopt) << text;
  }
}

TEST(Repair, LeavesSoundTextAlone) {
  const std::string sound = R"({"a": "x\n\u00e9\\ \"q\" ü €", "b": [1, 2.5, {"c": null}], "": ""})";
  EXPECT_EQ(repair_event(sound), sound);
}

TEST(Repair, ReplacesEveryKindOfInvalidUtf8) {
  // Overlong forms, surrogates, beyond the last code point, a lone continuation, sequences cut short: each byte is
  // replaced by itself.
  const std::string mark = "\xEF\xBF\xBD";
  for (const std::string bytes : {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
                                  "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                                  "\xF5\x80\x80\x80", "\xFF", "\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98"}) {
    std::string expected = "\"";
    for (std::size_t i = 0; i < bytes.size(); ++i) expected += mark;
    EXPECT_EQ(repair_event("\"" + bytes + "\""), expected + "\"");
  }
  const std::string sound =
      "\"\xC2\x80 \xDF\xBF \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF\"";
  EXPECT_EQ(repair_event(sound), sound);
}

TEST(Repair, MendsEscapes) {
  EXPECT_EQ(repair_event(R"("\q \x41 \u12 \ud800 \")"), "\"\\\\q \\\\x41 \\\\u12 \xEF\xBF\xBD \\\"");
}

}  // namespace
}  // namespace interlace::ingest::kineto
