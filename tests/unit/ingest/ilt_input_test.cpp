#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "simulator/trace/trace_builder.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::ingest {
namespace {

namespace fs = std::filesystem;
using testing::KinetoText;
using testing::TemporaryFolder;
using trace::first_difference;

using Files = std::vector<fs::path>;

Files samples() {
  const fs::path folder = fs::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "torchrec_c6";
  return {folder / "sparse.r0.json.gz", folder / "sparse.r1.json.gz"};
}

/// As `interlace convert` does.
fs::path converted(const Files& files, const fs::path& output) {
  const Recording recording = read(files);
  write_ilt(recording.trace, recording.diagnostics, output);
  return output;
}

std::string code_of(const Files& files) {
  try {
    (void)read(files);
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return "none";
}

/// One rank of a job of two; its one kernel has no launch where `launch` is false.
std::string rank_text(int rank, const std::string& at, bool launch = true) {
  KinetoText text;
  text.rank(rank, 2).kernel("work", 7, at + "5", "10", 1);
  text.annotation("step", at, "20");
  if (launch) text.call("cudaLaunchKernel", at + "1", "1", 1);
  return text.text();
}

// What a killed command leaves is told from a recording that was cut off: there is nothing to copy again.
TEST(ReadIlt, SaysWhatAPartialFileIs) {
  const TemporaryFolder folder;
  const fs::path whole = converted(samples(), folder.path() / "a.ilt");
  const fs::path part = folder.path() / "a.ilt.partial";
  using Counts = std::pair<std::int64_t, std::int64_t>;
  const auto flaws_of = [](const fs::path& file) {
    const Diagnostics found = read(Files{file}).diagnostics;
    return Counts(found.count_of("ilt.truncated"), found.count_of("ilt.unfinished"));
  };
  fs::copy_file(whole, part);
  EXPECT_EQ(flaws_of(part), Counts(0, 0)) << "killed before it had its name";
  fs::resize_file(part, fs::file_size(whole) - 1);
  EXPECT_EQ(flaws_of(part), Counts(0, 1));
  fs::resize_file(whole, fs::file_size(whole) - 1);
  EXPECT_EQ(flaws_of(whole), Counts(1, 0));
  const auto advice_of = [](const fs::path& file) {
    try {
      (void)read(Files{file});
    } catch (const Error& error) {
      return error.advice();
    }
    return std::string("none");
  };
  const std::string again = "run that command again";
  for (const std::uintmax_t bytes : {0U, 3U, 10U, 3000U}) {
    fs::resize_file(part, bytes);
    EXPECT_TRUE(advice_of(part).ends_with(again)) << bytes << ": " << advice_of(part);
    fs::resize_file(whole, bytes);
    EXPECT_FALSE(advice_of(whole).ends_with(again)) << bytes;
  }
  EXPECT_FALSE(advice_of(folder.path() / "none.partial").ends_with(again)) << "there is none";
}

TEST(ReadIlt, AFileOfAllRanksReadsAsTheFilesItWasMadeFrom) {
  const TemporaryFolder folder;
  const Recording original = read(samples());
  const Recording again = read(Files{converted(samples(), folder.path() / "all.ilt")});
  EXPECT_EQ(first_difference(again.trace, original.trace), "");
  EXPECT_EQ(again.diagnostics.entries(), original.diagnostics.entries());
}

// Messages name the file that the user gave; what it was made from goes along through any number of conversions.
TEST(ReadIlt, NamesTheFileThatWasGiven) {
  const TemporaryFolder folder;
  const fs::path json = folder.write("a.json", rank_text(0, "10"));
  const fs::path once = converted({json}, folder.path() / "once.ilt");
  const fs::path twice = converted({once}, folder.path() / "twice.ilt");
  for (const fs::path& file : {once, twice}) {
    const Recording recording = read(Files{file});
    EXPECT_EQ(recording.trace.ranks().front().source, file.string());
    EXPECT_EQ(recording.trace.ranks().front().recorded_as, json.string());
  }
  EXPECT_EQ(read(Files{json}).trace.ranks().front().recorded_as, "");
}

TEST(ReadIlt, FilesOfOneRankEachAreJoined) {
  const TemporaryFolder folder;
  const Recording original = read(samples());
  const fs::path rank0 = converted({samples()[0]}, folder.path() / "0.ilt");
  const fs::path rank1 = converted({samples()[1]}, folder.path() / "1.ilt");
  const Recording alone = read(Files{rank1});
  EXPECT_EQ(alone.diagnostics.count_of("ingest.missing_ranks"), 1);
  EXPECT_EQ(alone.trace.ranks().front().number, 1);

  // Each file says that the other rank is missing: that is so no longer.
  const Recording joined = read(Files{rank1, rank0});
  EXPECT_EQ(first_difference(joined.trace, original.trace), "");
  EXPECT_EQ(joined.diagnostics.entries(), original.diagnostics.entries());
}

TEST(ReadIlt, MixesWithOtherFormatsOfTheSameClock) {
  const TemporaryFolder folder;
  const Recording original = read(samples());
  const fs::path rank0 = converted({samples()[0]}, folder.path() / "0.ilt");
  EXPECT_EQ(first_difference(read(Files{rank0, samples()[1]}).trace, original.trace), "");
  const fs::path rank1 = converted({samples()[1]}, folder.path() / "1.ilt");
  EXPECT_EQ(first_difference(read(Files{samples()[0], rank1}).trace, original.trace), "");
}

TEST(ReadIlt, MayBeCompressed) {
  const TemporaryFolder folder;
  const fs::path file = converted({folder.write("a.json", rank_text(0, "10"))}, folder.path() / "a.ilt");
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const fs::path compressed = folder.write("b.ilt.gz", testing::gzip(bytes));
  EXPECT_EQ(first_difference(read(Files{compressed}).trace, read(Files{file}).trace), "");
}

TEST(ReadIlt, CountsLostLaunchesOnce) {
  const TemporaryFolder folder;
  const fs::path rank0 = folder.write("0.json", rank_text(0, "10", false));
  const fs::path rank1 = folder.write("1.json", rank_text(1, "10", false));
  const fs::path both = converted({rank0, rank1}, folder.path() / "both.ilt");
  const fs::path ilt0 = converted({rank0}, folder.path() / "0.ilt");
  const fs::path ilt1 = converted({rank1}, folder.path() / "1.ilt");
  for (const Files& files : {Files{rank0, rank1}, Files{both}, Files{ilt0, ilt1}, Files{rank0, ilt1}}) {
    EXPECT_EQ(read(files).diagnostics.count_of("trace.device_work_without_launch"), 2) << files.front();
  }
}

TEST(ReadIlt, KeepsWhichLaunchesLostTheirKernels) {
  const TemporaryFolder folder;
  const auto lossy_rank = [&](int rank) {
    KinetoText text;
    text.rank(rank, 2).kernel("work", 7, "105", "10", 1).call("cudaLaunchKernel", "101", "1", 1);
    return folder.write(std::to_string(rank) + ".json", text.call("cudaLaunchKernel", "103", "1", 2).text());
  };
  const fs::path rank0 = lossy_rank(0);
  const fs::path rank1 = lossy_rank(1);
  const fs::path both = converted({rank0, rank1}, folder.path() / "both.ilt");
  const fs::path ilt0 = converted({rank0}, folder.path() / "0.ilt");
  const fs::path ilt1 = converted({rank1}, folder.path() / "1.ilt");
  for (const Files& files : {Files{rank0, rank1}, Files{both}, Files{ilt0, ilt1}, Files{rank0, ilt1}}) {
    const Recording recording = read(files);
    EXPECT_EQ(recording.trace.launches_without_work().size(), 2U) << files.front();
    EXPECT_EQ(recording.diagnostics.count_of("trace.launch_without_device_work"), 2) << files.front();
  }
}

// Older versions wrote no correlation of a launch whose kernel was lost, only how many there were.
TEST(ReadIlt, JoiningOlderFilesForgetsNoLostLaunches) {
  const TemporaryFolder folder;
  Files files;
  for (const int rank : {0, 1}) {
    Diagnostics stored;
    stored.count(trace::kLaunchWithoutDeviceWork, "cudaLaunchKernel", 3);
    const fs::path json = folder.write(std::to_string(rank) + ".json", rank_text(rank, "10"));
    files.push_back(folder.path() / (std::to_string(rank) + ".ilt"));
    write_ilt(read(Files{json}).trace, stored, files.back());
  }
  EXPECT_EQ(read(files).diagnostics.count_of("trace.launch_without_device_work"), 6);
}

TEST(ReadIlt, RefusesWhatIsNotOfOneRun) {
  const TemporaryFolder folder;
  const fs::path rank0 = converted({folder.write("0.json", rank_text(0, "10"))}, folder.path() / "0.ilt");
  // Times are texts: the first rank ends at 115, the late one begins at 900.
  const fs::path late1 = folder.write("late1.json", rank_text(1, "900"));
  EXPECT_EQ(code_of({rank0, late1}), "ingest.ranks_of_different_runs");
  EXPECT_EQ(code_of({rank0, converted({late1}, folder.path() / "late1.ilt")}), "ingest.ranks_of_different_runs");
  EXPECT_EQ(code_of({rank0, rank0}), "ingest.duplicate_rank");
  EXPECT_EQ(code_of({rank0, folder.write("1.json", rank_text(1, "10"))}), "none");
}

TEST(ReadIlt, RefusesAFileInWhichNothingWasRecorded) {
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  builder.add_rank({.number = 0});
  Diagnostics ignored;
  write_ilt(std::move(builder).build(ignored), folder.path() / "empty.ilt");
  EXPECT_EQ(code_of({folder.path() / "empty.ilt"}), "ingest.nothing_recorded");
}

TEST(ReadFolder, StandsForTheTracesInIt) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const fs::path rank0 = folder.write("0.json.gz", testing::gzip(rank_text(0, "10")));
  const fs::path rank1 = converted({elsewhere.write("1.json", rank_text(1, "10"))}, folder.path() / "1.ilt");
  folder.write("notes.txt", "of the run");
  folder.write("snapshot.pickle", "\x80\x04");
  fs::create_directory(folder.path() / "older");
  const Recording recording = read(Files{folder.path()});
  EXPECT_EQ(first_difference(recording.trace, read(Files{rank0, rank1}).trace), "");
  EXPECT_EQ(recording.trace.ranks().size(), 2U);
  EXPECT_EQ(recording.diagnostics.count_of("ingest.other_files"), 3);
}

TEST(ReadFolder, NotesOnARecordingAreNoTraces) {
  const TemporaryFolder folder;
  folder.write("0.json", rank_text(0, "10"));
  folder.write("0.json.notes.json", R"({"interlace_notes": 1, "notes": []})");
  folder.write("interlace.notes.json", R"({"interlace_notes": 1, "notes": []})");
  const Recording recording = read(Files{folder.path()});
  EXPECT_EQ(recording.trace.ranks().size(), 1U);
  EXPECT_EQ(recording.diagnostics.count_of("ingest.other_files"), 2);
}

TEST(ReadFolder, RefusesOneOfPredictions) {
  const TemporaryFolder folder;
  folder.write("torchrec_base.ilt", "");
  folder.write("report.json", "{}");
  EXPECT_NE(code_of({folder.path()}), "ingest.folder_of_predictions") << "a recording may have that name";
  folder.write("measured.ilt", "");
  EXPECT_EQ(code_of({folder.path()}), "ingest.folder_of_predictions");
  try {
    static_cast<void>(read(Files{folder.path()}));
  } catch (const Error& error) {
    EXPECT_TRUE(error.advice().ends_with("torchrec_base.ilt")) << error.advice();
  }
}

TEST(ReadFolder, RefusesOneWithoutTraces) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of({folder.path()}), "ingest.no_files");
  folder.write("notes.txt", "of the run");
  EXPECT_EQ(code_of({folder.path()}), "ingest.no_files");
  EXPECT_EQ(code_of({folder.path() / "gone"}), "ingest.cannot_open");
}

}  // namespace
}  // namespace interlace::ingest
