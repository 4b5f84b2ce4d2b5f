#include "engine/cpu/embedding_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/unit/engine/embedding_case.hpp"

namespace interlace::engine::cpu {
namespace {

const CpuEmbeddingKernels kKernels;

TEST(EmbeddingKernels, LookupSumsTheRowsOfEachBag) {
  for (const bool weighted : {false, true}) {
    for (const Shape& shape : kShapes) {
      Case c = make_case(7, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
      LookupArguments arguments = c.arguments();
      kKernels.lookup(nullptr, arguments);
      std::vector<double> expected(c.looked_up.size());
      std::vector<double> magnitude(c.looked_up.size());
      each_id(c, [&](std::size_t shard, std::size_t row, std::size_t id, double weight) {
        for (std::int32_t column = 0; column < c.dims[shard]; ++column) {
          const double term =
              weight * c.tables[shard][id * static_cast<std::size_t>(c.dims[shard]) + static_cast<std::size_t>(column)];
          const std::size_t cell =
              row * static_cast<std::size_t>(c.width) + static_cast<std::size_t>(c.shards[shard].column + column);
          expected[cell] += term;
          magnitude[cell] += std::abs(term);
        }
      });
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(c.looked_up[i], expected[i], 1e-6 * magnitude[i]) << i;
      }
      // The same rows, found by places that were located ahead.
      const std::vector<float> by_id = c.looked_up;
      std::vector<std::int64_t> places(c.ids.size());
      kKernels.locate(nullptr, arguments, places);
      arguments.places = places;
      const std::vector<std::int64_t> no_ids(c.ids.size(), -1);
      arguments.input.ids = no_ids;
      std::ranges::fill(c.looked_up, -7.0F);
      kKernels.lookup(nullptr, arguments);
      EXPECT_EQ(c.looked_up, by_id);
    }
  }
}

TEST(EmbeddingKernels, FeatureProcessorsWeighIdsByTheirPlace) {
  for (const bool weighted : {false, true}) {
    for (const Shape& shape : kShapes) {
      Case c = make_case(19, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
      const LookupArguments lookup = c.arguments();
      std::mt19937 random(3);
      for (float& gradient : c.looked_up) gradient = signed_unit(random);
      const PlaceCase places = make_places(c, shape.longest);
      const PlaceArguments arguments{
          .shards = places.shards, .most = places.shards[0].count, .batch = c.batch, .input = lookup.input};
      std::vector<float> weights(c.ids.size());
      kKernels.weigh(nullptr, arguments, places.of_places, weights);
      std::vector<float> of_ids(c.ids.size());
      kKernels.weight_gradients(nullptr, lookup, of_ids);
      for (std::size_t i = 0; i < c.ids.size(); ++i) {
        ASSERT_NEAR(weights[i], places.weights[i], 1e-6) << i;
        ASSERT_NEAR(of_ids[i], places.of_ids[i], 1e-6 * places.of_ids_magnitudes[i]) << i;
      }
      const std::vector<float> exact(places.of_ids.begin(), places.of_ids.end());
      std::vector<float> gradients(places.of_places.size(), 0.25F);
      kKernels.add_place_gradients(nullptr, arguments, exact, gradients);
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        ASSERT_NEAR(gradients[p] - 0.25, places.gradients[p], 1e-5 * (1.0 + places.magnitudes[p])) << p;
      }
    }
  }
}

TEST(EmbeddingKernels, FusedUpdateEqualsScatterAddThenOptimizer) {
  for (const TableOptimizer kind :
       {TableOptimizer::kSgd, TableOptimizer::kRowWiseAdagrad, TableOptimizer::kAccumulate}) {
    for (const bool weighted : {false, true}) {
      for (const Shape& shape : kShapes) {
        Case c = make_case(11, shape.rows, shape.dims, shape.sources, shape.batch, shape.longest, weighted);
        const LookupArguments arguments = c.arguments();
        std::mt19937 random(3);
        for (float& gradient : c.looked_up) gradient = signed_unit(random);
        const TableOptimizerSpec optimizer{.kind = kind, .rate = 0.05F, .epsilon = 1e-8F};
        const DenseUpdate expected = dense_update(c, optimizer, 0.5);
        std::vector<std::byte> order(kKernels.order_bytes(arguments));
        kKernels.sort_rows(nullptr, arguments, order);
        kKernels.update(nullptr, {.lookup = arguments, .order = order, .scale = 0.5F, .optimizer = optimizer});
        for (std::size_t s = 0; s < c.tables.size(); ++s) {
          for (std::size_t i = 0; i < c.tables[s].size(); ++i) {
            ASSERT_NEAR(c.tables[s][i], expected.tables[s][i], expected.allowed[s][i])
                << "shard " << s << " cell " << i;
          }
          for (std::size_t i = 0; i < c.momentum[s].size(); ++i) {
            ASSERT_NEAR(c.momentum[s][i], expected.momentum[s][i], 1e-6 * expected.momentum[s][i]) << s << " row " << i;
          }
        }
      }
    }
  }
}

TEST(EmbeddingKernels, RowsThatNoBagNamesStayAsTheyAre) {
  Case c = make_case(5, {9}, {4}, 1, 2, 0, false);
  c.lengths = {1, 0};
  c.ids = {4};
  const std::vector<float> before = c.tables[0];
  const LookupArguments arguments = c.arguments();
  std::ranges::fill(c.looked_up, 1.0F);
  std::vector<std::byte> order(kKernels.order_bytes(arguments));
  kKernels.sort_rows(nullptr, arguments, order);
  kKernels.update(nullptr, {.lookup = arguments, .order = order, .optimizer = {.kind = TableOptimizer::kSgd}});
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(c.tables[0][i] == before[i], i / 4 != 4) << i;
}

// Two destinations of one feature, by row, and one that takes all of another.
TEST(EmbeddingKernels, CountsAndSpreadsIdsByTheRowsOfTheirSlot) {
  const std::vector<InputSlot> slots = {{.feature = 0, .rank = 0, .row_begin = 0, .row_end = 5, .table_rows = 8},
                                        {.feature = 0, .rank = 1, .row_begin = 5, .row_end = 8, .table_rows = 8},
                                        {.feature = 1, .rank = 1, .row_begin = 0, .row_end = 4, .table_rows = 4}};
  const std::vector<std::int64_t> offsets = {0, 3, 4, 4, 6};  // feature 0: {6, 1, 7}, {4}; feature 1: {}, {3, 0}
  const std::vector<std::int64_t> ids = {6, 1, 7, 4, 3, 0};
  const std::vector<float> weights = {0.6F, 0.1F, 0.7F, 0.4F, 0.3F, 0.0F};
  const JaggedView input{.offsets = offsets, .ids = ids, .weights = weights};
  std::vector<std::int32_t> lengths(6);
  std::vector<std::int64_t> report(2 + kReportExtra);
  kKernels.count(nullptr, {.slots = slots, .batch = 2, .input = input, .lengths = lengths, .report = report});
  EXPECT_EQ(lengths, (std::vector<std::int32_t>{1, 1, 2, 0, 0, 2}));
  EXPECT_EQ(report, (std::vector<std::int64_t>{2, 4, 0, 0}));

  std::vector<std::int64_t> sums(7);
  kKernels.sum_lengths(nullptr, lengths, sums);
  const std::vector<std::int64_t> shifts = {0, 2};  // rank 1 gets its ids behind a gap
  std::vector<std::int64_t> sent(8, -7);
  std::vector<float> sent_weights(8, -7.0F);
  kKernels.spread(nullptr, {.slots = slots,
                            .batch = 2,
                            .input = input,
                            .offsets = sums,
                            .shifts = shifts,
                            .ids = sent,
                            .weights = sent_weights});
  EXPECT_EQ(sent, (std::vector<std::int64_t>{1, 4, -7, -7, 1, 2, 3, 0}));  // 6 - 5 and 7 - 5 in the second slot
  EXPECT_EQ(sent_weights, (std::vector<float>{0.1F, 0.4F, -7.0F, -7.0F, 0.6F, 0.7F, 0.3F, 0.0F}));
}

TEST(EmbeddingKernels, ReportsAnIdThatNoRowHas) {
  const std::vector<InputSlot> slots = {{.feature = 0, .rank = 0, .row_begin = 0, .row_end = 8, .table_rows = 8}};
  const std::vector<std::int64_t> offsets = {0, 2};
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{8}}) {
    const std::vector<std::int64_t> ids = {3, bad};
    std::vector<std::int32_t> lengths(1);
    std::vector<std::int64_t> report(1 + kReportExtra);
    kKernels.count(nullptr, {.slots = slots,
                             .batch = 1,
                             .input = {.offsets = offsets, .ids = ids, .weights = {}},
                             .lengths = lengths,
                             .report = report});
    EXPECT_EQ(report[1], 1);
    EXPECT_EQ(report[2], bad);
  }
}

