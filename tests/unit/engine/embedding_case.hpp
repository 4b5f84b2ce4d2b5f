// Lookups of any shape with what they must give, in double: for the kernels of any device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "engine/embedding/kernels.hpp"

namespace interlace::engine {

// A lookup with everything that it points to.
struct Case {
  std::vector<std::int64_t> rows;  // by shard
  std::vector<std::int32_t> dims;
  std::int64_t sources = 1;
  std::int64_t batch = 0;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  std::vector<float> weights;

  std::vector<std::vector<float>> tables;
  std::vector<std::vector<float>> momentum;
  std::vector<std::int64_t> offsets;
  std::vector<LocalShard> shards;
  std::vector<float> looked_up;
  std::int64_t width = 0;

  LookupArguments arguments() {
    std::int32_t column = 0;
    std::int64_t first_row = 0;
    shards.clear();
    for (std::size_t s = 0; s < rows.size(); ++s) {
      shards.push_back({tables[s].data(), momentum[s].data(), rows[s], dims[s], column, first_row});
      column += dims[s];
      first_row += rows[s];
    }
    width = column;
    offsets.assign(lengths.size() + 1, 0);
    for (std::size_t bag = 0; bag < lengths.size(); ++bag) offsets[bag + 1] = offsets[bag] + lengths[bag];
    looked_up.resize(static_cast<std::size_t>(sources * batch * width));
    return {.shards = shards,
            .sources = sources,
            .batch = batch,
            .input = {.offsets = offsets, .ids = ids, .weights = weights},
            .looked_up = looked_up,
            .width = width};
  }
};

inline float signed_unit(std::mt19937& random) { return std::uniform_real_distribution<float>(-1.0F, 1.0F)(random); }

// longest: ids of a bag at most. Each shard gets its first and last row for sure, where there are ids at all.
inline Case make_case(std::uint32_t seed, std::vector<std::int64_t> rows, std::vector<std::int32_t> dims,
                      std::int64_t sources, std::int64_t batch, int longest, bool weighted) {
  std::mt19937 random(seed);
  Case made{.rows = std::move(rows), .dims = std::move(dims), .sources = sources, .batch = batch};
  for (std::size_t s = 0; s < made.rows.size(); ++s) {
    auto& table = made.tables.emplace_back(static_cast<std::size_t>(made.rows[s] * made.dims[s]));
    for (float& value : table) value = signed_unit(random);
    auto& momentum = made.momentum.emplace_back(static_cast<std::size_t>(made.rows[s]));
    for (float& value : momentum) value = signed_unit(random) + 1.0F;
  }
  for (std::int64_t source = 0; source < sources; ++source) {
    for (const std::int64_t shard_rows : made.rows) {
      for (std::int64_t sample = 0; sample < batch; ++sample) {
        const int length = std::uniform_int_distribution<int>(0, longest)(random);
        made.lengths.push_back(length);
        for (int i = 0; i < length; ++i) {
          const std::int64_t id = std::uniform_int_distribution<std::int64_t>(0, shard_rows - 1)(random);
          made.ids.push_back(i == 0 ? 0 : (i == 1 ? shard_rows - 1 : id));
        }
      }
    }
  }
  if (weighted) {
    for (std::size_t i = 0; i < made.ids.size(); ++i) made.weights.push_back(signed_unit(random));
  }
  return made;
}

// Calls visit(shard, row of the looked-up matrix, id, weight) for each id, by plain counting.
template <class Visit>
void each_id(const Case& c, const Visit& visit) {
  std::size_t bag = 0;
  std::size_t next = 0;
  for (std::int64_t source = 0; source < c.sources; ++source) {
    for (std::size_t shard = 0; shard < c.rows.size(); ++shard) {
      for (std::int64_t sample = 0; sample < c.batch; ++sample) {
        for (std::int32_t left = c.lengths[bag++]; left > 0; --left) {
          visit(shard, static_cast<std::size_t>(source * c.batch + sample), static_cast<std::size_t>(c.ids[next]),
                c.weights.empty() ? 1.0 : static_cast<double>(c.weights[next]));
          ++next;
        }
      }
    }
  }
}

struct Shape {
  std::vector<std::int64_t> rows;
  std::vector<std::int32_t> dims;
  std::int64_t sources = 1;
  std::int64_t batch = 0;
  int longest = 0;
};

inline const std::vector<Shape> kShapes = {
    {{50, 3}, {8, 4}, 2, 16, 6},        // duplicates and table ends
    {{1, 1, 7}, {4, 16, 4}, 1, 32, 5},  // one-row tables
    {{20}, {4}, 3, 5, 0},               // nothing but empty bags
    {{20}, {4}, 2, 0, 3},               // a batch of no samples
    {{2}, {128}, 1, 4096, 8},           // long sums: some thousand gradients a row
};

// The dense way, in double: scatter all gradients into an array of the table's size, then run the optimizer over it.
struct DenseUpdate {
  std::vector<std::vector<double>> tables;
  std::vector<std::vector<double>> allowed;  ///< 1e-6 of the magnitudes that went into each value
  std::vector<std::vector<double>> momentum;
};

inline DenseUpdate dense_update(const Case& c, const TableOptimizerSpec& optimizer, double scale) {
  DenseUpdate result;
  std::vector<std::vector<double>> gradients;
  std::vector<std::vector<double>> magnitudes;
  for (std::size_t s = 0; s < c.rows.size(); ++s) {
    gradients.emplace_back(c.tables[s].size());
    magnitudes.emplace_back(c.tables[s].size());
  }
  each_id(c, [&](std::size_t shard, std::size_t row, std::size_t id, double weight) {
    const auto dim = static_cast<std::size_t>(c.dims[shard]);
    for (std::size_t column = 0; column < dim; ++column) {
      const double term = weight * scale *
                          c.looked_up[row * static_cast<std::size_t>(c.width) +
                                      static_cast<std::size_t>(c.shards[shard].column) + column];
      gradients[shard][id * dim + column] += term;
      magnitudes[shard][id * dim + column] += std::abs(term);
    }
  });
  for (std::size_t s = 0; s < c.rows.size(); ++s) {
    const auto dim = static_cast<std::size_t>(c.dims[s]);
    auto& table = result.tables.emplace_back(c.tables[s].begin(), c.tables[s].end());
    auto& allowed = result.allowed.emplace_back(table.size());
    auto& momentum = result.momentum.emplace_back(c.momentum[s].begin(), c.momentum[s].end());
    for (std::size_t row = 0; row < static_cast<std::size_t>(c.rows[s]); ++row) {
      const auto* g = gradients[s].data() + row * dim;
      double rate = optimizer.kind == TableOptimizer::kAccumulate ? -1.0 : optimizer.rate;
      if (optimizer.kind == TableOptimizer::kRowWiseAdagrad) {
        const double mean = std::inner_product(g, g + dim, g, 0.0) / static_cast<double>(dim);
        momentum[row] += mean;
        rate = optimizer.rate / (std::sqrt(momentum[row]) + optimizer.epsilon);
      }
      for (std::size_t column = 0; column < dim; ++column) {
        const std::size_t cell = row * dim + column;
        table[cell] -= rate * g[column];
        allowed[cell] = 1e-6 * (std::abs(c.tables[s][cell]) + std::abs(rate) * magnitudes[s][cell]);
      }
    }
  }
  return result;
}

// A feature processor for a case, with what it must give, in double. The last shard has the weights of the first, as
// column-wise shards of one table; those between have one for all places.
struct PlaceCase {
  std::vector<PlaceWeights> shards;
  std::vector<float> of_places;

