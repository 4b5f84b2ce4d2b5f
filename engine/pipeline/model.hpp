#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/collectives/communicator.hpp"
#include "engine/data/batch_source.hpp"
#include "engine/embedding/sharded_module.hpp"
#include "engine/model/dense_net.hpp"
#include "engine/workload/workload.hpp"

namespace interlace::engine {

/// What a rank trains with. All outlive the training.
struct RankTools {
  Device& device;
  Communicator& communicator;
  const EmbeddingKernels& kernels;
  BatchSource& source;
  DenseNet::Where where = DenseNet::Where::kCpu;
};

/// Tables that every rank holds whole. They are parameters of the dense optimizer: their rows lie among the dense
/// parameters, their gradients among the dense gradients.
struct DataParallelTables {
  ModuleSpec spec;
  ParameterRange parameters;
  Buffer<LocalShard> rows;
  Buffer<LocalShard> gradients;  ///< the same with gradients for rows
  ShardShape shape;
  Buffer<ColumnMove> moves;  ///< of the pooled embeddings, into the interaction
  std::int64_t width = 0;
};

/// The feature processor of a sharded module: a learned weight of each place in a table's bags, which multiplies those
/// of the ids there. They are dense parameters, which every rank holds whole; a rank uses those of its shards.
struct FeatureProcessor {
  ParameterRange parameters;
  Buffer<PlaceWeights> shards;  ///< of this rank
  std::int32_t most = 1;        ///< the largest count of a shard
};
/// One rank's part of the model of a workload. The interaction, which goes into the over arch, holds a sample's columns
/// in this order: the bottom arch's result, the sharded modules, the data-parallel tables.
class Model {
 public:
  /// Queues its making on `stream`, from whose pool all of it comes.
  Model(const Workload& workload, const RankTools& tools, StreamId stream);

  [[nodiscard]] const std::vector<std::unique_ptr<ShardedModule>>& modules() const { return modules_; }
  [[nodiscard]] const std::optional<DataParallelTables>& data_parallel() const { return data_parallel_; }
  /// By sharded module; empty where the workload has none.
  [[nodiscard]] const std::vector<FeatureProcessor>& processors() const { return processors_; }
  [[nodiscard]] const DenseNet* net() const { return net_.get(); }
  [[nodiscard]] const Buffer<float>& parameters() const { return parameters_; }
  [[nodiscard]] const Buffer<float>& gradients() const { return gradients_; }
  [[nodiscard]] std::int64_t interaction_width() const { return interaction_width_; }

  /// Of all sharded tables and of the dense parameters: see ShardedModule::digest(). The dense parameters count on rank
  /// 0 only, since they are the same everywhere.
  [[nodiscard]] std::uint64_t digest(const RankTools& tools, StreamId stream) const;

 private:
  void make_dense(const Workload& workload, const RankTools& tools, StreamId stream, std::int64_t pooled);
  void make_data_parallel(const ModuleSpec& spec, const RankTools& tools, StreamId stream, std::size_t first_parameter);
  void make_processors(const Workload& workload, const RankTools& tools, StreamId stream, std::size_t first_parameter);

  std::vector<std::unique_ptr<ShardedModule>> modules_;
  std::optional<DataParallelTables> data_parallel_;
  std::vector<FeatureProcessor> processors_;
  Buffer<float> parameters_;
  Buffer<float> gradients_;
  std::unique_ptr<DenseNet> net_;
  std::int64_t interaction_width_ = 0;
};

}  // namespace interlace::engine
