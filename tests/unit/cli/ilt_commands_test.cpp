#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "tests/support/temporary_folder.hpp"

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

fs::path sample(const std::string& name) {
  return fs::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "torchrec_c6" / name;
}

// The folder has one name for both, so that the whole answer must be the same, what it was read from included.
TEST(Convert, ToIltLosesNothingThatPredictUses) {
  const TemporaryFolder folder;
  const fs::path input = folder.path() / "run";
  fs::create_directory(input);
  for (const char* name : {"sparse.r0.json.gz", "sparse.r1.json.gz"}) fs::copy_file(sample(name), input / name);
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

TEST(Predict, WritesTracesThatCanBeReadAgain) {
  const TemporaryFolder folder;
  const std::vector<fs::path> recorded{sample("sparse.r0.json.gz"), sample("sparse.r1.json.gz")};
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
}

}  // namespace
}  // namespace interlace::cli
