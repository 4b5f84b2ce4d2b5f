#include "engine/job/standard_output.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "tests/support/file_content.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::engine {
namespace {

// What a process printed that has kept its standard output.
struct Printed {
  std::string out;
  std::string err;
};

// out: its standard output; empty: a file.
template <class Print>
Printed printed_by(const Print& print, std::string out = "") {
  const testing::TemporaryFolder folder;
  const std::string err = folder.write("err", "").string();
  if (out.empty()) out = folder.write("out", "").string();
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const bool there = std::freopen(out.c_str(), "w", stdout) != nullptr && std::freopen(err.c_str(), "w", stderr);
    keep_standard_output();
    print();
    _exit(there ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return {.out = out == "/dev/full" ? "" : testing::content_of(out), .err = testing::content_of(err)};
}

// Also behind the result, and where the process then ends without flushing.
TEST(StandardOutput, HoldsNoLinesOfLibraries) {
  const Printed printed = printed_by([] {
    std::printf("NCCL version\n");
    std::cout << R"({"a": 1})" << std::flush;
    std::printf("NCCL INFO\n");
  });
  EXPECT_EQ(printed.out, R"({"a": 1})");
  EXPECT_EQ(printed.err, "NCCL version\nNCCL INFO\n");
}

// Programs say by std::cout that what they wrote was lost.
TEST(StandardOutput, TellsWhereItCannotBeWritten) {
  const Printed printed = printed_by(
      [] {
        std::cout << "a" << std::flush;
        std::cerr << (std::cout ? "written" : "lost");
      },
      "/dev/full");
  EXPECT_EQ(printed.err, "lost");
}

}  // namespace
}  // namespace interlace::engine
