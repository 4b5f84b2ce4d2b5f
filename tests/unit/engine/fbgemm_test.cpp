// FBGEMM's operators behind the engine's interface. Skipped where the package is not there (.ci/install_fbgemm.sh), and
// only there: one that does not load is a fault.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/embedding_kernels.hpp"
#include "engine/fbgemm/fbgemm_kernels.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/engine/embedding_case.hpp"
#include "tests/unit/engine/training.hpp"

namespace interlace::engine {
namespace {

const cpu::CpuEmbeddingKernels kOwn;

class Fbgemm : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(make_fbgemm_kernels(kOwn, false));
    } catch (const Error& error) {
      if (error.problem() == "there is no package fbgemm_gpu") GTEST_SKIP() << error.what();
      FAIL() << error.what();
    }
  }
};

// A case whose tables lie side by side, as those of a module do.
struct Packed {
  explicit Packed(Case& c) : arguments(c.arguments()), shards(c.shards) {
    for (std::size_t s = 0; s < shards.size(); ++s) {
      rows.insert(rows.end(), c.tables[s].begin(), c.tables[s].end());
      momentum.insert(momentum.end(), c.momentum[s].begin(), c.momentum[s].end());
    }
    std::size_t next = 0;
    for (LocalShard& shard : shards) {
      shard.rows = rows.data() + next;
      shard.momentum = momentum.data() + shard.first_row;
      next += static_cast<std::size_t>(shard.row_count * shard.columns);
    }
    arguments.shards = shards;
    arguments.on_host = shards;
    arguments.shape.rows = static_cast<std::int64_t>(momentum.size());
  }

  LookupArguments arguments;
  std::vector<LocalShard> shards;
  std::vector<float> rows;
  std::vector<float> momentum;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all = kShapes;
  all.push_back({{30, 1, 40}, {8, 4, 16}, 3, 20, 4});  // more than one rank, tables of other widths
  return all;
}

TEST_F(Fbgemm, LooksUpWhatTheOwnKernelsDo) {
  for (const bool weighted : {false, true}) {
    for (const Shape& shape : shapes()) {
      Case c = make_case(7, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
      const Packed packed(c);
      make_fbgemm_kernels(kOwn, false)->lookup(nullptr, packed.arguments);
      const std::vector<float> got = c.looked_up;
      kOwn.lookup(nullptr, packed.arguments);
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], c.looked_up[i], 1e-5) << i;
    }
  }
}

TEST_F(Fbgemm, UpdatesAsTheDenseReferenceDoes) {
  for (const TableOptimizer kind : {TableOptimizer::kSgd, TableOptimizer::kRowWiseAdagrad}) {
    for (const bool weighted : {false, true}) {
      for (const Shape& shape : shapes()) {
        Case c = make_case(11, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
        Packed packed(c);
        std::mt19937 random(3);
        for (float& gradient : c.looked_up) gradient = signed_unit(random);
        const TableOptimizerSpec optimizer{.kind = kind, .rate = 0.05F, .epsilon = 1e-8F};
        const DenseUpdate expected = dense_update(c, optimizer, 0.5);
        const auto kernels = make_fbgemm_kernels(kOwn, false);
        EXPECT_EQ(kernels->order_bytes(packed.arguments), 0U);
        kernels->sort_rows(nullptr, packed.arguments, {});
        kernels->update(nullptr, {.lookup = packed.arguments, .order = {}, .scale = 0.5F, .optimizer = optimizer});
        for (std::size_t s = 0; s < packed.shards.size(); ++s) {
          for (std::size_t i = 0; i < c.tables[s].size(); ++i) {
            ASSERT_NEAR(packed.shards[s].rows[i], expected.tables[s][i], 10 * expected.allowed[s][i]) << s << ' ' << i;
          }
          if (kind != TableOptimizer::kRowWiseAdagrad) continue;
          for (std::size_t i = 0; i < c.momentum[s].size(); ++i) {
            ASSERT_NEAR(packed.shards[s].momentum[i], expected.momentum[s][i], 1e-5 * expected.momentum[s][i]);
          }
        }
      }
    }
  }
}

TEST_F(Fbgemm, TrainsAsTheOwnKernelsDo) {
  const std::pair<const char*, const char*> trainings[] = {{"tiny", "torchrec/sparse_dist"},
                                                           {"tiny-fp", "torchrec/sparse_dist"},
                                                           {"tiny-dp-mp", "recsys/dp_mp_serial"},
                                                           {"tiny-dp", "recsys/dp_only"}};
  for (const auto& [workload, schedule] : trainings) {
    for (const int ranks : {1, 2, 4}) {
      const auto trained = [&, workload = workload, schedule = schedule](EmbeddingKind kind) {
        return run_on_cpu(schedule::find(schedule), workload_on(workload, ranks), {.seed = 1}, {}, {.embedding = kind})
            .front()
            .losses;
      };
      const std::vector<float> own = trained(EmbeddingKind::kOwn);
      const std::vector<float> others = trained(EmbeddingKind::kFbgemm);
      ASSERT_EQ(own.size(), others.size());
      for (std::size_t step = 0; step < own.size(); ++step) EXPECT_NEAR(own[step], others[step], 2e-6) << workload;
    }
  }
}

// Needs no package. In a process of its own, where nothing is loaded yet.
TEST(FbgemmPackage, WhereItIsMissingThatIsSaid) {
  const auto tell = [] {
    setenv("INTERLACE_FBGEMM_DIR", "/nowhere/fbgemm_gpu", 1);
    try {
      static_cast<void>(make_fbgemm_kernels(kOwn, false));
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::exit(7);
    }
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(tell(), ::testing::ExitedWithCode(7), "engine.no_fbgemm.*/nowhere/fbgemm_gpu.*there is no package");
}

}  // namespace
}  // namespace interlace::engine
