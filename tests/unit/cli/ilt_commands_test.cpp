#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "simulator/trace/trace_builder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

/// The program's standard output. Fails the test where it does not end well.
std::string output_of(const std::string& arguments, const TemporaryFolder& folder) {
  const fs::path out = folder.path() / "stdout";
  const std::string command = std::string(INTERLACE_BINARY) + " --quiet " + arguments + " > " + out.string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe): one thread
  std::ifstream in(out, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

fs::path sample_file(const std::string& name) {
  return fs::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "torchrec_c6" / name;
}

// The folder has one name for both, so that the whole answer must be the same, what it was read from included.
TEST(Convert, ToIltLosesNothingThatPredictUses) {
  const TemporaryFolder folder;
  const fs::path input = folder.path() / "run";
  fs::create_directory(input);
  for (const char* name : {"sparse.r0.json.gz", "sparse.r1.json.gz"}) fs::copy_file(sample_file(name), input / name);
  const std::string predict = "predict --format json --schedule all --steps 5 --from " + input.string();
  const std::string from_kineto = output_of(predict, folder);

  const fs::path converted = folder.path() / "run.ilt";
  output_of("convert " + input.string() + " -o " + converted.string(), folder);
  fs::remove_all(input);
  fs::create_directory(input);
  fs::rename(converted, input / "run.ilt");
  EXPECT_EQ(output_of(predict, folder), from_kineto);
  EXPECT_NE(from_kineto.find("\"torchrec/base\""), std::string::npos);
}

/// A rank on a host of its own that ran ten all-reduces, 1 ms apart, recorded `late` ns late.
void write_rank(const fs::path& file, std::int32_t number, Nanoseconds late) {
  trace::TraceBuilder builder;
  const trace::RankId rank =
      builder.add_rank({.number = number, .world_size = 2, .source = "x", .host_name = number == 0 ? "h0" : "h1"});
  const trace::LaneId stream = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  const trace::StringId name = builder.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds start = kSecond + i * kMillisecond + late;
    builder.add_collective({.lane = stream, .name = name, .start = start, .duration = 8'000}, {}, std::nullopt);
  }
  Diagnostics none;
  trace::write_ilt(std::move(builder).build(none), file);
}

TEST(Merge, PutsTheClocksOfHostsInLine) {
  const TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  fs::create_directory(run);
  write_rank(run / "rank0.ilt", 0, 0);
  write_rank(run / "rank1.ilt", 1, 2 * kMillisecond);
  const fs::path merged = folder.path() / "merged.ilt";
  const std::string table = output_of("merge " + run.string() + " -o " + merged.string(), folder);
  // Each all-reduce takes 8 us on both, so that the offset is known to 8 us.
  EXPECT_NE(table.find("-2000.0                8.0           10  steady"), std::string::npos) << table;
  const ingest::Recording recording = ingest::read(std::vector{merged});
  EXPECT_EQ(recording.diagnostics.count_of("merge.clock_moved"), 1);
  ASSERT_EQ(recording.trace.size(), 20U);
  for (std::uint32_t i = 0; i < 20; i += 2) {
    EXPECT_EQ(recording.trace.start({i}), recording.trace.start({i + 1})) << "both ranks at once";
  }
  output_of("merge --trust-clocks " + run.string() + " -o " + merged.string(), folder);
  const ingest::Recording trusted = ingest::read(std::vector{merged});
  EXPECT_EQ(trusted.trace.start({19}) - trusted.trace.start({0}), 11 * kMillisecond);
}

TEST(Merge, RefusesClocksThatNothingTellsOf) {
  const TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  fs::create_directory(run);
  write_rank(run / "rank0.ilt", 0, 0);
  write_rank(run / "rank1.ilt", 1, 0);
  fs::remove(run / "rank1.ilt");
  trace::TraceBuilder builder;
  const trace::RankId rank = builder.add_rank({.number = 1, .world_size = 2, .source = "x", .host_name = "h1"});
  const trace::LaneId thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
  builder.add_range({.lane = thread, .name = builder.intern("all"), .start = kSecond, .duration = kSecond}, {});
  Diagnostics none;
  trace::write_ilt(std::move(builder).build(none), run / "rank1.ilt");
  const std::string command = std::string(INTERLACE_BINARY) + " merge " + run.string() + " -o " +
                              (folder.path() / "x.ilt").string() + " 2> " + (folder.path() / "err").string();
  EXPECT_NE(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe): one thread
  std::ifstream in(folder.path() / "err");
  const std::string said{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_NE(said.find("error[cli.clocks_unknown]: h1"), std::string::npos) << said;
}

// Files of a process grow no further than the limit; the signal for that kills it.
TEST(Convert, LeavesAPartWhereItIsKilled) {
  const TemporaryFolder folder;
  const std::string whole = (folder.path() / "a.ilt").string();
  EXPECT_NE(testing::run_program("ulimit -f 8; " INTERLACE_BINARY " convert " + sample("base") + " -o " + whole).status,
            0);
  EXPECT_FALSE(fs::exists(whole));
  const Finished run = interlace("info " + whole + ".partial");
  EXPECT_NE(run.err.find(whole + ".partial: the file holds no operation (a command of Interlace left it"),
            std::string::npos)
      << run.err;
}

TEST(Predict, WritesTracesThatCanBeReadAgain) {
  const TemporaryFolder folder;
  const std::vector<fs::path> recorded{sample_file("sparse.r0.json.gz"), sample_file("sparse.r1.json.gz")};
  const fs::path answer = folder.path() / "answer";
  output_of("predict --steps 5 --schedule torchrec/base --from " + recorded[0].string() + " " + recorded[1].string() +
                " --out " + answer.string(),
            folder);

  const ingest::Recording measured = ingest::read(std::vector{answer / "measured.ilt"});
  EXPECT_EQ(measured.trace.size(), ingest::read(recorded).trace.size());
  const ingest::Recording predicted = ingest::read(std::vector{answer / "torchrec_base.ilt"});
  ASSERT_EQ(predicted.trace.ranks().size(), 2U);
  EXPECT_EQ(predicted.trace.ranks()[1].producer, "interlace predict torchrec/base");
  EXPECT_EQ(predicted.diagnostics.count_of("trace.device_work_without_launch"), 0);

  const std::string info = output_of("info " + (answer / "torchrec_base.ilt").string(), folder);
  EXPECT_NE(info.find("step marks are the annotations"), std::string::npos) << info;
  EXPECT_NE(info.find("input_dist_start"), std::string::npos) << info;

  const Finished again =
      interlace("predict --schedule torchrec/semi_sync --from " + (answer / "torchrec_base.ilt").string());
  EXPECT_NE(again.err.find("cli.is_prediction"), std::string::npos) << again.err;
}

}  // namespace
}  // namespace interlace::cli
