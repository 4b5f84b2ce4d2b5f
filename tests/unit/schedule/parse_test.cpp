#include "simulator/schedule/parse.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace interlace::schedule {
namespace {

constexpr std::string_view kEveryWord = R"({
  "interlace_schedule": 1,
  "name": "own/every_word",
  "description": ["two", "lines"], "caution": ["of", "code"],
  "hazardous": true,
  "streams": {
    "main":   {},
    "memcpy": {"priority": -1},
    "side":   {},
    "other":  {"same_as": "side"}
  },
  "iteration": [
    {"stage": "next_batch", "batch": 1},
    {"stage": "copy_batch_to_gpu", "batch": 1, "stream": "memcpy", "after": ["main", "side"], "alloc": "main",
     "record_stream": ["main"], "record": "copied"},
    {"wait": "memcpy", "stream": "main"},
    {"wait": "copied", "on": "main", "batch": 0},
    {"wait": "side", "on": "host"},
    {"for_each": "module", "do": [
      {"stage": "compute", "batch": 0, "stream": "other"}
    ]},
    {"record": "mark", "stream": "side"},
    {"wait": "mark", "on": "host"},
    {"stage": "dense_forward", "batch": 0, "stream": "main", "writes": ["x"]},
    {"stage": "all_to_all", "batch": 0, "stream": "main", "module": "over", "async": true, "reads": ["x"], "frees": ["x", "batch"]},
    {"stage": "validate_output", "batch": 0, "stream": "main", "mode": "unsafe"},
    {"stage": "backward", "batch": 0, "stream": "main", "part": "dense"},
    {"stage": "backward", "batch": 0, "stream": "main", "part": "embedding"}
  ]
})";

const StageStep& stage_at(const Schedule& schedule, std::size_t index) {
  return std::get<StageStep>(schedule.iteration.at(index).action);
}

TEST(Parse, ReadsEveryWord) {
  const Schedule s = parse(kEveryWord, "every.json");
  EXPECT_EQ(s.name, "own/every_word");
  EXPECT_EQ(s.description, "two lines");
  EXPECT_EQ(s.caution, "of code");
  EXPECT_EQ(s.source, "every.json");
  EXPECT_TRUE(s.hazardous);

  const StreamIndex main{0};
  const StreamIndex memcpy{1};
  const StreamIndex side{2};
  const StreamIndex other{3};
  ASSERT_EQ(s.streams.size(), 4U);
  EXPECT_EQ(s.streams[1], (Stream{"memcpy", -1, std::nullopt}));
  EXPECT_EQ(s.streams[3], (Stream{"other", 0, side}));
  EXPECT_EQ(s.resolve(other), side);
  EXPECT_EQ(s.resolve(side), side);
  EXPECT_EQ(s.stream_named("memcpy"), memcpy);
  EXPECT_EQ(s.stream_named("nothing"), std::nullopt);

  ASSERT_EQ(s.iteration.size(), 13U);
  EXPECT_EQ(stage_at(s, 0), (StageStep{.stage = Stage::kNextBatch, .batch = 1, .stream = main}));
  EXPECT_EQ(stage_at(s, 1), (StageStep{.stage = Stage::kCopyBatchToGpu,
                                       .batch = 1,
                                       .stream = memcpy,
                                       .after = {main, side},
                                       .alloc = main,
                                       .record_stream = {main},
                                       .record = "copied"}));
  EXPECT_EQ(std::get<WaitStep>(s.iteration[2].action), (WaitStep{memcpy, main, 0}));
  EXPECT_EQ(std::get<WaitStep>(s.iteration[3].action), (WaitStep{"copied", main, 0}));
  EXPECT_EQ(std::get<WaitStep>(s.iteration[4].action), (WaitStep{side, std::nullopt, 0}));
  const auto& group = std::get<ForEachModule>(s.iteration[5].action);
  ASSERT_EQ(group.steps.size(), 1U);
  EXPECT_EQ(std::get<StageStep>(group.steps[0].action).stream, other);
  EXPECT_EQ(std::get<RecordStep>(s.iteration[6].action), (RecordStep{"mark", side}));
  EXPECT_EQ(std::get<WaitStep>(s.iteration[7].action), (WaitStep{"mark", std::nullopt, 0}));
  EXPECT_EQ(stage_at(s, 9).module, "over");
  EXPECT_EQ(stage_at(s, 8).writes, std::vector<std::string>{"x"});
  EXPECT_TRUE(stage_at(s, 9).async);
  EXPECT_EQ(stage_at(s, 9).reads, std::vector<std::string>{"x"});
  EXPECT_EQ(stage_at(s, 9).frees, (std::vector<std::string>{"x", "batch"}));
  EXPECT_EQ(stage_at(s, 10).mode, ValidateMode::kUnsafe);
  EXPECT_EQ(stage_at(s, 11).part, Part::kDense);
  EXPECT_EQ(stage_at(s, 12).part, Part::kEmbedding);
}

