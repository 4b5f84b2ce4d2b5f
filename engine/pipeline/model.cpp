#include "engine/pipeline/model.hpp"

#include <algorithm>
#include <cstring>

#include "engine/data/counter_hash.hpp"
#include "engine/data/initial_values.hpp"
#include "engine/model/layer.hpp"
#include "engine/runtime/transfer.hpp"

namespace interlace::engine {

namespace {

// Of the data-parallel tables among the parameters, in floats: kernels load vectors of four.
constexpr std::size_t kAlignment = 4;

std::size_t cell_count(const ModuleSpec& module) {
  std::size_t count = 0;
  for (const TableSpec& table : module.tables) count += static_cast<std::size_t>(table.rows * table.dim);
  return count;
}

// Places of the bags of all tables; a table that is never looked up has one.
std::int32_t place_count(const TableSpec& table) { return std::max(1, longest_bag(table)); }

std::size_t place_count(const ModuleSpec& module) {
  std::size_t count = 0;
  for (const TableSpec& table : module.tables) count += static_cast<std::size_t>(place_count(table));
  return count;
}

// As ShardedModule fills its tables.
void fill_tables(const ModuleSpec& module, std::uint64_t seed, std::span<float> values) {
  std::size_t next = 0;
  for (std::size_t t = 0; t < module.tables.size(); ++t) {
    const TableSpec& table = module.tables[t];
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(table.rows * table.dim); ++i) {
      values[next++] = uniform(counter_hash(table_seed(seed, t), i), table_bound(table));
    }
  }
}

}  // namespace

Model::Model(const Workload& workload, const RankTools& tools, StreamId stream) {
  if (!workload.dense) return;
  std::int64_t column = bottom_width(*workload.dense);
  for (std::size_t m = 0; m < workload.modules.size(); ++m) {
    const TableSetup setup{.seed = module_seed(workload, m),
                           .optimizer = workload.table_optimizer.kind,
                           .first_column = static_cast<std::int32_t>(column)};
    modules_.push_back(std::make_unique<ShardedModule>(workload.modules[m], tools.communicator.rank(),
                                                       tools.communicator.ranks(), setup, tools.device, tools.kernels,
                                                       stream));
    column += pooled_width(workload.modules[m]);
  }
  if (workload.data_parallel) column += pooled_width(*workload.data_parallel);
  interaction_width_ = column;
  make_dense(workload, tools, stream, interaction_width_ - bottom_width(*workload.dense));
}

void Model::make_dense(const Workload& workload, const RankTools& tools, StreamId stream, std::int64_t pooled) {
  const std::size_t dense = parameter_count(*workload.dense, pooled);
  const std::size_t tables = (dense + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t places = workload.data_parallel ? tables + cell_count(*workload.data_parallel) : dense;
  std::size_t all = places;
  if (workload.feature_processors) {
    for (const ModuleSpec& module : workload.modules) all += place_count(module);
  }
  std::vector<float> values(all, 1.0F);  // as those of places begin
  initialise_parameters(*workload.dense, pooled, dense_seed(workload), std::span(values).first(dense));
  if (workload.data_parallel) {
    fill_tables(*workload.data_parallel, module_seed(workload, workload.modules.size()),
                std::span(values).subspan(tables));
  }
  parameters_ = to_device(tools.device, stream, values);
  gradients_ = tools.device.buffer<float>(all, stream);
  tools.device.launch(stream, [&kernels = tools.kernels, gradients = gradients_.span()](NativeStream on) {
    kernels.fill(on, gradients, 0.0F);
  });
  net_ = std::make_unique<DenseNet>(*workload.dense, pooled, workload.bucket_bytes, tools.where, parameters_.data(),
                                    gradients_.data());
  if (workload.data_parallel) make_data_parallel(*workload.data_parallel, tools, stream, tables);
  if (workload.feature_processors) make_processors(workload, tools, stream, places);
}

void Model::make_processors(const Workload& workload, const RankTools& tools, StreamId stream,
                            std::size_t first_parameter) {
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    const ModuleSpec& module = workload.modules[m];
    std::vector<std::int32_t> begins;  // by table
    std::int32_t next = 0;
    for (const TableSpec& table : module.tables) {
      begins.push_back(next);
      next += place_count(table);
    }
    std::vector<PlaceWeights> shards;
    std::int32_t most = 1;
    for (const Shard& shard : modules_[m]->plan().shards_of(tools.communicator.rank())) {
      const auto table = static_cast<std::size_t>(shard.table);
      shards.push_back({.begin = begins[table], .count = place_count(module.tables[table])});
      most = std::max(most, shards.back().count);
    }
    processors_.push_back({.parameters = {first_parameter, place_count(module)},
                           .shards = to_device(tools.device, stream, shards),
                           .most = most});
    first_parameter += place_count(module);
  }
}

void Model::make_data_parallel(const ModuleSpec& spec, const RankTools& tools, StreamId stream,
                               std::size_t first_parameter) {
  std::vector<LocalShard> rows = ShardingPlan(spec, 1).local_shards(0);
  std::vector<LocalShard> gradients = rows;
  std::size_t next = first_parameter;
  for (std::size_t table = 0; table < rows.size(); ++table) {
    rows[table].rows = parameters_.data() + next;
    gradients[table].rows = gradients_.data() + next;
    next += static_cast<std::size_t>(rows[table].row_count * rows[table].columns);
  }
  const auto width = static_cast<std::int32_t>(pooled_width(spec));
  const ColumnMove move{
      .block_width = width, .to = static_cast<std::int32_t>(interaction_width_) - width, .columns = width};
  data_parallel_.emplace(DataParallelTables{.spec = spec,
                                            .parameters = {first_parameter, next - first_parameter},
                                            .rows = to_device(tools.device, stream, rows),
                                            .gradients = to_device(tools.device, stream, gradients),
                                            .shape = shape_of(rows, spec.name),
                                            .moves = to_device(tools.device, stream, std::vector{move}),
                                            .width = width});
}

std::uint64_t Model::digest(const RankTools& tools, StreamId stream) const {
  std::uint64_t sum = 0;
  for (const auto& module : modules_) sum = sum * 3 + module->digest(tools.device, stream);
  if (tools.communicator.rank() != 0) return sum;
  const Buffer<float> dense = to_host(tools.device, stream, parameters_);
  std::uint64_t digest = 0;
  for (const float value : dense.span()) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    digest = counter_hash(digest, bits);
  }
  return sum + digest;
}

}  // namespace interlace::engine
