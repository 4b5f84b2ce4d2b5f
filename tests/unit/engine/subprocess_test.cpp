#include "engine/job/subprocess.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <system_error>

namespace interlace::engine {
namespace {

TEST(Subprocess, GivesWhatTheProgramWroteAndItsStatus) {
  const Finished finished = run_program("/bin/sh", {"-c", "printf 'a b'; exit 3"});
  EXPECT_EQ(finished.out, "a b");
  EXPECT_EQ(finished.status, 3);
}

// More than a pipe holds.
TEST(Subprocess, TakesLongOutputs) {
  const Finished finished = run_program("/bin/sh", {"-c", "head -c 1000000 /dev/zero"});
  EXPECT_EQ(finished.out, std::string(1'000'000, '\0'));
  EXPECT_EQ(finished.status, 0);
}

TEST(Subprocess, TellsTheSignalThatEndedIt) { EXPECT_EQ(run_program("/bin/sh", {"-c", "kill -9 $$"}).status, 128 + 9); }

TEST(Subprocess, ThrowsWhereThereIsNoSuchProgram) {
  EXPECT_THROW(static_cast<void>(run_program("/no/such/program", {})), std::system_error);
}

TEST(Subprocess, StartsProgramsWithFurtherVariables) {
  const pid_t first = start_program("/bin/sh", {"-c", "exit $INTERLACE_TEST_STATUS"}, {{"INTERLACE_TEST_STATUS", "7"}});
  const std::optional<Ended> ended = wait_for_any(std::chrono::seconds(20));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->process, first);
  EXPECT_EQ(ended->status, 7);
  const pid_t second = start_program("/bin/sh", {"-c", "exec sleep 20"}, {});
  EXPECT_EQ(wait_for_any(std::chrono::milliseconds(30)), std::nullopt);
  ASSERT_EQ(kill(second, SIGKILL), 0);
  EXPECT_EQ(wait_for_any(std::chrono::seconds(20))->status, 128 + SIGKILL);
}

// The pipe's end comes when all that hold its other end are gone: the starter and what it started.
TEST(Subprocess, EndsWithItsStarterWhereAskedTo) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t starter = fork();
  if (starter == 0) {
    if (fork() == 0) {
      end_with_starter();
      static_cast<void>(write(ends[1], "r", 1));
    }
    while (true) pause();
  }
  close(ends[1]);
  char ready = 0;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  ASSERT_EQ(kill(starter, SIGKILL), 0);
  EXPECT_EQ(wait_for_any(std::chrono::seconds(20))->process, starter);
  pollfd end{.fd = ends[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 20'000), 1);
  close(ends[0]);
}

TEST(Subprocess, KnowsItself) { EXPECT_EQ(std::filesystem::path(this_program()).filename(), "test_engine_pipeline"); }

}  // namespace
}  // namespace interlace::engine
