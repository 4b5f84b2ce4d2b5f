#include "cupti_collector/flight_ring.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>

#include "cupti_collector/recording_file.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::collector {
namespace {

/// A file of which the last part is kept, with a kernel for each call of `add`.
class FlightRingTest : public ::testing::Test {
 protected:
  RecordingFile file_of(Nanoseconds last, Bytes most) {
    return {{folder_.path(), {}, "run", "test", last, most},
            {42,
             [](ApiDomain, std::uint32_t) {
               return CallTable::Call{"cudaLaunchKernel", CallRole::kLaunch};
             },
             [](std::int64_t) { return std::string("main"); }}};
  }
  static void add(RecordingFile& file, std::uint32_t correlation) {
    KernelRecord kernel{};
    kernel.name = "k";
    kernel.start = 1'000 + std::uint64_t{correlation} * 1'000;
    kernel.end = kernel.start + 500;
    kernel.correlation = correlation;
    file.rows().on(kernel);
  }
  static void say(RecordingFile& file, std::int64_t times) {
    Diagnostics said;
    said.count({"record.stopped", Severity::kInfo, "times", "none"}, {}, times);
    file.add_diagnostics(said);
  }
  trace::Trace read(const std::filesystem::path& file) { return trace::read_ilt(file, diagnostics_); }

  testing::TemporaryFolder folder_;
  Diagnostics diagnostics_;
};

TEST_F(FlightRingTest, KeepsNoMoreBytesThanAllowed) {
  RecordingFile file = file_of(kSecond, 4'000);
  file.open({});
  for (std::uint32_t i = 1; i <= 1'000; ++i) {
    add(file, i);
    file.flush(1);
    EXPECT_LE(file.size(), 4'000);
  }
  EXPECT_TRUE(file.is_cut());
  EXPECT_GT(file.grown(), 100'000);
  file.close(2);
  const trace::Trace trace = read(file.path());
  EXPECT_GT(trace.size(), 3U);
  EXPECT_LT(trace.size(), 100U);
  EXPECT_EQ(diagnostics_.count_of("ilt.lost_operations"), 0) << "rows are numbered anew";
}

TEST_F(FlightRingTest, SaysEachDiagnosticOnceHoweverOftenItIsWritten) {
  RecordingFile file = file_of(kSecond, 0);
  file.open({});
  add(file, 1);
  Bytes size = 0;
  for (int i = 0; i < 50; ++i) {
    say(file, 2);
    file.dump();
    if (i == 0) size = file.size();
    EXPECT_LT(file.size(), size + 20) << "counts grow, what says them does not";
  }
  static_cast<void>(read(file.path()));
  EXPECT_EQ(diagnostics_.count_of("record.stopped"), 100);
  EXPECT_EQ(diagnostics_.count_of("ilt.lost_definitions"), 0);
}

TEST_F(FlightRingTest, LeavesWhatWasWrittenBeforeUntilAllIsWritten) {
  RecordingFile file = file_of(kSecond, 0);
  file.open({});
  add(file, 1);
  file.dump();
  const auto before = folder_.path() / "before.ilt";
  std::filesystem::create_hard_link(file.path(), before);
  add(file, 2);
  file.dump();
  EXPECT_EQ(read(before).size(), 1U) << "who has it open has it whole";
  EXPECT_EQ(read(file.path()).size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(unfinished(file.path())));
}

}  // namespace
}  // namespace interlace::collector
