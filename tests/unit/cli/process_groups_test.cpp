#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Four ranks in two pairs. The ranks of a pair exchange 1 ms into the step (ranks 0 and 1) or 8 ms (2 and 3); all four
/// reduce their gradients at its end. The device takes 9.3 ms of 10. `first`, `second`: the names of the pairs' groups.
std::string loop_of(int rank, const std::string& first, const std::string& second) {
  testing::KinetoText text;
  text.rank(rank, 4);
  int correlation = 0;
  for (int step = 0; step < 6; ++step) {
    const auto at = [&](int us) { return std::to_string(1000 + 10'000 * step + us); };
    const auto launch = [&](int us, const char* name, int stream, int start, int duration, const std::string& of) {
      text.call("cudaLaunchKernel", at(us), "5", ++correlation);
      text.kernel(name, stream, at(start), std::to_string(duration), correlation, of);
    };
    const auto collective = [&](const char* function, const std::string& group, int size) {
      return R"("Collective name": ")" + std::string(function) +
             R"(", "In msg nelems": 1000000, "Out msg nelems": 1000000)" + R"(, "Group size": )" +
             std::to_string(size) + R"(, "dtype": "Float", "Process Group Name": ")" + group + R"(", "Seq": )" +
             std::to_string(step + 1);
    };
    const int before = rank < 2 ? 1000 : 8000;
    const std::string n = std::to_string(step);
    text.annotation("iteration " + n, at(-10), "9700");
    text.annotation("dense_forward " + n, at(0), "200");
    launch(50, rank < 2 ? "short_forward" : "long_forward", 7, 80, before, "");
    text.annotation("all_to_all " + n, at(300), "60");
    launch(320, "ncclDevKernel_SendRecv", 30, 85 + before, 100, collective("all_to_all", rank < 2 ? first : second, 2));
    text.annotation("backward " + n, at(380), "300");
    launch(400, rank < 2 ? "long_backward" : "short_backward", 7, 190 + before, 9000 - before, "");
    launch(430, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 9195, 100, collective("allreduce", "0", 4));
    text.annotation("optimizer_step " + n, at(9300), "200");
    launch(9320, "adam", 7, 9350, 20, "");
  }
  return text.text();
}

constexpr const char* kSchedule =
    R"({"interlace_schedule": 1, "name": "mine/pairs", "streams": {"main": {}}, "iteration": [
  {"stage": "dense_forward", "batch": 0, "stream": "main", "writes": ["x"]},
  {"stage": "all_to_all", "batch": 0, "stream": "main", "reads": ["x"], "writes": ["y"]},
  {"stage": "backward", "batch": 0, "stream": "main"},
  {"stage": "optimizer_step", "batch": 0, "stream": "main"}]})";

class ProcessGroups : public ::testing::Test {
 protected:
  [[nodiscard]] Json predict(const std::string& first, const std::string& second) const {
    std::ofstream(folder.path() / "schedule.json") << kSchedule;
    std::filesystem::create_directories(folder.path() / "ranks");
    for (int rank = 0; rank < 4; ++rank) {
      std::ofstream(folder.path() / "ranks" / ("r" + std::to_string(rank) + ".json")) << loop_of(rank, first, second);
    }
    const Finished run =
        interlace("predict --format json --from " + (folder.path() / "ranks").string() +
                  " --profile " INTERLACE_SOURCE_DIR "/simulator/stages/profiles/interlace.json --schedule " +
                  (folder.path() / "schedule.json").string());
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out);
  }
  static double step_ms(const Json& answer) { return answer["predictions"][0]["step_time_ns"].get<double>() / 1e6; }

  testing::TemporaryFolder folder;
};

// All four in one would make the first pair wait for the second, 7 ms.
TEST_F(ProcessGroups, OnlyTheRanksOfAGroupWaitForEachOther) { EXPECT_NEAR(step_ms(predict("1", "2")), 9.3, 0.2); }

// PyTorch calls groups of one dimension of a mesh alike.
TEST_F(ProcessGroups, OfOneNameAreToldApartByWhoRunsTogether) { EXPECT_NEAR(step_ms(predict("1", "1")), 9.3, 0.2); }

// Three ranks that run together are too many for groups of two.
TEST_F(ProcessGroups, ThatNothingTellsApartAreToldByInfo) {
  std::string third = loop_of(1, "1", "1");
  third.replace(third.find(R"("rank": 1)"), 9, R"("rank": 2)");
  const auto file = [&](const char* name, const std::string& text) { return " " + folder.write(name, text).string(); };
  const Finished run = interlace("info --format json" + file("r0.json", loop_of(0, "1", "1")) +
                                 file("r1.json", loop_of(1, "1", "1")) + file("r2.json", third));
  ASSERT_EQ(run.status, 0) << run.err;
  std::int64_t collectives = 0;
  const Json answer = Json::parse(run.out);
  for (const Json& flaw : answer["diagnostics"]) {
    if (flaw["code"] == "graph.ambiguous_group") collectives = flaw["count"];
  }
  EXPECT_EQ(collectives, 3 * 6);
}

}  // namespace
}  // namespace interlace::cli