  std::vector<double> weights;            // of the ids
  std::vector<double> of_ids;             // gradients of these; looked_up holds those of the bags
  std::vector<double> of_ids_magnitudes;  // summed magnitudes that went into each
  std::vector<double> gradients;          // of the places, where the ids' are `of_ids`
  std::vector<double> magnitudes;
};

inline PlaceCase make_places(const Case& c, int longest) {
  std::mt19937 random(17);
  PlaceCase made;
  const std::int32_t most = longest > 2 ? longest - 1 : 1;  // the longest bags go beyond
  for (std::size_t s = 0; s < c.rows.size(); ++s) {
    const bool of_first = s == 0 || s + 1 == c.rows.size();
    made.shards.push_back({.begin = of_first ? 0 : most, .count = of_first ? most : 1});
  }
  for (std::int32_t place = 0; place < most + 1; ++place) made.of_places.push_back(signed_unit(random));
  made.gradients.resize(made.of_places.size());
  made.magnitudes.resize(made.of_places.size());
  std::size_t bag = 0;
  std::size_t next = 0;
  for (std::int64_t source = 0; source < c.sources; ++source) {
    for (std::size_t s = 0; s < c.rows.size(); ++s) {
      for (std::int64_t sample = 0; sample < c.batch; ++sample) {
        for (std::int32_t p = 0; p < c.lengths[bag]; ++p, ++next) {
          const auto place = static_cast<std::size_t>(made.shards[s].begin + std::min(p, made.shards[s].count - 1));
          const double weight = c.weights.empty() ? 1.0 : static_cast<double>(c.weights[next]);
          const auto dim = static_cast<std::size_t>(c.dims[s]);
          double product = 0.0;
          double magnitude = 0.0;
          for (std::size_t column = 0; column < dim; ++column) {
            const double term =
                static_cast<double>(c.tables[s][static_cast<std::size_t>(c.ids[next]) * dim + column]) *
                c.looked_up[static_cast<std::size_t>((source * c.batch + sample) * c.width + c.shards[s].column) +
                            column];
            product += term;
            magnitude += std::abs(term);
          }
          made.weights.push_back(weight * made.of_places[place]);
          made.of_ids.push_back(product);
          made.of_ids_magnitudes.push_back(magnitude);
          made.gradients[place] += weight * product;
          made.magnitudes[place] += std::abs(weight * product);
        }
        ++bag;
      }
    }
  }
  return made;
}

}  // namespace interlace::engine
