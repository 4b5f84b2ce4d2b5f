#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSteps = 6;

/// A loop that copies the batch of the next step beside its own, for which the library has no schedule.
std::string own_loop() {
  testing::KinetoText text;
  text.rank(0, 1);
  int correlation = 0;
  const auto at = [](int step, int us) { return std::to_string(1000 + 5000 * step + us); };
  const auto launch = [&](int step, int us, const char* name, int start, const char* duration) {
    text.call("cudaLaunchKernel", at(step, us), "5", ++correlation);
    text.kernel(name, 7, at(step, start), duration, correlation);
  };
  for (int step = 0; step < kSteps; ++step) {
    const std::string n = std::to_string(step) + " ##";
    text.annotation("## copy_batch_to_gpu " + n, at(step, 0), "100");
    text.call("cudaMemcpyAsync", at(step, 50), "5", ++correlation);
    text.complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "20", at(step, 70), "3000",
                  R"("device": 0, "stream": 20, "bytes": 100000000, "correlation": )" + std::to_string(correlation));
    text.annotation("## forward " + n, at(step, 200), "100");
    launch(step, 250, "forward", 300, "1000");
    text.annotation("## backward " + n, at(step, 400), "100");
    launch(step, 450, "backward", 1310, "3500");
    text.annotation("## optimizer " + n, at(step, 600), "100");
    launch(step, 620, "adam", 4820, "20");
  }
  return text.text();
}

std::string ahead(int batches) {
  return R"({"interlace_schedule": 1, "name": "mine/ahead)" + std::to_string(batches) +
         R"(", "streams": {"main": {}, "memcpy": {}}, "iteration": [
    {"stage": "copy_batch_to_gpu", "batch": )" +
         std::to_string(batches) + R"(, "stream": "memcpy", "record": "copied", "record_stream": ["main"]},
    {"wait": "copied", "batch": 0, "on": "main"},
    {"stage": "dense_forward", "batch": 0, "stream": "main"},
    {"stage": "backward", "batch": 0, "stream": "main"},
    {"stage": "optimizer_step", "batch": 0, "stream": "main"}]})";
}

class OwnSchedule : public ::testing::Test {
 protected:
  OwnSchedule() {
    std::ofstream(folder.path() / "loop.json") << own_loop();
    std::ofstream(folder.path() / "mine.json") << ahead(1);
  }
  [[nodiscard]] Finished predict(const std::string& options) const {
    return interlace("predict --format json --from " + (folder.path() / "loop.json").string() + " " + options);
  }
  [[nodiscard]] std::string mine() const { return " --schedule " + (folder.path() / "mine.json").string(); }

  testing::TemporaryFolder folder;
};

// A loop of the user's own is known by the schedule that the user has written for it, and is held against its replay.
TEST_F(OwnSchedule, IsRecognisedWhereItIsAskedFor) {
  const Finished run = predict(mine());
  ASSERT_EQ(run.status, 0) << run.err;
  const Json answer = Json::parse(run.out);
  EXPECT_EQ(answer["recorded"]["schedule"], "mine/ahead1");
  EXPECT_EQ(answer["predictions"][0]["speedup"], 1.0);
  // The kernels take 4.52 ms; without the recorder the host takes less than them.
  EXPECT_NEAR(answer["recorded"]["predicted_step_time_ns"].get<double>(), 4.55e6, 0.05e6);

  const Finished by_measured_step = predict(mine() + " --measured-step-ms 4.9");
  ASSERT_EQ(by_measured_step.status, 0) << by_measured_step.err;
  EXPECT_NEAR(Json::parse(by_measured_step.out)["predictions"][0]["step_time_ns"].get<double>(), 4.9e6, 1e3);
}

TEST_F(OwnSchedule, IsNotKnownOtherwise) {
  const Finished run = predict("--schedule torchrec/base");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(Json::parse(run.out)["recorded"]["schedule"].is_null());
}

// A variant of a built-in schedule may be as like to its recording.
TEST_F(OwnSchedule, DoesNotStandInForOneOfTheLibrary) {
  const std::string root = INTERLACE_SOURCE_DIR;
  std::ifstream built_in(root + "/simulator/schedule/library/torchrec/sparse_dist.json");
  Json variant = Json::parse(built_in);
  variant["name"] = "mine/variant";
  variant["streams"]["memcpy"]["priority"] = 0;
  std::ofstream(folder.path() / "mine.json") << variant.dump();
  const Finished run =
      interlace("predict --format json --from " + root + "/samples/traces/torchrec_c6/sparse.r0.json.gz" + mine());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["recorded"]["schedule"], "torchrec/sparse_dist");
}

// A file may be called as a built-in schedule, and what is recorded under it says that name.
TEST_F(OwnSchedule, IsKnownByTheNameInItsFileUnlessAnotherOfThatNameIsAskedFor) {
  const std::string root = INTERLACE_SOURCE_DIR;
  std::ifstream built_in(root + "/simulator/schedule/library/torchrec/sparse_dist.json");
  Json variant = Json::parse(built_in);
  variant["streams"]["memcpy"]["priority"] = 0;
  std::ofstream(folder.path() / "mine.json") << variant.dump();
  const auto answer = [&](const std::string& more) {
    const Finished run = interlace("predict --format json --from " + root +
                                   "/samples/traces/engine_exposed/sparse_dist" + mine() + more);
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out);
  };
  const Json alone = answer("");
  EXPECT_EQ(alone["recorded"]["schedule"], "torchrec/sparse_dist+mine");
  EXPECT_EQ(alone["predictions"][0]["schedule"], "torchrec/sparse_dist+mine");
  const Json beside = answer(" --schedule sparse_dist");
  EXPECT_EQ(beside["recorded"]["schedule"], "torchrec/sparse_dist");
  EXPECT_EQ(beside["predictions"][0]["schedule"], "torchrec/sparse_dist+mine");
}

}  // namespace
}  // namespace interlace::cli
