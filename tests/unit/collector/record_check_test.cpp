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

/// What `interlace check` says of a recording of a real program on an H200.
Judgement judge_sample(const std::string& name) {
  const testing::TemporaryFolder folder;
  const std::string out = (folder.path() / "judgement").string();
  const std::string file = std::string(INTERLACE_SOURCE_DIR) + "/samples/traces/collector_h200/" + name + ".ilt";
  const int status = std::system(("exec " INTERLACE_BINARY " check " + file + " >" + out + " 2>&1").c_str());
  return {WEXITSTATUS(status), text_of(out)};
}

TEST(RecordCheck, JudgesRealPrograms) {
  for (const char* name : {"repaired_wait", "torch_repaired"}) {
    const Judgement judgement = judge_sample(name);
    EXPECT_EQ(judgement.status, 0) << name << judgement.text;
  }
  for (const char* name : {"missing_wait", "torch_missing_wait"}) {
    const Judgement judgement = judge_sample(name);
    EXPECT_EQ(judgement.status, 1) << name << judgement.text;
    EXPECT_NE(judgement.text.find("read_before_write: batch"), std::string::npos) << judgement.text;
  }
  const Judgement judgement = judge_sample("torch_missing_record_stream");
  EXPECT_EQ(judgement.status, 1);
  EXPECT_NE(judgement.text.find("1 hazard\n"), std::string::npos) << judgement.text;
  EXPECT_NE(judgement.text.find("free_before_last_use: batch"), std::string::npos) << judgement.text;
}

TEST(RecordInfo, TakesTheProgramsBeforeAndAfterAnExec) {
  const Recorded run = record("exec");
  EXPECT_EQ(run.files().size(), 2U);
  const Judgement judgement = judge(run, "info");
  EXPECT_EQ(judgement.status, 0) << judgement.text;
}

}  // namespace
}  // namespace interlace::collector
