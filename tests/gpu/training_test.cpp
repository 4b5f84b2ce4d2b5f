// Training on the GPUs of this machine, as a user starts it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/subprocess.hpp"
#include "engine/launch/fit.hpp"
#include "engine/launch/run_on_cpu.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::engine {
namespace {

struct Trained {
  int status = 0;
  nlohmann::json losses;
  nlohmann::json tables;
  nlohmann::json validations;

  [[nodiscard]] bool same_numbers(const Trained& other) const {
    return losses == other.losses && tables == other.tables;
  }
};

// The program beside this test, so that both can be carried elsewhere; INTERLACE_ENGINE names another.
std::string engine_program() {
  const char* named = std::getenv("INTERLACE_ENGINE");
  if (named != nullptr) return named;
  return (std::filesystem::path(this_program()).parent_path() / "interlace-engine").string();
}

Trained run(const std::string& workload, const std::string& schedule, int ranks, const std::string& embedding = "own") {
  const Finished finished =
      run_program(engine_program(), {"run", "--device", "cuda", "--workload", workload, "--schedule", schedule,
                                     "--ranks", std::to_string(ranks), "--embedding", embedding, "--format", "json"});
  Trained result{.status = finished.status, .losses = {}, .tables = {}, .validations = {}};
  if (finished.status != 0) return result;
  const nlohmann::json json = nlohmann::json::parse(finished.out);
  result.losses = json.at("losses");
  result.tables = json.at("tables");
  result.validations = json.at("validations");
  return result;
}

std::vector<int> rank_counts() {
  int gpus = 0;
  static_cast<void>(cudaGetDeviceCount(&gpus));
  std::vector<int> counts;
  for (const int ranks : {1, 2, 4}) {
    if (ranks <= gpus) counts.push_back(ranks);
  }
  return counts;
}

std::vector<std::string> schedules_for(const Workload& workload) {
  std::vector<std::string> names;
  for (const schedule::Schedule& schedule : schedule::all_sound()) {
    try {
      check_fit(schedule, workload);
      names.push_back(schedule.name);
    } catch (const Error&) {
      continue;
    }
  }
  return names;
}

TEST(GpuTraining, EverySoundScheduleButSemiSyncGivesTheSameBits) {
  ASSERT_FALSE(rank_counts().empty());
  for (const int ranks : rank_counts()) {
    for (const char* workload : {"tiny", "tiny-fp", "tiny-dp-mp"}) {
      std::optional<Trained> expected;
      for (const std::string& schedule : schedules_for(load_workload(workload))) {
        if (schedule == "torchrec/semi_sync") continue;
        const Trained got = run(workload, schedule, ranks);
        ASSERT_EQ(got.status, 0) << schedule << " on " << ranks;
        if (!expected) expected = got;
        EXPECT_TRUE(got.same_numbers(*expected)) << schedule << " on " << ranks << " ranks: " << got.losses.dump();
      }
    }
  }
}

// Float sums in another order: near, and not the same bits. semi_sync is told apart by more than that.
constexpr double kNear = 2e-6;

TEST(GpuTraining, LossesAreThoseOfTheCpu) {
  for (const int ranks : rank_counts()) {
    const std::pair<const char*, const char*> trainings[] = {
        {"tiny", "torchrec/base"}, {"tiny", "torchrec/semi_sync"}, {"tiny-fp", "torchrec/base"}};
    for (const auto& [name, schedule] : trainings) {
      Workload workload = load_workload(name);
      workload.ranks = ranks;
      const std::vector<float> expected = run_on_cpu(schedule::find(schedule), workload, {}).front().losses;
      const Trained got = run(name, schedule, ranks);
      ASSERT_EQ(got.losses.size(), expected.size()) << name << ", " << schedule;
      for (std::size_t step = 0; step < expected.size(); ++step) {
        EXPECT_NEAR(got.losses[step].get<double>(), expected[step], kNear)
            << name << ", " << schedule << " on " << ranks << ", " << step;
      }
    }
  }
}

TEST(GpuTraining, FbgemmsOperatorsTrainAlike) {
  if (std::getenv("INTERLACE_FBGEMM_DIR") == nullptr) GTEST_SKIP() << "INTERLACE_FBGEMM_DIR names no fbgemm-gpu";
  for (const int ranks : rank_counts()) {
    if (ranks > 2) continue;  // tables of two columns, which its kernels do not take
    const std::pair<const char*, const char*> trainings[] = {{"tiny", "torchrec/base"},
                                                             {"tiny", "torchrec/fused_sparse_dist_new_stream"},
                                                             {"tiny", "torchrec/semi_sync"},
                                                             {"tiny-dp-mp", "recsys/dp_mp_overlap"}};
    for (const auto& [workload, name] : trainings) {
      const Trained own = run(workload, name, ranks);
      const Trained got = run(workload, name, ranks, "fbgemm");
      ASSERT_EQ(got.status, 0) << name << " on " << ranks;
      ASSERT_EQ(got.losses.size(), own.losses.size()) << name;
      for (std::size_t step = 0; step < own.losses.size(); ++step) {
        EXPECT_NEAR(got.losses[step].get<double>(), own.losses[step].get<double>(), kNear)
            << name << " on " << ranks << ", " << step;
      }
    }
  }
}

TEST(GpuTraining, TrainingRepeatsItself) {
  const int ranks = rank_counts().back();
  const Trained first = run("tiny", "torchrec/fused_sparse_dist_new_stream", ranks);
  for (int again = 0; again < 3; ++again) {
    EXPECT_TRUE(run("tiny", "torchrec/fused_sparse_dist_new_stream", ranks).same_numbers(first));
  }
}

TEST(GpuTraining, ReadsThatWaitAreRight) {
  for (const int ranks : rank_counts()) {
    for (const char* mode : {"blocking", "event_at_once", "event_late"}) {
      const Trained got = run("tiny-a2a", std::string("comms/validate_") + mode, ranks);
      ASSERT_EQ(got.status, 0) << mode;
      EXPECT_FALSE(got.validations.empty());
      for (const nlohmann::json& validation : got.validations) EXPECT_TRUE(validation.at("passed")) << mode;
    }
  }
}

}  // namespace
}  // namespace interlace::engine
