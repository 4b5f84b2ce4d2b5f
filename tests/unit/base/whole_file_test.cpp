#include "simulator/base/whole_file.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace interlace {
namespace {

namespace fs = std::filesystem;

std::string text_in(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_over(const fs::path& file, const std::string& text) {
  WholeFile whole(file);
  ASSERT_TRUE(whole.is_open());
  whole.stream() << text;
  EXPECT_TRUE(whole.finish());
}

class WholeFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path at(const char* name) const { return folder_.path() / name; }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(WholeFileTest, TakesThePlaceOfTheOldOneWhenItIsFinished) {
  write_over(at("file"), "old");
  WholeFile whole(at("file"));
  whole.stream() << "new" << std::flush;
  EXPECT_EQ(text_in(at("file")), "old");
  EXPECT_TRUE(whole.finish());
  EXPECT_EQ(text_in(at("file")), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFileTest, LeavesTheOldOneWhereItIsNotFinished) {
  write_over(at("file"), "old");
  WholeFile(at("file")).stream() << "half of the n" << std::flush;
  EXPECT_EQ(text_in(at("file")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFileTest, LeavesTheOldOneWhereTheDiskIsFull) {
  write_over(at("file"), "old");
  WholeFile whole(at("file"));
  whole.stream().setstate(std::ios::badbit);
  EXPECT_FALSE(whole.finish());
  EXPECT_EQ(text_in(at("file")), "old");
}

TEST_F(WholeFileTest, LeavesNothingWhereItsPlaceIsTakenMeanwhile) {
  {
    WholeFile whole(at("file"));
    whole.stream() << "new";
    fs::create_directory(at("file"));
    EXPECT_FALSE(whole.finish());
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFileTest, WritesIntoWhatIsOpenAlready) {
  write_over(at("file"), "old");
  std::ofstream open(at("file"), std::ios::app);
  for (const auto& link : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::equivalent(link.path(), at("file"), ignored)) write_over(link.path(), "new");
  }
  open << ", and more" << std::flush;
  EXPECT_EQ(text_in(at("file")), "new, and more");
}

TEST_F(WholeFileTest, KeepsLinksAndPermissions) {
  write_over(at("target"), "old");
  fs::permissions(at("target"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", at("link"));
  write_over(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(text_in(at("target")), "new");
  EXPECT_EQ(fs::status(at("target")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(WholeFileTest, WritesDevicesAsItComes) {
  write_over("/dev/null", "lost");
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
  WholeFile full("/dev/full");
  full.stream() << "nowhere";
  EXPECT_FALSE(full.finish());
}

TEST_F(WholeFileTest, CannotBeMadeWithoutItsFolder) { EXPECT_FALSE(WholeFile(at("missing") / "file").is_open()); }

}  // namespace
}  // namespace interlace
