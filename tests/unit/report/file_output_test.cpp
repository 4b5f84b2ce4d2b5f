#include "simulator/report/file_output.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "simulator/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::report {
namespace {

/// What it says of the folder; nothing where it takes it.
std::string said_of(const std::filesystem::path& folder) {
  try {
    refuse_unwritable_folder(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "report.cannot_write");
    return error.problem();
  }
  return "";
}

TEST(FileOutput, TakesFoldersThatAreThereOrCanBeMade) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"", "new", "new/", "new/deeper", "new/../other"}) {
    EXPECT_EQ(said_of(folder.path() / name), "") << name;
  }
  EXPECT_EQ(said_of("."), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FileOutput, RefusesFoldersThatCannotBeWrittenTo) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("file", "");
  EXPECT_EQ(said_of(file), file.string() + " is no folder");
  EXPECT_EQ(said_of(file / "below/it"), file.string() + " is no folder");
  std::filesystem::create_symlink(folder.path() / "nothing", folder.path() / "link");
  EXPECT_NE(said_of(folder.path() / "link"), "") << "no folder can be made in its place";
  EXPECT_NE(said_of(folder.path() / std::string(300, 'x')), "") << "too long a name";
  EXPECT_TRUE(said_of("/proc/interlace/new").starts_with("/proc cannot be written to: "));
  EXPECT_NE(said_of(""), "");
}

}  // namespace
}  // namespace interlace::report
