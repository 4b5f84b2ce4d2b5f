#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "simulator/trace/ilt/reader.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

/// Files stay readable: each version of the format has the sample trace as that version wrote it. A file here is never
/// written anew; a version that changes what is written adds its own.
void expect_reads_as(const std::string& file, const Trace& sample, const Diagnostics& expected) {
  Diagnostics found;
  const Trace trace = read_ilt(std::filesystem::path(INTERLACE_SOURCE_DIR "/tests/golden/ilt") / file, found);
  EXPECT_EQ(first_difference(sample, trace), "") << file;
  EXPECT_EQ(found.entries(), expected.entries()) << file;
}

TEST(IltVersions, EveryVersionOfTheSampleReadsTheSame) {
  Diagnostics of_1_0;
  const Trace sample_of_1_0 = sample_trace_of_1_0(of_1_0);
  expect_reads_as("version_1_0.ilt", sample_of_1_0, of_1_0);
  Diagnostics of_1_1;
  const Trace sample_of_1_1 = sample_trace_of_1_1(of_1_1);
  expect_reads_as("version_1_1.ilt", sample_of_1_1, of_1_1);
  Diagnostics of_1_2;
  const Trace sample_of_1_2 = sample_trace_of_1_2(of_1_2);
  expect_reads_as("version_1_2.ilt", sample_of_1_2, of_1_2);
  expect_reads_as("version_1_3.ilt", sample_of_1_2, of_1_2);
  Diagnostics of_1_4;
  const Trace sample_of_1_4 = sample_trace(of_1_4);
  expect_reads_as("version_1_4.ilt", sample_of_1_4, of_1_4);
}

}  // namespace
}  // namespace interlace::trace
