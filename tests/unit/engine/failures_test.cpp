// Whatever goes wrong ends every rank with one error that says what, on which rank, in which stage of which batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "engine/cpu/communicator.hpp"
#include "engine/cpu/device.hpp"
#include "engine/cpu/embedding_kernels.hpp"
#include "engine/runtime/failure.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/support/error_text.hpp"
#include "tests/unit/engine/training.hpp"

namespace interlace::engine {
namespace {

void expect_mentions(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in " << error;
}

// The batches of one rank, one of them with a change.
class ChangedBatches : public BatchSource {
 public:
  ChangedBatches(const Workload& workload, Device& device, int rank, std::int64_t id)
      : synthetic_(workload, device, rank) {
    if (rank == 1) synthetic_.batch(2).modules[0].ids.span()[5] = id;
  }
  const Batch& batch(std::int64_t number) override { return synthetic_.batch(number); }

 private:
  SyntheticBatches synthetic_;
};

TEST(Failures, AnIdOutOfRangeIsNamedWithItsRankAndBatch) {
  for (const char* name : {"torchrec/base", "torchrec/fused_sparse_dist_new_stream", "torchrec/semi_sync"}) {
    for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{20}, std::int64_t{1} << 40}) {
      const std::string error = testing::error_text([&] {
        static_cast<void>(run_on_cpu(schedule::find(name), workload_on("tiny", 2), {.seed = 4},
                                     [id](const Workload& workload, Device& device, int rank) {
                                       return std::make_unique<ChangedBatches>(workload, device, rank, id);
                                     }));
      });
      expect_mentions(error, {"error[engine.id_out_of_range]: rank 1, ", "input_dist_start 2", "module \"unweighted\"",
                              "the id " + std::to_string(id), "20 rows"});
    }
  }
}

// Dies, or leaves a stage out, at a place.
class AtRange : public RangeObserver {
 public:
  AtRange(int rank, std::string range) : rank_(rank), range_(std::move(range)) {}
  void entered(int rank, const std::string& range) override {
    if (rank == rank_ && range == range_) throw std::runtime_error("the rank dies");
  }
  void left(int /*rank*/) noexcept override {}

 private:
  int rank_;
  std::string range_;
};

TEST(Failures, ARankThatDiesEndsAllOthersWhereverItIs) {
  for (const char* stage : {"next_batch 3", "input_dist_start 2", "dense_forward 4", "backward 1"}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      AtRange observer(1, stage);
      const std::string error = testing::error_text([&] {
        static_cast<void>(run_on_cpu(schedule::find("torchrec/sparse_dist"), workload_on("tiny", 4),
                                     {.seed = seed, .observer = &observer}));
      });
      expect_mentions(error, {"error[engine.internal]: rank 1, ", stage, "the rank dies"});
    }
  }
}

// Knows how many blocks somebody holds.
class CountedDevice : public cpu::CpuDevice {
 public:
  using CpuDevice::CpuDevice;
  [[nodiscard]] std::shared_ptr<Block> allocate(std::size_t bytes, StreamId pool) override {
    std::shared_ptr<Block> block = CpuDevice::allocate(bytes, pool);
    blocks_.push_back(block);
    return block;
  }
  [[nodiscard]] std::ptrdiff_t held() const {
    return std::ranges::count_if(blocks_, [](const std::weak_ptr<Block>& block) { return !block.expired(); });
  }

 private:
  std::vector<std::weak_ptr<Block>> blocks_;
};

// On a GPU that has failed, to free memory may end the process.
TEST(Failures, AreToldBeforeTheTrainingGivesItsMemoryBack) {
  const Workload workload = workload_on("tiny", 1);
  AtRange observer(0, "backward 1");
  cpu::CpuCluster cluster(1, {.observer = &observer});
  std::string told;
  std::ptrdiff_t held = 0;
  std::ptrdiff_t left = 0;
  const std::string error = testing::error_text([&] {
    cluster.run([&](int rank) {
      CountedDevice device(cluster, rank);
      cpu::CpuCommunicator communicator(device, 0, rank, 1);
      const cpu::CpuEmbeddingKernels kernels;
      SyntheticBatches batches(workload, device, rank);
      const RankTools tools{.device = device, .communicator = communicator, .kernels = kernels, .source = batches};
      TrainOptions options;
      options.on_failure = [&](const std::exception_ptr& failure) {
        told = placed(failure, "here").what();
        held = device.held();
      };
      try {
        static_cast<void>(train(schedule::find("torchrec/base"), workload, tools, options));
      } catch (...) {
        left = device.held();
        throw;
      }
    });
  });
  expect_mentions(told, {"here", "the rank dies"});
  expect_mentions(error, {"rank 0", "backward 1", "the rank dies"});
  EXPECT_GT(held, left);
}

TEST(Failures, TablesThatDoNotFitAreOutOfMemory) {
  Workload workload = workload_on("tiny", 2);
  // With the other tables no more than kernels number, and more than there are addresses: 2^47.
  workload.modules[0].tables[0].rows = (std::int64_t{1} << 32) - 1000;
  workload.modules[0].tables[0].dim = 8192;
  workload.modules[0].tables[0].sharding = Sharding::kTableWise;
  const std::string error =
      testing::error_text([&] { static_cast<void>(run_on_cpu(schedule::find("torchrec/base"), workload, {})); });
  expect_mentions(error, {"error[engine.out_of_memory]: rank 0", "smaller tables"});
}

TEST(Failures, SchedulesAndWorkloadsThatDoNotFitAreRefused) {
  const auto refusal = [](const char* schedule, const char* workload) {
    return testing::error_text(
        [&] { static_cast<void>(run_on_cpu(schedule::find(schedule), workload_on(workload, 2), {})); });
  };
  expect_mentions(refusal("recsys/dp_mp_overlap", "tiny"),
                  {"error[engine.workload_mismatch]", "\"data_parallel_lookup\" needs data-parallel tables"});
  expect_mentions(refusal("torchrec/base", "tiny-dp-mp"), {"no stage \"data_parallel_lookup\""});
  expect_mentions(refusal("torchrec/base", "tiny-dp"), {"\"embedding_lookup\" needs sharded tables"});
  expect_mentions(refusal("comms/a2a_sync", "tiny"), {"no stage \"embedding_lookup\""});
  expect_mentions(refusal("torchrec/base", "tiny-a2a"), {"needs"});
  expect_mentions(refusal("torchrec/fused_sparse_dist", "tiny-fp"),
                  {"error[engine.unordered_processor]", "\"embedding_lookup\"", "--feature-processors"});
}

}  // namespace
}  // namespace interlace::engine
