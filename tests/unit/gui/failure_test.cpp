#include "gui/session/failure.hpp"

#include <gtest/gtest.h>

#include "simulator/base/error.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

TEST(Failure, OfAScheduleIsALineAProblem) {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("bad.json", R"({"interlace_schedule": 1, "name": "mine/bad", "streams": {"main": {}},
    "iteration": [
      {"stage": "nonsense", "batch": 0, "stream": "main"},
      {"stage": "backward", "batch": 0, "stream": "nowhere"}]})");
  Failure failure;
  try {
    (void)schedule::load(file.string());
    FAIL() << "read";
  } catch (const Error&) {
    failure = failure_of(std::current_exception(), "The schedule cannot be used");
  }
  EXPECT_EQ(failure.place, file.string());
  EXPECT_TRUE(failure.problem.starts_with("Line 3: ")) << failure.problem;
  EXPECT_NE(failure.problem.find("\nLine 4: "), std::string::npos) << failure.problem;
  EXPECT_EQ(failure.problem.find("error["), std::string::npos) << "as the command line has it";
  EXPECT_NE(failure.code.find("schedule.unknown_stage, "), std::string::npos) << failure.code;
}

}  // namespace
}  // namespace interlace::gui
