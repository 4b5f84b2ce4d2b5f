#include <gtest/gtest.h>

#include "simulator/trace/ilt/reader.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

/// Files stay readable: each version of the format has the sample trace as that version wrote it. A file here is never
/// written anew; a version that changes what is written adds its own.
TEST(IltVersions, EveryVersionOfTheSampleReadsTheSame) {
  Diagnostics expected;
  const Trace sample = sample_trace(expected);
  Diagnostics found;
  const Trace trace = read_ilt(INTERLACE_SOURCE_DIR "/tests/golden/ilt/version_1_0.ilt", found);
  EXPECT_EQ(first_difference(sample, trace), "");
  EXPECT_EQ(found.entries(), expected.entries());
}

}  // namespace
}  // namespace interlace::trace
