#include "simulator/schedule/located_json.hpp"

#include <gtest/gtest.h>

namespace interlace::schedule {
namespace {

const LocatedJson& at(const LocatedJson& json, std::string_view key) {
  for (const auto& member : *json.get_if<LocatedJson::Object>()) {
    if (member.key == key) return member.value;
  }
  throw std::out_of_range("no such key");
}

TEST(LocatedJson, KnowsTheLineOfEachValue) {
  std::vector<Problem> problems;
  const auto json =
      read_located_json("\n{\"a\": 1,\n \"b\":\n  [true,\n   {\"c\": null}],\n\n \"d\": \"x\\ny\"}\n", problems);
  ASSERT_TRUE(json);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(json->line, 2);
  EXPECT_EQ(at(*json, "a").line, 2);
  const LocatedJson& b = at(*json, "b");
  EXPECT_EQ(b.line, 4);
  EXPECT_EQ(b.get_if<LocatedJson::Array>()->at(0).line, 4);
  const LocatedJson& inner = b.get_if<LocatedJson::Array>()->at(1);
  EXPECT_EQ(inner.line, 5);
  EXPECT_EQ(at(inner, "c").line, 5);
  EXPECT_EQ(at(*json, "d").line, 7);
  EXPECT_EQ(*at(*json, "d").get_if<std::string>(), "x\ny");
}

// A number ends where something else begins, so the lexer has read the line feed behind it.
TEST(LocatedJson, ANumberAtTheEndOfItsLineKeepsItsLine) {
  std::vector<Problem> problems;
  const auto json = read_located_json("[1\n,\n-2.5\n,3\n]", problems);
  ASSERT_TRUE(json);
  const auto& numbers = *json->get_if<LocatedJson::Array>();
  EXPECT_EQ(numbers.at(0).line, 1);
  EXPECT_EQ(numbers.at(1).line, 3);
  EXPECT_EQ(numbers.at(2).line, 4);
  EXPECT_EQ(*numbers.at(1).get_if<double>(), -2.5);
  EXPECT_EQ(*numbers.at(2).get_if<std::int64_t>(), 3);
}

TEST(LocatedJson, AWholeNumberBeyondInt64IsNotWrapped) {
  std::vector<Problem> problems;
  const auto json = read_located_json("[18446744073709551615, 9223372036854775807]", problems);
  ASSERT_TRUE(json);
  EXPECT_EQ(*json->get_if<LocatedJson::Array>()->at(0).get_if<double>(), 18446744073709551615.0);
  EXPECT_EQ(*json->get_if<LocatedJson::Array>()->at(1).get_if<std::int64_t>(), 9223372036854775807);
}

TEST(LocatedJson, KeepsRepeatedKeysAndTheirOrder) {
  std::vector<Problem> problems;
  const auto json = read_located_json("{\"z\": 1, \"a\": 2, \"z\": 3}", problems);
  const auto& members = *json->get_if<LocatedJson::Object>();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].key, "z");
  EXPECT_EQ(members[2].key, "z");
  EXPECT_EQ(*members[2].value.get_if<std::int64_t>(), 3);
}

struct Malformed {
  std::string text;
  int line;
};

TEST(LocatedJson, NamesTheLineOfAMistake) {
  const std::vector<Malformed> cases = {
      {"", 1},    {"{", 1},      {"{\n\"a\": 1\n\"b\": 2}", 3}, {"[1,\n2,\n]", 3}, {"{}\n\n{}", 3},
      {"nul", 1}, {"[1]\nx", 2}, {"{\n\"a\": \"\xff\"}", 2},    {"\"a\nb\"", 1},
  };
  for (const Malformed& malformed : cases) {
    std::vector<Problem> problems;
    EXPECT_FALSE(read_located_json(malformed.text, problems)) << malformed.text;
    ASSERT_EQ(problems.size(), 1U) << malformed.text;
    EXPECT_EQ(problems[0].code.name, "schedule.syntax");
    EXPECT_EQ(problems[0].line, malformed.line) << malformed.text << ": " << problems[0].text;
    EXPECT_TRUE(problems[0].text.starts_with("not JSON: ")) << problems[0].text;
    EXPECT_EQ(problems[0].text.find("json.exception"), std::string::npos) << problems[0].text;
  }
}

TEST(LocatedJson, RefusesDeepNesting) {
  std::vector<Problem> problems;
  EXPECT_TRUE(read_located_json(std::string(32, '[') + std::string(32, ']'), problems));
  EXPECT_FALSE(read_located_json(std::string(1'000'000, '['), problems));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].text, "nested deeper than 32 levels");
}

}  // namespace
}  // namespace interlace::schedule