TEST(EmbeddingKernels, ThrowsInsteadOfReadingElsewhere) {
  Case c = make_case(5, {9}, {4}, 1, 2, 3, false);
  c.lengths = {1, 1};
  for (const std::vector<std::int64_t>& ids : {std::vector<std::int64_t>{3, 9}, {3, -1}, {3}}) {
    c.ids = ids;
    EXPECT_THROW(kKernels.lookup(nullptr, c.arguments()), Error) << ids.size();
  }
  std::vector<std::int64_t> offsets(3);
  const std::vector<std::int32_t> lengths = {1, -1};
  EXPECT_THROW(kKernels.sum_lengths(nullptr, lengths, offsets), Error);
}

// Blocks of two ranks, 2 and 3 columns wide, two samples; the last column is the sum of both ranks'.
TEST(EmbeddingKernels, AssembleAndArrangeMoveColumns) {
  const std::vector<ColumnMove> moves = {
      {.columns_before = 0, .block_width = 2, .from = 0, .to = 1, .columns = 1, .add = false},
      {.columns_before = 0, .block_width = 2, .from = 1, .to = 4, .columns = 1, .add = false},
      {.columns_before = 2, .block_width = 3, .from = 0, .to = 2, .columns = 2, .add = false},
      {.columns_before = 2, .block_width = 3, .from = 2, .to = 4, .columns = 1, .add = true}};
  std::vector<float> blocks = {1, 2, 3, 4, /* rank 1 */ 10, 20, 30, 40, 50, 60};
  std::vector<float> pooled(10, -1.0F);
  kKernels.assemble(nullptr,
                    {.moves = moves, .batch = 2, .blocks = blocks.data(), .pooled = pooled.data(), .stride = 5});
  EXPECT_EQ(pooled, (std::vector<float>{-1, 1, 10, 20, 2 + 30, -1, 3, 40, 50, 4 + 60}));
  std::vector<float> back(10);
  kKernels.arrange(nullptr, {.moves = moves, .batch = 2, .blocks = back.data(), .pooled = pooled.data(), .stride = 5});
  EXPECT_EQ(back, (std::vector<float>{1, 32, 3, 64, 10, 20, 32, 40, 50, 64}));
}

// A table that is cut by rows and columns starts as the whole one does.
TEST(EmbeddingKernels, FillUniformGivesEachCellItsOwnValue) {
  std::vector<float> whole(6 * 8);
  kKernels.fill_uniform(nullptr, whole, {.seed = 9, .first = 0, .columns = 8, .stride = 8, .bound = 0.25F});
  std::vector<float> part(2 * 4);
  kKernels.fill_uniform(nullptr, part, {.seed = 9, .first = 3 * 8 + 4, .columns = 4, .stride = 8, .bound = 0.25F});
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(part[row * 4 + c], whole[(3 + row) * 8 + 4 + c]);
  }
  const auto [least, most] = std::ranges::minmax(whole);
  EXPECT_GE(least, -0.25F);
  EXPECT_LT(most, 0.25F);
  EXPECT_GT(most - least, 0.3F);
}

}  // namespace
}  // namespace interlace::engine::cpu
