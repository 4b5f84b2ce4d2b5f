#include "simulator/base/text_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace interlace {
namespace {

constexpr ErrorCode kRefused{"test.refused"};

std::string problem_with(const std::filesystem::path& file, std::size_t most_bytes = 4) {
  try {
    return "none: " + read_text_file(file, kRefused, "advice", most_bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "test.refused");
    EXPECT_EQ(error.place(), file.string());
    EXPECT_EQ(error.advice(), "advice");
    return error.problem();
  }
}

TEST(ReadTextFile, GivesAllOfIt) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(problem_with(folder.write("four", "a\nb\n")), "none: a\nb\n");
  EXPECT_EQ(problem_with(folder.write("empty", "")), "none: ");
  const std::string large(200'000, 'x');
  EXPECT_EQ(problem_with(folder.write("large", large), large.size()), "none: " + large);
}

TEST(ReadTextFile, SaysWhyItCannot) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(problem_with(folder.path()), "is a folder");
  EXPECT_EQ(problem_with(folder.path() / "none"), "cannot be opened");
  EXPECT_EQ(problem_with(folder.path() / std::string(5'000, 'x')), "cannot be opened") << "no name of a file at all";
  EXPECT_EQ(problem_with(folder.write("five", "12345")), "has more than 4 bytes");
}

}  // namespace
}  // namespace interlace