TEST(Parse, StepsKnowTheirLines) {
  const Schedule s = parse(kEveryWord, "every.json");
  EXPECT_EQ(s.iteration[0].line, 13);
  EXPECT_EQ(s.iteration[1].line, 14);
  EXPECT_EQ(s.iteration[2].line, 16);  // the step above takes two lines
  EXPECT_EQ(s.iteration[5].line, 19);
  EXPECT_EQ(std::get<ForEachModule>(s.iteration[5].action).steps[0].line, 20);
  EXPECT_EQ(s.iteration[6].line, 22);
}

TEST(Parse, MainNeedsNoDeclaration) {
  const std::string step = R"("iteration": [{"stage": "zero_grad", "batch": 0, "stream": "main"}]})";
  const Schedule none = parse(R"({"interlace_schedule": 1, "name": "n", )" + step, "x");
  EXPECT_EQ(none.streams, std::vector<Stream>{{.name = "main"}});
  const Schedule other = parse(R"({"interlace_schedule": 1, "name": "n", "streams": {"a": {}}, )" + step, "x");
  EXPECT_EQ(other.streams, (std::vector<Stream>{{.name = "main"}, {.name = "a"}}));
}

// A schedule whose line 5 is `streams` and whose lines from 8 on are `steps`, one a line.
std::string with(const std::string& steps, const std::string& streams = "", const std::string& top = "") {
  return "{\"interlace_schedule\": 1,\n \"name\": \"x\",\n" + top +
         "\n \"streams\": {\"main\": {}, \"memcpy\": {\"priority\": -1}" + streams + "},\n \"iteration\": [\n" + steps +
         "\n]}\n";
}

struct Expected {
  std::string text;
  int line;
  std::string code;
  std::string says;
};

// The text has exactly one problem, which is the expected one.
void expect_one(const Expected& expected) {
  try {
    (void)parse(expected.text, "my.json");
    FAIL() << "accepted: " << expected.text;
  } catch (const InvalidSchedule& error) {
    EXPECT_EQ(error.problems().size(), 1U) << error.what();
    EXPECT_EQ(error.code(), "schedule." + expected.code) << error.what();
    EXPECT_EQ(error.place(), "my.json:" + std::to_string(expected.line)) << error.what();
    EXPECT_NE(error.problem().find(expected.says), std::string::npos) << error.what() << "\nlacks: " << expected.says;
  }
}

constexpr const char* kZero = R"({"stage": "zero_grad", "batch": 0, "stream": "main"})";

TEST(ParseErrors, OfTheWholeFile) {
  expect_one({"[]", 1, "bad_value", "is an array, not an object"});
  expect_one({"{\n\"interlace_schedule\": 2, \"iterations\": 1}", 2, "unknown_version", "version 2"});
  expect_one({"{\n\"interlace_schedule\": \"1\"}", 2, "unknown_version", "is a string, must be 1"});
  expect_one({R"({"name": "x", "iteration": [)" + std::string(kZero) + "]}", 1, "missing_field", "interlace_schedule"});
  expect_one({R"({"interlace_schedule": 1, "iteration": [)" + std::string(kZero) + "]}", 1, "missing_field", "name"});
  expect_one({R"({"interlace_schedule": 1, "name": "x"})", 1, "missing_field", "iteration"});
  expect_one({with(""), 5, "bad_value", "array of one step or more"});
  expect_one({with(kZero, "", "\"discription\": \"\","), 3, "unknown_field", "did you mean \"description\"?"});
  expect_one({with(kZero, "", "\"name\": \"y\","), 3, "repeated_field", "\"name\" stands twice"});
  expect_one({with(kZero, "", "\"hazardous\": 1,"), 3, "bad_value", "is a whole number, not true or false"});
  expect_one({with(kZero, "", "\"description\": [1],"), 3, "bad_value", "holds a whole number"});
}

