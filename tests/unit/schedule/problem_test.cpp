#include "simulator/schedule/problem.hpp"

#include <gtest/gtest.h>

namespace interlace::schedule {
namespace {

TEST(InvalidSchedule, SaysAllProblemsInTheOrderOfTheFile) {
  const InvalidSchedule error("my.json", {{kBadValue, 9, "nine"}, {kUnknownStage, 4, "four"}, {kSyntax, 0, "whole"}});
  EXPECT_EQ(error.code(), "schedule.syntax");
  EXPECT_EQ(error.place(), "my.json");
  EXPECT_STREQ(error.what(),
               "error[schedule.syntax]: my.json: whole\n"
               "error[schedule.unknown_stage]: my.json:4: four\n"
               "error[schedule.bad_value]: my.json:9: nine");
  ASSERT_EQ(error.problems().size(), 3U);
  EXPECT_EQ(error.problems()[1].line, 4);
}

}  // namespace
}  // namespace interlace::schedule
