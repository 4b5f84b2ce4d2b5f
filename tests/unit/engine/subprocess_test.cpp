#include "engine/job/subprocess.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <system_error>

#include "simulator/base/start_program.hpp"

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

// As a shell does that runs a command under `trap '' CHLD`.
TEST(Subprocess, HearsOfItsChildrenWhereWhoeverStartedItDidNot) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THROW(static_cast<void>(run_program("/bin/sh", {"-c", "exit 3"})), std::system_error);
  hear_of_ended_children();
  EXPECT_EQ(run_program("/bin/sh", {"-c", "exit 3"}).status, 3);
  std::signal(SIGCHLD, before);
}

TEST(Subprocess, WaitsForAnyOfThoseThatWereStarted) {
  const auto start = [](const char* command) {
    return start_program({.program = "/bin/sh", .arguments = {"-c", command}, .variables = {}, .files = {}});
  };
  const pid_t first = start("exit 7");
  const std::optional<Ended> ended = wait_for_any(std::chrono::seconds(20));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->process, first);
  EXPECT_EQ(ended->status, 7);
  const pid_t second = start("exec sleep 20");
  EXPECT_EQ(wait_for_any(std::chrono::milliseconds(30)), std::nullopt);
  ASSERT_EQ(kill(second, SIGKILL), 0);
  EXPECT_EQ(wait_for_any(std::chrono::seconds(20))->status, 128 + SIGKILL);
}

TEST(Subprocess, KnowsItself) { EXPECT_EQ(std::filesystem::path(this_program()).filename(), "test_engine_pipeline"); }

}  // namespace
}  // namespace interlace::engine
