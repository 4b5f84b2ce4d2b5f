#include "simulator/base/json_error.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace interlace {
namespace {

/// What is said of a text that the library refuses.
std::string said_of(const std::string& text) {
  try {
    return "accepted: " + nlohmann::json::parse(text).dump();
  } catch (const nlohmann::json::exception& error) {
    return not_json(error.what());
  }
}

TEST(JsonError, TellsTheLineAndNotTheLibrary) {
  const std::string said = said_of("{\n\"a\": }");
  EXPECT_TRUE(said.starts_with("line 2: not JSON: syntax error")) << said;
  EXPECT_EQ(said.find("json.exception"), std::string::npos) << said;
  EXPECT_TRUE(said_of("").starts_with("line 1: not JSON: ")) << said_of("");
}

TEST(JsonError, NeedsNoLine) { EXPECT_EQ(said_of("1e999"), "not JSON: number overflow parsing '1e999'"); }

TEST(JsonError, LeavesOtherTextsAsTheyAre) { EXPECT_EQ(json_complaint("a: b"), "a: b"); }

}  // namespace
}  // namespace interlace