TEST(ParseErrors, OfNames) {
  const std::string head = R"({"interlace_schedule": 1, "name": ")";
  const std::string tail = R"(", "iteration": [)" + std::string(kZero) + "]}";
  expect_one({head + std::string(129, 'x') + tail, 1, "bad_value", "at most 128 characters"});
  EXPECT_NO_THROW(parse(head + std::string(128, 'x') + tail, "x"));
  for (const std::string name : {"a b", "../x", "x/", "/x", "a//b", "a\\\\b", ".", "a/..", ""}) {
    const std::string text = "{\"interlace_schedule\": 1,\n\"name\": \"" + name + "\", \"iteration\": [" + kZero + "]}";
    expect_one({text, 2, "bad_value", "\"name\""});
  }
}

TEST(Parse, KnownHazards) {
  const Schedule s = parse(with(kZero, "", R"("known_hazards": [{"kind": "a", "of": "b", "why": "c"}],)"), "x");
  EXPECT_EQ(s.known_hazards, (std::vector<KnownHazard>{{"a", "b", "c", {}, {}}}));
  const Schedule between =
      parse(with(kZero, "", R"("known_hazards": [{"kind": "a", "of": "b", "why": "c", "earlier": "backward"}],)"), "x");
  EXPECT_EQ(between.known_hazards, (std::vector<KnownHazard>{{"a", "b", "c", Stage::kBackward, {}}}));
}

TEST(ParseErrors, OfKnownHazards) {
  expect_one({with(kZero, "", R"("known_hazards": {},)"), 3, "bad_value", "is an object, not an array"});
  expect_one({with(kZero, "", R"("known_hazards": ["a"],)"), 3, "bad_value", "not an object"});
  expect_one({with(kZero, "", R"("known_hazards": [{"kind": "a", "of": "b"}],)"), 3, "missing_field", "\"why\""});
  expect_one({with(kZero, "", R"("known_hazards": [{"kind": "a", "of": "b", "why": "c", "wy": "d"}],)"), 3,
              "unknown_field", "\"wy\""});
  expect_one({with(kZero, "", R"("known_hazards": [{"kind": "a", "of": "b", "why": "c", "later": "d"}],)"), 3,
              "unknown_stage", "\"d\" is no stage"});
}

TEST(ParseErrors, OfStreamDeclarations) {
  expect_one({with(kZero, ",\n\"memcpy\": {}"), 5, "duplicate_stream", "declared twice"});
  expect_one({with(kZero, ",\n\"host\": {}"), 5, "bad_value", "the host's own waits"});
  expect_one({with(kZero, ",\n\"\": {}"), 5, "bad_value", "has no name"});
  expect_one({with(kZero, ",\n\"a\": 1"), 5, "bad_value", "is a whole number, not an object"});
  expect_one({with(kZero, ",\n\"a\": {\"same_as\": \"memcopy\"}"), 5, "unknown_stream", "did you mean \"memcpy\"?"});
  expect_one({with(kZero, ",\n\"a\": {\"same_as\": \"main\", \"priority\": 0}"), 5, "misplaced_field", "priority"});
  expect_one({with(kZero, ",\n\"a\": {\"priorty\": 0}"), 5, "unknown_field", "did you mean \"priority\"?"});
  expect_one({with(kZero, ",\n\"a\": {\"priority\": 0.5}"), 5, "bad_value", "is a fraction"});
  expect_one({with(kZero, ",\n\"a\": {\"priority\": 3000000000}"), 5, "bad_value", "must be -2147483648 to"});
  expect_one({with(kZero, ",\n\"a\": {\"priority\": 30000000000000000000}"), 5, "bad_value", "beyond 64 bits"});
  expect_one({with(kZero, ",\n\"a\": {\"same_as\": \"a\"}"), 5, "same_as_cycle", "leads back to itself"});
  expect_one(
      {with(kZero, ",\n\"a\": {\"same_as\":\n\"b\"},\n\"b\": {\"same_as\": \"a\"}"), 5, "same_as_cycle", "\"a\""});
  const std::string main_is_other =
      "{\"interlace_schedule\": 1, \"name\": \"x\", \"streams\": {\"a\": {},\n\"main\": "
      "{\"same_as\": \"a\"}}, \"iteration\": [" +
      std::string(kZero) + "]}";
  expect_one({main_is_other, 2, "bad_value", "main is the stream of the model"});
}

