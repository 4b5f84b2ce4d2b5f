#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

nlohmann::json read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return nlohmann::json::parse(std::string((std::istreambuf_iterator<char>(in)), {}));
}

// The whole way with the real engine, on its CPU backend: a shipped recording stands in for the one that only a GPU
// can make, so that the figures mean nothing.
TEST(ValidateWithEngine, RunsStopsAndGoesOn) {
  const testing::TemporaryFolder folder;
  const std::string place = folder.path().string();
  ASSERT_EQ(interlace("predict --from " + sample("sparse") + " --schedule torchrec/base --out " + place + "/p").status,
            0);
  const std::string campaign = place + "/campaign";
  const std::string engine = " --engine " INTERLACE_ENGINE_BINARY;
  const std::string begin =
      "validate --workload tiny --device cpu --ranks 2 --repeats 2 --steps 3 --warmup 1 --schedules "
      "base,semi_sync --from " +
      place + "/p/measured.ilt --out " + campaign + engine;
  // No time for anything: the plan stands, nothing is done, and it says how to go on.
  const Finished stopped = interlace(begin + " --minutes 0.01");
  EXPECT_EQ(stopped.status, 3) << stopped.err;
  EXPECT_NE(stopped.err.find("--resume " + campaign), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(campaign + "/prediction.json"));
  EXPECT_EQ(interlace(begin).status, 1);  // not twice into one folder

  const Finished done = interlace("validate --format json --resume " + campaign + engine);
  ASSERT_EQ(done.status, 0) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  std::set<std::string> schedules;
  for (const auto& row : report["schedules"]) {
    schedules.insert(row["schedule"]);
    EXPECT_EQ(row["runs"], 2);
    EXPECT_GT(row["measured_allocated_peak_bytes"], 0);
  }
  EXPECT_EQ(schedules, (std::set<std::string>{"torchrec/sparse_dist", "torchrec/base", "torchrec/semi_sync"}));
  // The prediction is older than the first run.
  EXPECT_LT(std::filesystem::last_write_time(campaign + "/prediction.sha256"),
            std::filesystem::last_write_time(campaign + "/runs/000.json"));
  EXPECT_EQ(read(campaign + "/runs/003.json")["position"], 0);

  // One run lost: that one is made again, and no other.
  const auto kept = read(campaign + "/runs/002.json");
  std::filesystem::remove(campaign + "/runs/005.json");
  ASSERT_EQ(interlace("validate --resume " + campaign + engine).status, 0);
  EXPECT_EQ(read(campaign + "/runs/002.json"), kept);
  EXPECT_TRUE(std::filesystem::exists(campaign + "/runs/005.json"));  // it was the last

  // Other GPUs of the machine will do, other settings will not.
  const Finished other =
      testing::run_program("CUDA_VISIBLE_DEVICES=1 " INTERLACE_BINARY " validate --resume " + campaign + engine);
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_NE(testing::run_program("NCCL_ALGO=Ring " INTERLACE_BINARY " validate --resume " + campaign + engine)
                .err.find("error[cli.other_settings]"),
            std::string::npos);
}

// A schedule that the workload cannot run is kept as a failure; the others go on.
TEST(ValidateWithEngine, KeepsFailures) {
  const testing::TemporaryFolder folder;
  const std::string place = folder.path().string();
  ASSERT_EQ(interlace("predict --from " + sample("sparse") + " --schedule torchrec/base --out " + place + "/p").status,
            0);
  const Finished run =
      interlace("validate --workload tiny-dp --device cpu --repeats 1 --steps 2 --schedules base --from " + place +
                "/p/measured.ilt --format json --out " + place + "/campaign --engine " INTERLACE_ENGINE_BINARY);
  EXPECT_EQ(run.status, 1) << "the recorded schedule never came to an end";
  const auto report = nlohmann::json::parse(run.out);
  ASSERT_EQ(report["schedules"].size(), 2U);
  for (const auto& row : report["schedules"]) {
    EXPECT_NE(row["failure"].get<std::string>().find("engine.workload_mismatch"), std::string::npos);
  }
}

}  // namespace
}  // namespace interlace::cli
