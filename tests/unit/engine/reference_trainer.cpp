#include "tests/unit/engine/reference_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/cpu/device.hpp"
#include "engine/data/batch_source.hpp"
#include "engine/data/counter_hash.hpp"
#include "engine/data/initial_values.hpp"
#include "engine/embedding/sharding_plan.hpp"
#include "engine/model/layer.hpp"

namespace interlace::engine {

namespace {

using Vector = std::vector<double>;

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

PlainFeatures plain(const JaggedFeatures& features) {
  const auto copy = [](const auto& buffer) { return std::vector(buffer.span().begin(), buffer.span().end()); };
  return {copy(features.lengths), copy(features.ids), copy(features.weights)};
}

// The tables of one module, whole. Row-wise Adagrad counts the columns of a shard as a row of its own.
struct Tables {
  ModuleSpec spec;
  std::vector<Vector> rows;                                              // by table
  std::vector<std::vector<Vector>> momentum;                             // by table and column block
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> blocks;  // by table: begin and end columns
  std::vector<Vector> places;  // by table: the weights of the feature processor, all 1 where there is none
};

Tables make_tables(const ModuleSpec& spec, std::uint64_t seed, int ranks) {
  Tables tables{.spec = spec, .rows = {}, .momentum = {}, .blocks = {}, .places = {}};
  const ShardingPlan plan(spec, ranks);
  for (std::size_t t = 0; t < spec.tables.size(); ++t) {
    const TableSpec& table = spec.tables[t];
    Vector& rows = tables.rows.emplace_back();
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(table.rows * table.dim); ++i) {
      rows.push_back(uniform(counter_hash(table_seed(seed, t), i), table_bound(table)));
    }
    auto& blocks = tables.blocks.emplace_back();
    for (const Shard& shard : plan.shards()) {
      if (size(shard.table) != t || shard.row_begin > 0) continue;
      blocks.emplace_back(size(shard.column_begin), size(shard.column_begin + shard.columns));
    }
    tables.momentum.emplace_back(blocks.size(), Vector(size(table.rows)));
    tables.places.emplace_back(size(longest_bag(table)), 1.0);
  }
  return tables;
}

struct Id {
  std::size_t sample;
  std::size_t table;
  std::size_t row;
  double weight;
  std::size_t column;  ///< the first one of its table, among the pooled ones
  std::size_t place;   ///< in its bag
};

template <class Visit>
void each_id(const ModuleSpec& spec, std::int64_t batch, const PlainFeatures& features, const Visit& visit) {
  std::size_t bag = 0;
  std::size_t next = 0;
  std::size_t column = 0;
  for (std::size_t t = 0; t < spec.tables.size(); ++t) {
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      const auto length = size(features.lengths[bag++]);
      for (std::size_t place = 0; place < length; ++place) {
        const double weight = features.weights.empty() ? 1.0 : static_cast<double>(features.weights[next]);
        visit(Id{.sample = size(sample),
                 .table = t,
                 .row = size(features.ids[next]),
                 .weight = weight,
                 .column = column,
                 .place = place});
        ++next;
      }
    }
    column += size(spec.tables[t].dim);
  }
}

// One layer's forward of one sample, kept for its backward.
struct Step {
  Vector input;
  Vector linear;
  Vector normal;  // (linear - mean) / deviation
  double deviation = 1.0;
  Vector output;
};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

Step forward(const Layer& layer, std::span<const double> parameters, const Vector& input) {
  Step step{.input = input, .linear = Vector(size(layer.outputs)), .normal = {}, .output = {}};
  const std::size_t inputs = input.size();
  const std::size_t outputs = step.linear.size();
  for (std::size_t o = 0; o < outputs; ++o) {
    step.linear[o] = parameters[layer.weights() + o];
    for (std::size_t i = 0; i < inputs; ++i) step.linear[o] += parameters[o * inputs + i] * input[i];
  }
  step.output = step.linear;
  if (!layer.activated) return step;
  if (!layer.normalised) {
    for (double& value : step.output) value = std::max(value, 0.0);
    return step;
  }
  double mean = 0.0;
  double variance = 0.0;
  for (const double value : step.linear) mean += value / static_cast<double>(outputs);
  for (const double value : step.linear) variance += (value - mean) * (value - mean) / static_cast<double>(outputs);
  step.deviation = std::sqrt(variance + 1e-5);
  for (std::size_t o = 0; o < outputs; ++o) {
    step.normal.push_back((step.linear[o] - mean) / step.deviation);
    const double scale = parameters[layer.weights() + outputs + o];
    const double shift = parameters[layer.weights() + 2 * outputs + o];
    step.output[o] = step.linear[o] * sigmoid(scale * step.normal[o] + shift);
  }
  return step;
}

