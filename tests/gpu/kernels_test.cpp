// The kernels for GPUs: sums against double, everything else bit by bit against those for CPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cpu/embedding_kernels.hpp"
#include "engine/cuda/device.hpp"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/status.hpp"
#include "tests/gpu/device_array.hpp"
#include "tests/unit/engine/embedding_case.hpp"

namespace interlace::engine::cuda {
namespace {

const CudaEmbeddingKernels kGpu;
const cpu::CpuEmbeddingKernels kCpu;

// The kernels take memory from LibTorch's allocator, which a device sets up.
class GpuKernels : public testing::Test {
 protected:
  Progress progress_;
  CudaDevice device_{0, progress_};
};

// A case in the memory of the GPU.
struct OnGpu {
  explicit OnGpu(Case& c)
      : offsets((static_cast<void>(c.arguments()), c.offsets)),
        ids(c.ids),
        weights(c.weights),
        looked_up(c.looked_up),
        width(c.width) {
    std::vector<LocalShard> local = c.shards;
    for (std::size_t s = 0; s < local.size(); ++s) {
      tables.emplace_back(c.tables[s]);
      momentum.emplace_back(c.momentum[s]);
      local[s].rows = tables.back().span().data();
      local[s].momentum = momentum.back().span().data();
      shape.rows += local[s].row_count;
      shape.widest = std::max(shape.widest, local[s].columns);
      shape.whole_vectors = shape.whole_vectors && local[s].columns % 4 == 0;
    }
    shards.emplace(local);
    arguments = {.shards = shards->span(),
                 .shape = shape,
                 .sources = c.sources,
                 .batch = c.batch,
                 .input = {.offsets = offsets.span(), .ids = ids.span(), .weights = weights.span()},
                 .places = {},
                 .looked_up = looked_up.span(),
                 .width = width};
  }

  DeviceArray<std::int64_t> offsets;
  DeviceArray<std::int64_t> ids;
  DeviceArray<float> weights;
  DeviceArray<float> looked_up;
  std::int64_t width;
  std::vector<DeviceArray<float>> tables;
  std::vector<DeviceArray<float>> momentum;
  std::optional<DeviceArray<LocalShard>> shards;
  ShardShape shape{.rows = 0, .widest = 0, .whole_vectors = true};
  LookupArguments arguments;
};

// Those of the CPU's tests, and rows that take every form of the kernels: odd widths, several vectors a lane, passes.
std::vector<Shape> shapes() {
  std::vector<Shape> all = kShapes;
  all.insert(all.end(), {{{30, 40}, {5, 7}, 2, 20, 4},
                         {{100}, {64}, 2, 64, 10},
                         {{100}, {256}, 1, 64, 10},
                         {{50}, {512}, 1, 32, 10},
                         {{20}, {2048}, 1, 16, 10},
                         {{10}, {6000}, 1, 8, 40},
                         {{3}, {512}, 1, 2048, 8}});
  return all;
}

TEST_F(GpuKernels, LookupSumsTheRowsOfEachBag) {
  for (const bool weighted : {false, true}) {
    for (const Shape& shape : shapes()) {
      Case c = make_case(7, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
      const OnGpu gpu(c);
      kGpu.lookup(nullptr, gpu.arguments);
      const std::vector<float> got = gpu.looked_up.read();
      std::vector<double> expected(got.size());
      std::vector<double> magnitude(got.size());
      each_id(c, [&](std::size_t shard, std::size_t row, std::size_t id, double weight) {
        for (std::int32_t column = 0; column < c.dims[shard]; ++column) {
          const auto dim = static_cast<std::size_t>(c.dims[shard]);
          const double term = weight * c.tables[shard][id * dim + static_cast<std::size_t>(column)];
          const std::size_t cell =
              row * static_cast<std::size_t>(c.width) + static_cast<std::size_t>(c.shards[shard].column + column);
          expected[cell] += term;
          magnitude[cell] += std::abs(term);
        }
      });
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-6 * magnitude[i]) << i;
      // By places that were located ahead: the same.
      DeviceArray<std::int64_t> places(std::vector<std::int64_t>(c.ids.size(), -1));
      kGpu.locate(nullptr, gpu.arguments, places.span());
      LookupArguments ahead = gpu.arguments;
      ahead.places = places.span();
      const DeviceArray<float> again(std::vector<float>(got.size(), -7.0F));
      ahead.looked_up = again.span();
      kGpu.lookup(nullptr, ahead);
      EXPECT_EQ(again.read(), got);
    }
  }
}

struct Updated {
  std::vector<std::vector<float>> tables;
  std::vector<std::vector<float>> momentum;

