#include "cupti_collector/flight_ring.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <ostream>
#include <random>

#include "cupti_collector/recording_file.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/session_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

int syncs = 0;
int failing_sync = 0;

}  // namespace

/// In front of the system's.
extern "C" int fsync(int) { return ++syncs == failing_sync ? -1 : 0; }

namespace interlace::collector {
namespace {

/// A file of which the last part is kept, with a kernel for each call of `add`.
class FlightRingTest : public ::testing::Test {
 protected:
  RecordingFile file_of(Nanoseconds last, Bytes most, std::uint64_t most_rows = UINT32_MAX) {
    return {{folder_.path(), {}, "run", "test", last, most, most_rows},
            {42,
             [](ApiDomain, std::uint32_t) {
               return CallTable::Call{"cudaLaunchKernel", CallRole::kLaunch};
             },
             [](std::int64_t) { return std::string("main"); }, 1 << 20, Bytes{1} << 30}};
  }
  static void add(RecordingFile& file, std::uint32_t correlation) {
    KernelRecord kernel{};
    kernel.name = "k";
    kernel.start = 1'000 + std::uint64_t{correlation} * 1'000;
    kernel.end = kernel.start + 500;
    kernel.correlation = correlation;
    file.rows().on(kernel);
  }
  /// So many MiB of names that no compression makes small.
  static void add_names(RecordingFile& file, int mebibytes) {
    std::mt19937_64 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
    std::array<std::uint64_t, 512> name{};
    for (int i = 0; i < mebibytes << 8; ++i) {
      for (std::uint64_t& letters : name) letters = random();
      NamedRange range;
      range.name = {reinterpret_cast<const char*>(name.data()), sizeof(name)};
      file.rows().range(range);
    }
  }
  static void say(RecordingFile& file, std::int64_t times) {
    Diagnostics said;
    said.count({"record.stopped", Severity::kInfo, "times", "none"}, {}, times);
    file.add_diagnostics(said);
  }
  /// Whether a child that is forked now and abandons the file has nothing of the folder open.
  bool child_leaves_all(RecordingFile& file) {
    const pid_t child = fork();
    if (child == 0) {
      file.abandon();
      bool has_left = true;
      for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;  // the iterator's own
        const auto target = std::filesystem::read_symlink(open, gone).string();
        has_left = has_left && !target.starts_with(folder_.path().string());
      }
      _exit(has_left ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
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

// A program that gives each mark another name has soon more names than it may keep in memory.
TEST_F(FlightRingTest, KeepsAShareForWhatHappenedHoweverManyNamesThereAre) {
  constexpr Bytes kMost = 200'000;
  RecordingFile file = file_of(10 * kSecond, kMost);
  file.open({});
  add_names(file, 1);
  file.flush(1);
  ASSERT_GT(file.size(), 5 * kMost);
  for (std::uint32_t i = 1; i <= 100; ++i) {
    add(file, i);
    file.flush(1);
  }
  file.close(2);
  const trace::Trace trace = read(file.path());
  std::int64_t kernels = 0;
  for (std::uint32_t i = 0; i < trace.size(); ++i) kernels += trace.kernel({i}) != nullptr ? 1 : 0;
  EXPECT_EQ(kernels, 100);
}

// The writer writes 65,536 rows at once, whether or not anybody flushes it.
TEST_F(FlightRingTest, KeepsWhatIsWrittenBetweenFlushes) {
  RecordingFile file = file_of(10 * kSecond, 0);
  file.open({});
  constexpr std::uint32_t kKernels = 140'000;
  for (std::uint32_t i = 1; i <= kKernels; ++i) add(file, i);
  file.flush(1);
  file.close(2);
  EXPECT_EQ(read(file.path()).size(), kKernels);
  EXPECT_FALSE(file.is_cut());
}

// The limit of a table stands for the format's of 2^32 - 1 rows, which a job of weeks has.
TEST_F(FlightRingTest, GoesOnBeyondTheRowsThatAFileMayHave) {
  constexpr std::uint64_t kMostRows = 100;
  RecordingFile file = file_of(10 * kSecond, 4'000, kMostRows);
  file.open({});
  for (std::uint32_t i = 1; i <= 10 * kMostRows; ++i) {
    add(file, i);
    file.flush(1);
  }
  file.close(2);
  EXPECT_GT(read(file.path()).size(), 3U);
  EXPECT_EQ(diagnostics_.count_of("record.write_failed"), 0);
}

TEST_F(FlightRingTest, IsWrittenWhereTheRecordingFails) {
  constexpr std::uint64_t kMostRows = 100;
  RecordingFile file = file_of(10 * kSecond, 0, kMostRows);
  file.open({});
  add(file, 1);
  say(file, 2);
  file.flush(1);
  add(file, 2);
  const auto name_many = [&] {
    for (std::uint64_t i = 0; i <= kMostRows; ++i) {
      const std::string name = std::to_string(i);
      file.rows().range({.name = name});
    }
  };
  EXPECT_THROW(name_many(), Error) << "names have numbers for ever";
  file.rescue("for a reason");
  EXPECT_EQ(read(file.path()).size(), 1U) << "what was written";
  EXPECT_EQ(diagnostics_.count_of("record.write_failed"), 1);
  EXPECT_EQ(diagnostics_.count_of("record.last_part"), 1);
  EXPECT_EQ(diagnostics_.count_of("record.stopped"), 2);
  EXPECT_TRUE(trace::read_session(file.path()).is_ended);
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

TEST_F(FlightRingTest, WaitsForTheDiskInPartsAndTellsOfEach) {
  RecordingFile file = file_of(kSecond, 0);
  file.open({});
  add_names(file, 140);
  syncs = 0;
  int told = 0;
  int most_untold = 0;
  const auto progress = [&, seen = 0]() mutable {
    most_untold = std::max(most_untold, syncs - seen);
    seen = syncs;
    ++told;
  };
  file.dump(progress);
  EXPECT_EQ(syncs, 3) << "two parts of 64 MiB, and the rest";
  EXPECT_EQ(most_untold, 1);
  EXPECT_GT(told, syncs);
  const auto size = std::filesystem::file_size(file.path());
  failing_sync = 1;  // tells of it once
  syncs = 0;
  add(file, 1);
  EXPECT_THROW(file.dump(), Error);
  failing_sync = 0;
  EXPECT_EQ(std::filesystem::file_size(file.path()), size) << "the one of before is there";
}

TEST_F(FlightRingTest, IsLeftByAForkedChildAtAnyMoment) {
  RecordingFile file = file_of(kSecond, 0);
  file.open({});
  EXPECT_TRUE(child_leaves_all(file));
  add(file, 1);
  int told = 0;
  file.dump([&] {
    EXPECT_TRUE(child_leaves_all(file)) << "while its successor is written";
    ++told;
  });
  EXPECT_GT(told, 1);
  EXPECT_TRUE(child_leaves_all(file)) << "when that took its place";
  file.close(2);
  const int of_the_program = open("/dev/null", O_RDONLY | O_CLOEXEC);  // the number is free again
  file.abandon();
  EXPECT_EQ(::close(of_the_program), 0) << "nothing of others was closed";
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
