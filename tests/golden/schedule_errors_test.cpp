#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "tests/golden/schedule";

std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class ScheduleErrors : public testing::TestWithParam<std::string> {};

// NAME.json is refused with the words of NAME.expected. INTERLACE_UPDATE_GOLDEN=1 writes the latter anew: read the
// difference before you commit it.
TEST_P(ScheduleErrors, AreThoseExpected) {
  std::string said = "accepted\n";
  try {
    (void)parse(text_of(kFolder / (GetParam() + ".json")), GetParam() + ".json");
  } catch (const Error& error) {
    said = std::string(error.what()) + "\n";
  }
  const auto expected = kFolder / (GetParam() + ".expected");
  if (std::getenv("INTERLACE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected, std::ios::binary) << said;
  EXPECT_EQ(said, text_of(expected));
}

INSTANTIATE_TEST_SUITE_P(Golden, ScheduleErrors, testing::Values("words", "order", "streams", "comma", "version"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace interlace::schedule