  bool operator==(const Updated&) const = default;
};

Updated updated_on_gpu(Case& c, const TableOptimizerSpec& optimizer) {
  const OnGpu gpu(c);
  const DeviceArray<std::byte> order(std::vector<std::byte>(kGpu.order_bytes(gpu.arguments)));
  kGpu.sort_rows(nullptr, gpu.arguments, order.span());
  kGpu.update(nullptr, {.lookup = gpu.arguments, .order = order.span(), .scale = 0.5F, .optimizer = optimizer});
  Updated updated;
  for (const auto& table : gpu.tables) updated.tables.push_back(table.read());
  for (const auto& momentum : gpu.momentum) updated.momentum.push_back(momentum.read());
  return updated;
}

TEST_F(GpuKernels, FusedUpdateEqualsScatterAddThenOptimizerAndRepeatsItself) {
  for (const TableOptimizer kind :
       {TableOptimizer::kSgd, TableOptimizer::kRowWiseAdagrad, TableOptimizer::kAccumulate}) {
    for (const bool weighted : {false, true}) {
      for (const Shape& shape : shapes()) {
        Case c = make_case(11, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
        static_cast<void>(c.arguments());
        std::mt19937 random(3);
        for (float& gradient : c.looked_up) gradient = signed_unit(random);
        const TableOptimizerSpec optimizer{.kind = kind, .rate = 0.05F, .epsilon = 1e-8F};
        const DenseUpdate expected = dense_update(c, optimizer, 0.5);
        const Updated got = updated_on_gpu(c, optimizer);
        for (std::size_t s = 0; s < got.tables.size(); ++s) {
          for (std::size_t i = 0; i < got.tables[s].size(); ++i) {
            ASSERT_NEAR(got.tables[s][i], expected.tables[s][i], expected.allowed[s][i])
                << "shard " << s << " cell " << i << " of " << c.dims[s] << " columns";
          }
          for (std::size_t i = 0; i < got.momentum[s].size(); ++i) {
            ASSERT_NEAR(got.momentum[s][i], expected.momentum[s][i], 2e-6 * expected.momentum[s][i]);
          }
        }
        EXPECT_EQ(updated_on_gpu(c, optimizer), got);
      }
    }
  }
}

TEST_F(GpuKernels, FeatureProcessorsWeighIdsByTheirPlace) {
  for (const bool weighted : {false, true}) {
    for (const Shape& shape : shapes()) {
      Case c = make_case(19, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
      static_cast<void>(c.arguments());
      std::mt19937 random(3);
      for (float& gradient : c.looked_up) gradient = signed_unit(random);
      const PlaceCase places = make_places(c, shape.longest);
      const OnGpu gpu(c);
      const DeviceArray<PlaceWeights> shards(places.shards);
      const PlaceArguments arguments{
          .shards = shards.span(), .most = places.shards[0].count, .batch = c.batch, .input = gpu.arguments.input};
      const DeviceArray<float> of_places(places.of_places);
      const DeviceArray<float> weights(std::vector<float>(c.ids.size()));
      kGpu.weigh(nullptr, arguments, of_places.span(), weights.span());
      const DeviceArray<float> of_ids(std::vector<float>(c.ids.size()));
      kGpu.weight_gradients(nullptr, gpu.arguments, of_ids.span());
      const std::vector<float> got = weights.read();
      const std::vector<float> got_of_ids = of_ids.read();
      for (std::size_t i = 0; i < c.ids.size(); ++i) {
        ASSERT_NEAR(got[i], places.weights[i], 1e-6) << i;
        ASSERT_NEAR(got_of_ids[i], places.of_ids[i], 1e-6 * places.of_ids_magnitudes[i]) << i;
      }
      const DeviceArray<float> exact(std::vector<float>(places.of_ids.begin(), places.of_ids.end()));
      const auto summed = [&] {
        const DeviceArray<float> gradients(std::vector<float>(places.of_places.size(), 0.25F));
        kGpu.add_place_gradients(nullptr, arguments, exact.span(), gradients.span());
        return gradients.read();
      };
      const std::vector<float> gradients = summed();
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        ASSERT_NEAR(gradients[p] - 0.25, places.gradients[p], 1e-5 * (1.0 + places.magnitudes[p])) << p;
      }
      EXPECT_EQ(summed(), gradients);
    }
  }
}

TEST_F(GpuKernels, InputKernelsGiveTheBitsOfTheCpu) {
  const std::vector<InputSlot> slots = {{.feature = 0, .rank = 0, .row_begin = 0, .row_end = 500, .table_rows = 800},
                                        {.feature = 0, .rank = 1, .row_begin = 500, .row_end = 800, .table_rows = 800},
                                        {.feature = 1, .rank = 1, .row_begin = 0, .row_end = 40, .table_rows = 40}};
  constexpr std::int64_t kBatch = 300;
  Case c = make_case(5, {800, 40}, {4, 4}, 1, kBatch, 30, true);
  static_cast<void>(c.arguments());
  std::vector<std::int32_t> lengths(slots.size() * kBatch);
  std::vector<std::int64_t> report(2 + kReportExtra);
  const JaggedView input{.offsets = c.offsets, .ids = c.ids, .weights = c.weights};
  kCpu.count(nullptr, {.slots = slots, .batch = kBatch, .input = input, .lengths = lengths, .report = report});
  std::vector<std::int64_t> sums(lengths.size() + 1);
  kCpu.sum_lengths(nullptr, lengths, sums);
  const std::vector<std::int64_t> shifts = {0, 3};  // a gap between the ranks
  std::vector<std::int64_t> sent(c.ids.size() + 3);
  std::vector<float> sent_weights(sent.size());
  kCpu.spread(nullptr, {.slots = slots,
                        .batch = kBatch,
                        .input = input,
                        .offsets = sums,
                        .shifts = shifts,
                        .ids = sent,
                        .weights = sent_weights});

  const OnGpu gpu(c);
  const DeviceArray<InputSlot> gpu_slots(slots);
  const DeviceArray<std::int32_t> gpu_lengths(std::vector<std::int32_t>(lengths.size()));
  const DeviceArray<std::int64_t> gpu_report(std::vector<std::int64_t>(report.size()));
  const DeviceArray<std::int64_t> gpu_shifts(shifts);
  const DeviceArray<std::int64_t> gpu_sums(std::vector<std::int64_t>(sums.size()));
  const DeviceArray<std::int64_t> gpu_sent(std::vector<std::int64_t>(sent.size()));
  const DeviceArray<float> gpu_weights(std::vector<float>(sent.size()));
  kGpu.count(nullptr, {.slots = gpu_slots.span(),
                       .batch = kBatch,
                       .input = gpu.arguments.input,
                       .lengths = gpu_lengths.span(),
                       .report = gpu_report.span()});
  kGpu.sum_lengths(nullptr, gpu_lengths.span(), gpu_sums.span());
  kGpu.spread(nullptr, {.slots = gpu_slots.span(),
                        .batch = kBatch,
                        .input = gpu.arguments.input,
                        .offsets = gpu_sums.span(),
                        .shifts = gpu_shifts.span(),
                        .ids = gpu_sent.span(),
                        .weights = gpu_weights.span()});
  EXPECT_EQ(gpu_lengths.read(), lengths);
  EXPECT_EQ(gpu_report.read(), report);
  EXPECT_EQ(gpu_sums.read(), sums);
  EXPECT_EQ(gpu_sent.read(), sent);
  EXPECT_EQ(gpu_weights.read(), sent_weights);
}

TEST_F(GpuKernels, ReportsAnIdThatNoRowHas) {
  const std::vector<InputSlot> slots = {{.feature = 0, .rank = 0, .row_begin = 0, .row_end = 8, .table_rows = 8}};
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{8}}) {
    const DeviceArray<InputSlot> gpu_slots(slots);
    const DeviceArray<std::int64_t> offsets(std::vector<std::int64_t>{0, 2});
    const DeviceArray<std::int64_t> ids(std::vector<std::int64_t>{3, bad});
    const DeviceArray<std::int32_t> lengths(std::vector<std::int32_t>(1));
    const DeviceArray<std::int64_t> report(std::vector<std::int64_t>(1 + kReportExtra));
    kGpu.count(nullptr, {.slots = gpu_slots.span(),
                         .batch = 1,
                         .input = {.offsets = offsets.span(), .ids = ids.span(), .weights = {}},
                         .lengths = lengths.span(),
                         .report = report.span()});
    EXPECT_EQ(report.read()[1], 1);
    EXPECT_EQ(report.read()[2], bad);
  }
}

// Blocks of two ranks; the last columns are the sum of both ranks'. Widths in fours and not.
TEST_F(GpuKernels, AssembleAndArrangeGiveTheBitsOfTheCpu) {
  for (const std::int32_t unit : {1, 4}) {
    constexpr std::int64_t kBatch = 70;
    const std::vector<ColumnMove> moves = {
        {.columns_before = 0, .block_width = 2 * unit, .from = 0, .to = unit, .columns = unit, .add = false},
        {.columns_before = 2 * unit,
         .block_width = 3 * unit,
         .from = 0,
         .to = 2 * unit,
         .columns = 2 * unit,
         .add = false},
        {.columns_before = 0, .block_width = 2 * unit, .from = unit, .to = 4 * unit, .columns = unit, .add = false},
        {.columns_before = 2 * unit,
         .block_width = 3 * unit,
         .from = 2 * unit,
         .to = 4 * unit,
         .columns = unit,
         .add = true}};
    const std::int64_t stride = 5 * unit;
    std::mt19937 random(1);
    std::vector<float> blocks(static_cast<std::size_t>(kBatch * 5 * unit));
    for (float& value : blocks) value = signed_unit(random);
    std::vector<float> pooled(static_cast<std::size_t>(kBatch * stride), -1.0F);
    const DeviceArray<ColumnMove> gpu_moves(moves);
    const DeviceArray<float> gpu_blocks(blocks);
    const DeviceArray<float> gpu_pooled(pooled);
    const PooledArguments on_gpu{.moves = gpu_moves.span(),
                                 .batch = kBatch,
                                 .blocks = gpu_blocks.span().data(),
                                 .pooled = gpu_pooled.span().data(),
                                 .stride = stride};
    const PooledArguments on_cpu{
        .moves = moves, .batch = kBatch, .blocks = blocks.data(), .pooled = pooled.data(), .stride = stride};
    kCpu.assemble(nullptr, on_cpu);
    kGpu.assemble(nullptr, on_gpu);
    EXPECT_EQ(gpu_pooled.read(), pooled);
    kCpu.arrange(nullptr, on_cpu);
    kGpu.arrange(nullptr, on_gpu);
    EXPECT_EQ(gpu_blocks.read(), blocks);
  }
}

// More than the second dimension of a grid holds: 65535. Shards of a row each, and a column each.
TEST_F(GpuKernels, ShardsAndMovesMayBeMany) {
  constexpr std::int32_t kMany = 70'000;
  const std::vector<std::int64_t> taken = {0, 65'535, 65'536, kMany - 1};
  std::vector<InputSlot> slots;
  std::vector<ColumnMove> moves;
  std::vector<std::int32_t> lengths(kMany);
  std::vector<float> columns(kMany);
  for (std::int32_t i = 0; i < kMany; ++i) {
    slots.push_back({.feature = 0, .rank = 0, .row_begin = i, .row_end = i + 1, .table_rows = kMany});
    moves.push_back({.columns_before = 0, .block_width = kMany, .from = i, .to = i, .columns = 1, .add = false});
    columns[static_cast<std::size_t>(i)] = static_cast<float>(i);
  }
  for (const std::int64_t row : taken) lengths[static_cast<std::size_t>(row)] = 1;
  const auto many = std::size_t{kMany};

  const DeviceArray<InputSlot> gpu_slots(slots);
  const DeviceArray<std::int64_t> offsets(std::vector<std::int64_t>{0, 4});
  const DeviceArray<std::int64_t> ids(taken);
  const DeviceArray<std::int32_t> gpu_lengths(std::vector<std::int32_t>(many, -1));
  const DeviceArray<std::int64_t> report(std::vector<std::int64_t>(1 + kReportExtra));
  const DeviceArray<std::int64_t> sums(std::vector<std::int64_t>(many + 1));
  const DeviceArray<std::int64_t> shifts(std::vector<std::int64_t>{0});
  const DeviceArray<std::int64_t> sent(std::vector<std::int64_t>(taken.size(), -1));
  const JaggedView input{.offsets = offsets.span(), .ids = ids.span(), .weights = {}};
  kGpu.count(
      nullptr,
      {.slots = gpu_slots.span(), .batch = 1, .input = input, .lengths = gpu_lengths.span(), .report = report.span()});
  kGpu.sum_lengths(nullptr, gpu_lengths.span(), sums.span());
  kGpu.spread(nullptr, {.slots = gpu_slots.span(),
                        .batch = 1,
                        .input = input,
                        .offsets = sums.span(),
                        .shifts = shifts.span(),
                        .ids = sent.span(),
                        .weights = {}});
  EXPECT_EQ(gpu_lengths.read(), lengths);
  EXPECT_EQ(report.read()[0], 4);
  EXPECT_EQ(sent.read(), std::vector<std::int64_t>(taken.size(), 0));  // each counted from its own row

  const DeviceArray<ColumnMove> gpu_moves(moves);
  const DeviceArray<float> blocks(columns);
  const std::vector<float> zeros(many);
  const DeviceArray<float> pooled(zeros);
  PooledArguments on_gpu{.moves = gpu_moves.span(),
                         .batch = 1,
                         .blocks = blocks.span().data(),
                         .pooled = pooled.span().data(),
                         .stride = kMany};
  kGpu.assemble(nullptr, on_gpu);
  EXPECT_EQ(pooled.read(), columns);
  const DeviceArray<float> back(zeros);
  on_gpu.blocks = back.span().data();
  kGpu.arrange(nullptr, on_gpu);
  EXPECT_EQ(back.read(), columns);
}

// One bag a shard, with one id whose gradient its only place gets.
TEST_F(GpuKernels, FeatureProcessorsOfManyShardsGetTheirGradients) {
  constexpr std::int32_t kMany = 70'000;
  std::vector<PlaceWeights> places;
  std::vector<std::int64_t> bags = {0};
  std::vector<float> gradients;
  for (std::int32_t shard = 0; shard < kMany; ++shard) {
    places.push_back({.begin = shard, .count = 1});
    bags.push_back(shard + 1);
    gradients.push_back(static_cast<float>(shard));
  }
  const DeviceArray<PlaceWeights> shards(places);
  const DeviceArray<std::int64_t> offsets(bags);
  const DeviceArray<float> of_ids(gradients);
  const DeviceArray<float> of_places(std::vector<float>(gradients.size()));
  kGpu.add_place_gradients(
      nullptr,
      {.shards = shards.span(), .most = 1, .batch = 1, .input = {.offsets = offsets.span(), .ids = {}, .weights = {}}},
      of_ids.span(), of_places.span());
  EXPECT_EQ(of_places.read(), gradients);
}

TEST_F(GpuKernels, FillsGiveTheBitsOfTheCpu) {
  const UniformFill fill{.seed = 9, .first = 28, .columns = 12, .stride = 20, .bound = 0.25F};
  std::vector<float> values(12 * 5000);
  kCpu.fill_uniform(nullptr, values, fill);
  const DeviceArray<float> gpu(std::vector<float>(values.size()));
  kGpu.fill_uniform(nullptr, gpu.span(), fill);
  EXPECT_EQ(gpu.read(), values);
  kGpu.fill(nullptr, gpu.span(), 2.5F);
  EXPECT_EQ(gpu.read(), std::vector<float>(values.size(), 2.5F));
}

// Refused before anything is launched: there are no such arrays.
TEST_F(GpuKernels, MoreIdsOrBagsThanTheyCountAreRefused) {
  const auto refusal = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.code()) + ": " + error.problem();
    }
    return "none";
  };
  const std::size_t many = std::size_t{1} << 32U;
  LookupArguments arguments;
  arguments.input.ids = {static_cast<const std::int64_t*>(nullptr), many};
  const std::string ids = refusal([&] { kGpu.sort_rows(nullptr, arguments, {}); });
  EXPECT_EQ(ids, "engine.too_large: 4294967296 ids are more than kernels count");
  arguments.input = {.offsets = {static_cast<const std::int64_t*>(nullptr), many + 1}, .ids = {}, .weights = {}};
  const std::string bags = refusal([&] { kGpu.locate(nullptr, arguments, {}); });
  EXPECT_EQ(bags, "engine.too_large: 4294967296 bags are more than kernels count");
  // Four threads a bag.
  arguments.input.offsets = arguments.input.offsets.first(many / 4 + 1);
  const std::string threads = refusal([&] { kGpu.locate(nullptr, arguments, {}); });
  EXPECT_EQ(threads, "engine.too_large: 4294967296 threads are more than kernels count");
}

// Gives memory that another stream has used back to a device that a write to nowhere has ended.
[[noreturn]] void give_back_behind_a_fault() {
  Progress progress;
  CudaDevice device(0, progress);
  const StreamId pool = device.make_stream("pool", 0);
  std::shared_ptr<Block> block = device.allocate(512, pool);
  block->used_on(device.make_stream("user", 0));
  kGpu.fill(nullptr, {reinterpret_cast<float*>(alignof(float)), 1}, 1.0F);
  try {
    device.synchronize();
  } catch (const Error& error) {
    block.reset();
    std::_Exit(error.code() == kCudaFailed.name ? 0 : 3);
  }
  std::_Exit(4);
}

// In a process of its own, which has no other device afterwards.
TEST(GpuFaultsDeathTest, MemoryThatOtherStreamsUsedIsGivenBackWithoutEndingTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(give_back_behind_a_fault(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace interlace::engine::cuda
