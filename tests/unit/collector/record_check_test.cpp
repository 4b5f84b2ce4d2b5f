// What `interlace check` says of recorded programs.
#include <gtest/gtest.h>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

struct Judgement {
  int status = 0;
  std::string text;
};

/// What a command of `interlace` says of a recording.
Judgement judge(const Recorded& run, const std::string& command = "check") {
  const std::string out = (run.folder->path() / "judgement").string();
  const int status = std::system(
      ("exec " INTERLACE_BINARY " " + command + " " + (run.folder->path() / "trace").string() + " >" + out + " 2>&1")
          .c_str());
  return {WEXITSTATUS(status), text_of(out)};
}

TEST(RecordCheck, FindsAMissingWait) {
  const Judgement judgement = judge(record("missing_wait"));
  EXPECT_EQ(judgement.status, 1) << judgement.text;
  EXPECT_NE(judgement.text.find("read_before_write: batch on rank 0"), std::string::npos) << judgement.text;
  EXPECT_NE(judgement.text.find("seen 6 times"), std::string::npos) << judgement.text;
}

TEST(RecordCheck, FindsNothingInTheRepairedTwin) {
  const Judgement judgement = judge(record("repaired_wait"));
  EXPECT_EQ(judgement.status, 0) << judgement.text;
  EXPECT_NE(judgement.text.find("sound"), std::string::npos) << judgement.text;
}

TEST(RecordInfo, TakesTheProgramsBeforeAndAfterAnExec) {
  const Recorded run = record("exec");
  EXPECT_EQ(run.files().size(), 2U);
  const Judgement judgement = judge(run, "info");
  EXPECT_EQ(judgement.status, 0) << judgement.text;
}

}  // namespace
}  // namespace interlace::collector
