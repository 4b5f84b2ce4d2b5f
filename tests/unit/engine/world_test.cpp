#include "engine/launch/world.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/launch/gpu_choice.hpp"
#include "tests/support/error_text.hpp"

namespace interlace::engine {
namespace {

std::optional<WorldPlace> world_of(const std::map<std::string, std::string>& variables) {
  return find_world([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(World, ReadsTheVariablesOfEachStarter) {
  const auto torchrun = world_of({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}});
  ASSERT_TRUE(torchrun);
  EXPECT_EQ(torchrun->rank, 5);
  EXPECT_EQ(torchrun->ranks, 8);
  EXPECT_EQ(torchrun->local_rank, 1);
  EXPECT_EQ(torchrun->starter, "torchrun");
  EXPECT_EQ(
      world_of({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}})
          ->starter,
      "mpirun");
  EXPECT_EQ(world_of({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_LOCALID", "0"}})->rank, 1);
}

TEST(World, IsNoneWhereNothingStartedThis) {
  EXPECT_FALSE(world_of({}));
  EXPECT_FALSE(world_of({{"RANK", "0"}}));  // some other program's
  // What a script of sbatch sees, of whose tasks srun has started none.
  EXPECT_FALSE(world_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}}));
  EXPECT_FALSE(world_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}}));
}

TEST(World, RefusesContradictions) {
  EXPECT_THROW(world_of({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}}), Error);
  EXPECT_THROW(world_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "4"}}), Error);
  EXPECT_THROW(world_of({{"RANK", "one"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}}), Error);
  EXPECT_THROW(world_of({{"RANK", "0"}, {"WORLD_SIZE", "-2"}, {"LOCAL_RANK", "0"}}), Error);
  EXPECT_THROW(world_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), Error);
}

WorldPlace on_machine(int local_rank) {
  return {.rank = local_rank, .ranks = 4, .local_rank = local_rank, .starter = "Slurm"};
}

// srun --gpus-per-task=1 shows each task a GPU of its own, which is number 0 to it.
TEST(GpuOf, IsThatOfTheLocalRankOrTheOnlyOne) {
  EXPECT_EQ(gpu_of(on_machine(0), 4), 0);
  EXPECT_EQ(gpu_of(on_machine(3), 4), 3);
  EXPECT_EQ(gpu_of(on_machine(3), 1), 0);
}

TEST(GpuOf, SaysWhatDecidesWhichAreShown) {
  for (const int shown : {0, 2}) {
    const std::string refusal = testing::error_text([&] { static_cast<void>(gpu_of(on_machine(2), shown)); });
    EXPECT_TRUE(refusal.starts_with("error[engine.no_gpu]: local rank 2: this process is shown ")) << refusal;
    EXPECT_NE(refusal.find("CUDA_VISIBLE_DEVICES"), std::string::npos) << refusal;
  }
}

}  // namespace
}  // namespace interlace::engine
