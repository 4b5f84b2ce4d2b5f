// Damages exports of Nsight Systems in seeded random ways. Whatever comes of it is a trace or an Error of those that
// say so, never anything else; run under the asan preset this also finds reads beyond the buffers.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/nsys/read_export.hpp"
#include "tests/support/nsys_export.hpp"
#include "tests/support/sample_trace.hpp"

namespace interlace::ingest::nsys {
namespace {

std::string export_bytes() {
  Diagnostics found;
  return testing::nsys_export_of(trace::sample_trace(found));
}

/// "none" where the bytes read as a trace; else the code of the Error.
std::string outcome_of(const std::string& bytes) {
  // A copy of exactly this size, so that the sanitizer sees a read of one byte beyond.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    (void)read_export({exact.data(), exact.size()}, "damaged.sqlite");
  } catch (const Error& error) {
    EXPECT_TRUE(error.code().starts_with("nsys.") || error.code() == "ingest.nothing_recorded") << error.what();
    return std::string(error.code());
  }
  return "none";
}

// A whole page that is gone is seen where the table of the schema or one that is read had it.
TEST(NsysDamage, TruncationsEndInAnErrorOrATrace) {
  const std::string whole = export_bytes();
  ASSERT_EQ(outcome_of(whole), "none");
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); size += 512) {
    if (outcome_of(whole.substr(0, size)) != "none") ++refused;
  }
  EXPECT_GT(refused, 10);
}

TEST(NsysDamage, ChangedBytesEndInAnErrorOrATrace) {
  const std::string whole = export_bytes();
  std::mt19937_64 random(20261129);
  std::set<std::string> outcomes;
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = whole;
    const auto changes = 1 + random() % 8;
    for (std::uint64_t change = 0; change < changes; ++change) {
      // Half of them where the structure is: in the header and at the beginnings of pages.
      const std::size_t page = random() % (damaged.size() / 4096) * 4096;
      const std::size_t at = random() % 2 == 0 ? page + random() % 100 : random() % damaged.size();
      damaged[at] = static_cast<char>(random());
    }
    outcomes.insert(outcome_of(damaged));
  }
  EXPECT_TRUE(outcomes.contains("none"));
  EXPECT_TRUE(outcomes.contains("nsys.damaged"));
}

// A page that has itself for a child would be read for ever.
TEST(NsysDamage, CirclesOfPagesAreRefused) {
  testing::NsysExport run;
  for (int i = 0; i < 3000; ++i) run.call("cudaLaunchKernel_v7000", 10 * i, 10 * i + 5, i + 1);
  const std::string whole = run.bytes();
  constexpr std::size_t kPage = 4096;
  constexpr unsigned char kInteriorOfTable = 5;
  int interior = 0;
  for (std::size_t page = kPage; page < whole.size(); page += kPage) {
    if (static_cast<unsigned char>(whole[page]) != kInteriorOfTable) continue;
    ++interior;
    const auto number = static_cast<std::uint32_t>(page / kPage + 1);
    std::string circle = whole;
    for (std::size_t i = 0; i < 4; ++i) circle[page + 8 + i] = static_cast<char>(number >> (8 * (3 - i)));
    const std::string outcome = outcome_of(circle);
    EXPECT_EQ(outcome, "nsys.damaged");
  }
  EXPECT_GT(interior, 0);
}

}  // namespace
}  // namespace interlace::ingest::nsys