// Adds to the parameters' gradients; returns that of the input.
Vector backward(const Layer& layer, std::span<const double> parameters, const Step& step, const Vector& gradient,
                std::span<double> sums) {
  const std::size_t inputs = step.input.size();
  const std::size_t outputs = step.linear.size();
  Vector linear = gradient;
  if (layer.activated && !layer.normalised) {
    for (std::size_t o = 0; o < outputs; ++o) linear[o] = step.linear[o] > 0.0 ? gradient[o] : 0.0;
  } else if (layer.activated) {
    Vector normal(outputs);
    double mean = 0.0;
    double mean_with_normal = 0.0;
    for (std::size_t o = 0; o < outputs; ++o) {
      const double scale = parameters[layer.weights() + outputs + o];
      const double gate = sigmoid(scale * step.normal[o] + parameters[layer.weights() + 2 * outputs + o]);
      const double of_gate = gradient[o] * step.linear[o] * gate * (1.0 - gate);
      sums[layer.weights() + outputs + o] += of_gate * step.normal[o];
      sums[layer.weights() + 2 * outputs + o] += of_gate;
      normal[o] = of_gate * scale;
      linear[o] = gradient[o] * gate;
      mean += normal[o] / static_cast<double>(outputs);
      mean_with_normal += normal[o] * step.normal[o] / static_cast<double>(outputs);
    }
    for (std::size_t o = 0; o < outputs; ++o) {
      linear[o] += (normal[o] - mean - step.normal[o] * mean_with_normal) / step.deviation;
    }
  }
  Vector of_input(inputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    sums[layer.weights() + o] += linear[o];
    for (std::size_t i = 0; i < inputs; ++i) {
      sums[o * inputs + i] += linear[o] * step.input[i];
      of_input[i] += linear[o] * parameters[o * inputs + i];
    }
  }
  return of_input;
}

class Reference {
 public:
  explicit Reference(const Workload& workload) : workload_(workload) {
    for (std::size_t m = 0; m < workload.modules.size(); ++m) {
      modules_.push_back(make_tables(workload.modules[m], module_seed(workload, m), workload.ranks));
    }
    if (workload.data_parallel) {
      data_parallel_ = make_tables(*workload.data_parallel, module_seed(workload, workload.modules.size()), 1);
    }
    std::int64_t pooled = 0;
    for (const ModuleSpec& module : workload.modules) pooled += pooled_width(module);
    if (workload.data_parallel) pooled += pooled_width(*workload.data_parallel);
    pooled_ = size(pooled);
    layers_ = layers_of(*workload.dense, pooled);
    std::vector<float> parameters(parameter_count(*workload.dense, pooled));
    initialise_parameters(*workload.dense, pooled, dense_seed(workload), parameters);
    parameters_.assign(parameters.begin(), parameters.end());
    history_.push_back(modules_);
  }

