// What comes when recording has begun: libraries and children.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

// Its allocator is made after the recording began, so that the program's end destroys it before all that was there by
// then: the recording is to have asked what it holds.
TEST(RecordLateTorch, EndsBeforeTheAllocatorIsDestroyed) {
  const testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  // The collector takes the library beside itself.
  std::filesystem::create_symlink(COLLECTOR_LIBRARY, folder.path() / "libinterlace_collector.so");
  std::filesystem::create_symlink(FAKE_TORCH_HOOK, folder.path() / "libinterlace_torch_allocator.so");
  const std::string command = "exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " CUDA_INJECTION64_PATH=" + base +
                              "/libinterlace_collector.so INTERLACE_RECORD_DIR=" + base +
                              "/trace FAKE_TORCH=" FAKE_TORCH " " FAKE_PROGRAM " late_torch >" + base + "/out 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string out = text_of(folder.path() / "out");
  EXPECT_NE(out.find("loaded 1"), std::string::npos) << out;
  EXPECT_NE(out.find("asked while it lived"), std::string::npos) << out;
  EXPECT_EQ(out.find("asked when destroyed"), std::string::npos) << out;
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  EXPECT_EQ(read.trace.allocator_states().size(), 1U);
  EXPECT_EQ(read.diagnostics.count_of("ilt.truncated"), 0);
}

// It is not recorded: nothing is kept of what it says.
TEST(RecordLateChild, TakesNoMemoryForItsMarks) {
  const Recorded run = record("marks_in_child 200");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("the child took little"), std::string::npos) << run.out;
  EXPECT_TRUE(ReadBack(run.file()).named("in the child").empty());
}

}  // namespace
}  // namespace interlace::collector