TEST(ParseErrors, OfSteps) {
  const std::string zero = std::string(kZero) + ",\n";
  expect_one({with(zero + "7"), 7, "bad_value", "is a whole number, not an object"});
  expect_one({with(zero + R"({"batch": 0})"), 7, "missing_field", "none of \"stage\", \"wait\""});
  expect_one({with(zero + R"({"stag": "compute", "batch": 0})"), 7, "missing_field", "did you mean \"stage\"?"});
  expect_one({with(zero + R"({"stage": "compute", "stream": "main"})"), 7, "missing_field", "has no \"batch\""});
  expect_one({with(zero + R"({"stage": "compute", "batch": 0})"), 7, "missing_field", "has no \"stream\""});
  expect_one(
      {with(zero + R"({"stage": "validate_output", "batch": 0, "stream": "main"})"), 7, "missing_field", "mode"});
  expect_one({with(zero + R"({"wait": "memcpy"})"), 7, "missing_field", "that waits"});
  expect_one({with(zero + R"({"record": "e"})"), 7, "missing_field", "\"stream\""});
  expect_one({with(zero + R"({"for_each": "module"})"), 7, "missing_field", "\"do\""});
  expect_one({with(zero + R"({"for_each": "module", "do": []})"), 7, "bad_value", "one step or more"});
  expect_one({with(zero + R"({"for_each": "table", "do": [
    {"stage": "compute", "batch": 0, "stream": "main"}]})"),
              7, "bad_value", "\"table\" unknown"});
}

TEST(ParseErrors, OfWordsInSteps) {
  const auto step = [](const std::string& fields) {
    return with(std::string(kZero) + ",\n{\"stage\": \"compute\", \"batch\": 0, \"stream\": \"main\",\n" + fields +
                "}");
  };
  expect_one({step(R"("aftr": ["memcpy"])"), 8, "unknown_field", "did you mean \"after\"?"});
  expect_one({step(R"("colour": 1)"), 8, "unknown_field", "stage \"compute\": field \"colour\" unknown"});
  expect_one({step(R"("after": ["memcopy"])"), 8, "unknown_stream", "did you mean \"memcpy\"?"});
  expect_one({step(R"("after": ["main"])"), 8, "bad_value", "always behind its own work"});
  expect_one({step(R"("after": ["memcpy", "memcpy"])"), 8, "bad_value", "names \"memcpy\" twice"});
  expect_one({step(R"("after": {})"), 8, "bad_value", "is an object, not an array of strings"});
  expect_one({step(R"("part": "dense")"), 8, "misplaced_field", "for stage \"backward\" only"});
  expect_one({step(R"("mode": "event")"), 8, "misplaced_field", "for stage \"validate_output\" only"});
  expect_one({step(R"("async": true)"), 8, "misplaced_field", "for stage \"all_to_all\" only"});
  expect_one({step(R"("on": "host")"), 8, "misplaced_field", "\"on\" has no meaning here"});
  expect_one({step(R"("record": "memcpy")"), 8, "bad_value", "has the name of a stream"});
  expect_one({step(R"("record": 3)"), 8, "bad_value", "is a whole number, not a string"});
  expect_one({step(R"("record": "")"), 8, "bad_value", "\"record\" is empty"});
  expect_one({step(R"("writes": ["x", ""])"), 8, "bad_value", "\"writes\" holds an empty name"});
  expect_one({step(R"("stream": "main")"), 8, "repeated_field", "\"stream\" stands twice"});
}

TEST(ParseErrors, OfStages) {
  expect_one({with(R"({"stage": "zero_grd", "batch": 0, "stream": "main"})"), 6, "unknown_stage",
              "stage \"zero_grd\": unknown; did you mean \"zero_grad\"?"});
  expect_one({with(R"({"stage": "frobnicate", "batch": 0, "stream": "main"})"), 6, "unknown_stage",
              "stage \"frobnicate\": unknown"});
  expect_one(
      {with(R"({"stage": 7, "batch": 0, "stream": "main"})"), 6, "bad_value", "is a whole number, not a string"});
}

