#include "simulator/base/start_program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <system_error>

namespace interlace {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0); }
  ~Pipe() { close(ends[0]); }
  std::array<int, 2> ends{};
};

TEST(StartProgram, GivesItVariablesAndFiles) {
  Pipe out;
  const pid_t child = start_program({.program = "sh",
                                     .arguments = {"-c", "printf %s \"$INTERLACE_TEST\"; exit 7"},
                                     .variables = {{"INTERLACE_TEST", "a b"}},
                                     .files = {{STDOUT_FILENO, out.ends[1]}}});
  close(out.ends[1]);
  std::array<char, 8> got{};
  EXPECT_EQ(read(out.ends[0], got.data(), got.size()), 3);
  EXPECT_STREQ(got.data(), "a b");
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(StartProgram, SaysWhyItCannot) {
  try {
    static_cast<void>(start_program({.program = "/no/such/program", .arguments = {}, .variables = {}, .files = {}}));
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

// The pipe's end comes when all that hold its other end are gone: the starter and what it started.
TEST(StartProgram, WhatIsStartedEndsWithItsStarter) {
  Pipe out;
  const pid_t starter = fork();
  if (starter == 0) {
    static_cast<void>(start_program({.program = "sh",
                                     .arguments = {"-c", "printf r; exec sleep 60"},
                                     .variables = {},
                                     .files = {{STDOUT_FILENO, out.ends[1]}}}));
    while (true) pause();
  }
  close(out.ends[1]);
  char ready = 0;
  ASSERT_EQ(read(out.ends[0], &ready, 1), 1);
  ASSERT_EQ(kill(starter, SIGKILL), 0);
  ASSERT_EQ(waitpid(starter, nullptr, 0), starter);
  pollfd end{.fd = out.ends[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 20'000), 1);
}

}  // namespace
}  // namespace interlace
