#include "simulator/ingest/kineto/numbers.hpp"

#include <gtest/gtest.h>

namespace interlace::ingest::kineto {
namespace {

TEST(ParseMicroseconds, IsExact) {
  EXPECT_EQ(parse_microseconds("0"), 0);
  EXPECT_EQ(parse_microseconds("4405607881792.935"), 4'405'607'881'792'935);
  EXPECT_EQ(parse_microseconds("9007199254740.993"), 9'007'199'254'740'993);  // 2^53 + 1: no double
  EXPECT_EQ(parse_microseconds("1669329643132548"), 1'669'329'643'132'548'000);
  EXPECT_EQ(parse_microseconds("30.8"), 30'800);
  EXPECT_EQ(parse_microseconds("-1.5"), -1'500);
  EXPECT_EQ(parse_microseconds("0.001"), 1);
}

TEST(ParseMicroseconds, RoundsBeyondNanoseconds) {
  EXPECT_EQ(parse_microseconds("30.839000000000002"), 30'839);
  EXPECT_EQ(parse_microseconds("30.8385"), 30'839);
  EXPECT_EQ(parse_microseconds("30.8384999"), 30'838);
  EXPECT_EQ(parse_microseconds("-0.0005"), -1);
}

TEST(ParseMicroseconds, KnowsExponents) {
  EXPECT_EQ(parse_microseconds("4.405607881792935e12"), 4'405'607'881'792'935);
  EXPECT_EQ(parse_microseconds("1E+3"), 1'000'000);
  EXPECT_EQ(parse_microseconds("15e-1"), 1'500);
  EXPECT_EQ(parse_microseconds("15e-5"), 0);   // 0.15 ns
  EXPECT_EQ(parse_microseconds("15e-4"), 2);   // 1.5 ns
  EXPECT_EQ(parse_microseconds("150e-6"), 0);  // 0.15 ns
  EXPECT_EQ(parse_microseconds("0e30"), 0);
}

TEST(ParseMicroseconds, RefusesWhatIsNoNumberOrTooLarge) {
  for (const char* const text : {"", "-", ".", "e3", "abc", "1.2.3", "1,5", "1e", "1e99", "1e3.5", " 1", "1 ", "NaN",
                                 "inf", "99999999999999999999", "9223372036854775807", "1e30"}) {
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, TakesIntegersOnly) {
  EXPECT_EQ(parse_integer("7"), 7);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("7.000"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* const text : {"", "7.5", "9223372036854775808", "0x10", "7a", "null", "true"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(ParseIntegers, TakesWholeListsOnly) {
  EXPECT_EQ(parse_integers("[]"), std::vector<std::int64_t>{});
  EXPECT_EQ(parse_integers("[7]"), std::vector<std::int64_t>{7});
  EXPECT_EQ(parse_integers("[10874177, -1,3]"), (std::vector<std::int64_t>{10'874'177, -1, 3}));
  for (const char* const text : {"", "[", "7", "[7", "7]", "[1, 2, ...]", "[1 2]", "[a]", "[1,, 2]", "[7,]", "[,]"}) {
    EXPECT_EQ(parse_integers(text), std::nullopt) << text;
  }
}

TEST(ParseUnsigned, TakesAllBits) {
  EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_unsigned("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_unsigned("-1"), std::nullopt);
}

}  // namespace
}  // namespace interlace::ingest::kineto
