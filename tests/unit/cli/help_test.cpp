#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

TEST(Help, FitsTheTerminal) {
  for (const std::string command :
       {"", "predict", "explain", "info", "search", "sweep", "schedules", "convert", "merge", "check", "validate"}) {
    for (const auto& [columns, widest] : {std::pair{"80", 80U}, std::pair{"140", 100U}, std::pair{"", 100U}}) {
      const Finished help = interlace(command + " --help", columns);
      EXPECT_EQ(help.status, 0);
      std::istringstream lines(help.out);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), widest) << command << ": " << line;
    }
  }
}

TEST(Help, SaysWhichOptionsTakeSeveralValues) {
  const std::string predict = interlace("predict --help").out;
  EXPECT_NE(predict.find("--again FILE|DIR  "), std::string::npos) << "takes one value a time: " << predict;
  EXPECT_NE(predict.find("--from FILE|DIR ..."), std::string::npos) << predict;
}

}  // namespace
}  // namespace interlace::cli
