#include "simulator/ingest/file_bytes.hpp"

#include <gtest/gtest.h>

#include "simulator/base/error.hpp"
#include "tests/support/gzip.hpp"

namespace interlace::ingest {
namespace {

using testing::gzip;

std::string code_of_inflating(const std::string& compressed, const ReadOptions& options = {}) {
  try {
    (void)inflate(compressed, "some.json.gz", options);
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return "none";
}

TEST(Inflate, GivesBackWhatWasCompressed) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(inflate(gzip(text), "a", {}).text(), text);
}

TEST(Inflate, JoinsMembers) {
  const std::string one(70'000, '1');
  const std::string two = "two";
  const FileBytes joined = inflate(gzip(one) + gzip(two), "a", {});
  EXPECT_EQ(joined.text(), one + two);
  EXPECT_EQ(joined.trailing_bytes, 0);
}

TEST(Inflate, CountsWhatFollowsTheLastMember) {
  EXPECT_EQ(inflate(gzip("text") + "more", "a", {}).trailing_bytes, 4);
  EXPECT_EQ(inflate(gzip("text") + std::string(512, '\0'), "a", {}).trailing_bytes, 0);  // padding, as tar writes
}

TEST(Inflate, RefusesEveryTruncation) {
  const std::string whole = gzip("some text that is long enough to be cut anywhere");
  for (std::size_t size = 2; size < whole.size(); ++size) {
    EXPECT_EQ(code_of_inflating(whole.substr(0, size)), "ingest.damaged_gzip") << size;
  }
}

TEST(Inflate, RefusesDamage) {
  std::string damaged = gzip(std::string(1000, 'a') + "b" + std::string(1000, 'c'));
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_EQ(code_of_inflating(damaged), "ingest.damaged_gzip");
}

TEST(Inflate, StopsAtTheLimit) {
  const std::string text(1'000'000, ' ');
  ReadOptions options;
  options.max_inflated_bytes = 999'999;
  EXPECT_EQ(code_of_inflating(gzip(text), options), "kineto.inflates_too_large");
  options.max_inflated_bytes = 1'000'000;
  EXPECT_EQ(code_of_inflating(gzip(text), options), "none");
}

TEST(Inflate, StopsAtTheLimitWhereTheTrailerHidesTheSize) {
  // The last member says 4 bytes.
  ReadOptions options;
  options.max_inflated_bytes = 999'999;
  EXPECT_EQ(code_of_inflating(gzip(std::string(1'000'000, ' ')) + gzip("tiny"), options), "kineto.inflates_too_large");
}

TEST(Inflate, RefusesABombByItsRatio) {
  // 300 MiB of blanks in 300 members: more than 256 MiB, and about 900 times the compressed size.
  const std::string member = gzip(std::string(std::size_t{1} << 20U, ' '));
  std::string bomb;
  for (int i = 0; i < 300; ++i) bomb += member;
  EXPECT_EQ(code_of_inflating(bomb), "kineto.inflates_too_large");
}

}  // namespace
}  // namespace interlace::ingest