TEST(ParseErrors, OfBatches) {
  const auto batch = [](const std::string& value) {
    return with("{\"stage\": \"compute\", \"stream\": \"main\",\n\"batch\": " + value + "}");
  };
  expect_one({batch("-1"), 7, "bad_value", "is -1, must be 0 to 15"});
  expect_one({batch("16"), 7, "bad_value", "is 16, must be 0 to 15"});
  expect_one({batch("1.0"), 7, "bad_value", "is a fraction, not a whole number"});
  expect_one({batch("18446744073709551616"), 7, "bad_value", "is a number beyond 64 bits"});
}

TEST(ParseErrors, OfWaits) {
  const auto steps = [](const std::string& text) {
    return with("{\"record\": \"done\", \"stream\": \"main\"},\n" + text);
  };
  expect_one({steps(R"({"wait": "memcopy", "stream": "main"})"), 7, "unknown_stream", "did you mean \"memcpy\"?"});
  expect_one({steps(R"({"wait": "dne", "on": "host"})"), 7, "event_never_recorded", "did you mean \"done\"?"});
  expect_one({steps(R"({"wait": "memcpy", "stream": "man"})"), 7, "unknown_stream", "did you mean \"main\"?"});
  expect_one({steps(R"({"wait": "memcpy", "stream": "main", "on": "host"})"), 7, "bad_value", "both"});
  expect_one({steps(R"({"wait": "memcpy", "stream": "main", "batch": 0})"), 7, "misplaced_field", "events only"});
  expect_one({steps(R"({"wait": "main", "stream": "main"})"), 7, "bad_value", "waits for itself"});
  expect_one({steps(R"({"wait": "done", "on": "main", "batch": -16})"), 7, "bad_value", "must be -15 to 15"});
}

TEST(ParseErrors, OfForEach) {
  expect_one({with(R"({"for_each": "module", "do": [
    {"stage": "compute", "batch": 0, "stream": "main"},
    {"for_each": "module", "do": [{"stage": "compute", "batch": 0, "stream": "main"}]}]})"),
              8, "nested_for_each", "inside another for_each"});
  expect_one({with(R"({"for_each": "module", "do": [
    {"stage": "compute", "batch": 0, "stream": "main", "module": "a"}]})"),
              7, "misplaced_field", "no meaning inside for_each"});
}

// One slip is reported once, not again as its consequences; and the others of the file are reported with it.
TEST(ParseErrors, AllOfAFileAtOnce) {
  const std::string text = with(R"({"stage": "copy_batch_to_gpu", "batch": 1, "stream": "memcopy"},
{"stage": "input_dist_strat", "batch": 0, "stream": "main"},
{"stage": "input_dist_wait", "batch": 0, "stream": "main", "afer": ["memcpy"]},
{"wait": "never", "on": "main"},
{"stage": "input_dist_finish", "batch": 2, "stream": "main"})");
  try {
    (void)parse(text, "my.json");
    FAIL();
  } catch (const InvalidSchedule& error) {
    std::vector<std::pair<int, std::string>> found;
    for (const Problem& problem : error.problems()) found.emplace_back(problem.line, problem.code.name);
    EXPECT_EQ(found, (std::vector<std::pair<int, std::string>>{{6, "schedule.unknown_stream"},
                                                               {7, "schedule.unknown_stage"},
                                                               {8, "schedule.unknown_field"},
                                                               {9, "schedule.event_never_recorded"},
                                                               {10, "schedule.batch_order"}}))
        << error.what();
  }
}

TEST(ParseFile, ReadsAndRefuses) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "interlace_parse_file";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  const auto code_of = [](const std::filesystem::path& file) -> std::string {
    try {
      (void)parse_file(file);
    } catch (const Error& error) {
      EXPECT_TRUE(error.place().starts_with(file.string()));
      return std::string(error.code());
    }
    return "";
  };
  EXPECT_EQ(parse_file(write("good.json", with(kZero))).source, (folder / "good.json").string());
  EXPECT_EQ(code_of(write("empty.json", "")), "schedule.syntax");
  EXPECT_EQ(code_of(write("huge.json", std::string((1 << 20) + 1, ' '))), "schedule.unreadable");
  EXPECT_EQ(code_of(folder / "missing.json"), "schedule.unreadable");
  EXPECT_EQ(code_of(folder), "schedule.unreadable");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlace::schedule