  double step(const std::vector<PlainBatch>& ranks, int staleness) {
    const std::size_t done = history_.size() - 1;
    const auto& read = history_[done - std::min(done, size(staleness))];
    const double share = 1.0 / static_cast<double>(ranks.size());
    const double sample_share = share / static_cast<double>(workload_.batch);
    Vector gradients(parameters_.size());
    std::vector<std::vector<Vector>> of_tables = zeros(modules_);
    std::vector<Vector> of_data_parallel = data_parallel_ ? zeros({*data_parallel_})[0] : std::vector<Vector>();
    std::vector<std::vector<Vector>> of_places;  // by module and table; the last: of the data-parallel tables
    for (const Tables& tables : modules_) of_places.push_back(zeros_like(tables.places));
    of_places.push_back(data_parallel_ ? zeros_like(data_parallel_->places) : std::vector<Vector>());
    double loss = 0.0;
    for (const PlainBatch& batch : ranks) {
      std::vector<Vector> pooled = pool(batch, read);
      for (std::size_t sample = 0; sample < pooled.size(); ++sample) {
        loss += train_sample(batch, sample, sample_share, pooled[sample], gradients);
      }
      scatter(batch, pooled, of_tables, of_data_parallel, of_places);
    }
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      update(modules_[m], of_tables[m], workload_.table_optimizer);
      if (workload_.feature_processors) descend(modules_[m].places, of_places[m]);
    }
    if (data_parallel_) {
      update(*data_parallel_, of_data_parallel, {.kind = TableOptimizer::kSgd, .rate = workload_.dense_rate});
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] -= static_cast<double>(workload_.dense_rate) * gradients[i];
    }
    history_.push_back(modules_);
    return loss;
  }

 private:
  static std::vector<Vector> zeros_like(const std::vector<Vector>& vectors) {
    std::vector<Vector> zeros;
    for (const Vector& vector : vectors) zeros.emplace_back(vector.size());
    return zeros;
  }

  void descend(std::vector<Vector>& values, const std::vector<Vector>& gradients) const {
    for (std::size_t t = 0; t < values.size(); ++t) {
      for (std::size_t i = 0; i < values[t].size(); ++i) {
        values[t][i] -= static_cast<double>(workload_.dense_rate) * gradients[t][i];
      }
    }
  }

  static std::vector<std::vector<Vector>> zeros(const std::vector<Tables>& modules) {
    std::vector<std::vector<Vector>> zeros;
    for (const Tables& tables : modules) {
      auto& of_module = zeros.emplace_back();
      for (const Vector& rows : tables.rows) of_module.emplace_back(rows.size());
    }
    return zeros;
  }

  static void gather(const Tables& tables, std::int64_t batch, const PlainFeatures& features, std::size_t first,
                     std::vector<Vector>& pooled) {
    each_id(tables.spec, batch, features, [&](const Id& id) {
      const std::size_t dim = size(tables.spec.tables[id.table].dim);
      const double weight = tables.places[id.table][id.place] * id.weight;
      for (std::size_t c = 0; c < dim; ++c) {
        pooled[id.sample][first + id.column + c] += weight * tables.rows[id.table][id.row * dim + c];
      }
    });
  }

  std::vector<Vector> pool(const PlainBatch& batch, const std::vector<Tables>& modules) const {
    std::vector<Vector> pooled(size(workload_.batch), Vector(pooled_));
    std::size_t first = 0;
    for (std::size_t m = 0; m < modules.size(); ++m) {
      gather(modules[m], workload_.batch, batch.modules[m], first, pooled);
      first += size(pooled_width(modules[m].spec));
    }
    if (data_parallel_) gather(*data_parallel_, workload_.batch, *batch.data_parallel, first, pooled);
    return pooled;
  }

  // Returns the sample's part of the loss; `pooled` becomes its gradient.
  double train_sample(const PlainBatch& batch, std::size_t sample, double share, Vector& pooled, Vector& gradients) {
    const std::size_t bottom = workload_.dense->bottom.size();
    const std::size_t features = size(workload_.dense->features);
    Vector flow(batch.dense.begin() + static_cast<std::ptrdiff_t>(sample * features),
                batch.dense.begin() + static_cast<std::ptrdiff_t>((sample + 1) * features));
    std::vector<Step> steps;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (l == bottom) flow.insert(flow.end(), pooled.begin(), pooled.end());
      steps.push_back(forward(layers_[l], parameters_of(l), flow));
      flow = steps.back().output;
    }
    const double logit = flow[0];
    const double label = batch.labels[sample];
    Vector gradient = {(sigmoid(logit) - label) * share};
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const std::span<double> sums = std::span(gradients).subspan(layers_[l].begin, layers_[l].parameters());
      gradient = backward(layers_[l], parameters_of(l), steps[l], gradient, sums);
      if (l != bottom) continue;
      std::copy(gradient.end() - static_cast<std::ptrdiff_t>(pooled.size()), gradient.end(), pooled.begin());
      gradient.resize(gradient.size() - pooled.size());
    }
    return (std::max(logit, 0.0) - logit * label + std::log1p(std::exp(-std::abs(logit)))) * share;
  }

  static void scatter_into(const Tables& tables, std::int64_t batch, const PlainFeatures& features, std::size_t first,
                           const std::vector<Vector>& of_pooled, std::vector<Vector>& sums,
                           std::vector<Vector>& of_places) {
    each_id(tables.spec, batch, features, [&](const Id& id) {
      const std::size_t dim = size(tables.spec.tables[id.table].dim);
      for (std::size_t c = 0; c < dim; ++c) {
        const std::size_t cell = id.row * dim + c;
        const double gradient = id.weight * of_pooled[id.sample][first + id.column + c];
        sums[id.table][cell] += tables.places[id.table][id.place] * gradient;
        of_places[id.table][id.place] += tables.rows[id.table][cell] * gradient;
      }
    });
  }

  void scatter(const PlainBatch& batch, const std::vector<Vector>& of_pooled,
               std::vector<std::vector<Vector>>& of_tables, std::vector<Vector>& of_data_parallel,
               std::vector<std::vector<Vector>>& of_places) const {
    std::size_t first = 0;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      scatter_into(modules_[m], workload_.batch, batch.modules[m], first, of_pooled, of_tables[m], of_places[m]);
      first += size(pooled_width(modules_[m].spec));
    }
    if (data_parallel_) {
      scatter_into(*data_parallel_, workload_.batch, *batch.data_parallel, first, of_pooled, of_data_parallel,
                   of_places.back());
    }
  }

  static void update(Tables& tables, const std::vector<Vector>& gradients, const TableOptimizerSpec& optimizer) {
    for (std::size_t t = 0; t < tables.rows.size(); ++t) {
      const std::size_t dim = size(tables.spec.tables[t].dim);
      for (std::size_t b = 0; b < tables.blocks[t].size(); ++b) {
        const auto [begin, end] = tables.blocks[t][b];
        for (std::size_t row = 0; row < tables.rows[t].size() / dim; ++row) {
          double rate = optimizer.rate;
          if (optimizer.kind == TableOptimizer::kRowWiseAdagrad) {
            double squares = 0.0;
            for (std::size_t c = begin; c < end; ++c) squares += std::pow(gradients[t][row * dim + c], 2);
            double& momentum = tables.momentum[t][b][row];
            momentum += squares / static_cast<double>(end - begin);
            rate /= std::sqrt(momentum) + optimizer.epsilon;
          }
          for (std::size_t c = begin; c < end; ++c) tables.rows[t][row * dim + c] -= rate * gradients[t][row * dim + c];
        }
      }
    }
  }

  [[nodiscard]] std::span<const double> parameters_of(std::size_t layer) const {
    return std::span(parameters_).subspan(layers_[layer].begin, layers_[layer].parameters());
  }

  const Workload& workload_;
  std::vector<Tables> modules_;
  std::optional<Tables> data_parallel_;
  std::size_t pooled_ = 0;
  std::vector<Layer> layers_;
  Vector parameters_;
  std::vector<std::vector<Tables>> history_;  // the modules' tables behind so many steps
};

}  // namespace

PlainBatches plain_batches(const Workload& workload) {
  PlainBatches batches(size(workload.steps), std::vector<PlainBatch>(size(workload.ranks)));
  cpu::CpuCluster cluster(workload.ranks, {});
  cluster.run([&](int rank) {
    cpu::CpuDevice device(cluster, rank);
    SyntheticBatches source(workload, device, rank);
    for (std::int64_t step = 0; step < workload.steps; ++step) {
      const Batch& batch = source.batch(step);
      PlainBatch& made = batches[size(step)][size(rank)];
      made.dense.assign(batch.dense.span().begin(), batch.dense.span().end());
      made.labels.assign(batch.labels.span().begin(), batch.labels.span().end());
      for (const JaggedFeatures& features : batch.modules) made.modules.push_back(plain(features));
      if (batch.data_parallel) made.data_parallel = plain(*batch.data_parallel);
    }
  });
  return batches;
}

std::vector<double> reference_losses(const Workload& workload, int staleness) {
  Reference reference(workload);
  std::vector<double> losses;
  for (const std::vector<PlainBatch>& ranks : plain_batches(workload))
    losses.push_back(reference.step(ranks, staleness));
  return losses;
}

}  // namespace interlace::engine
