#include "engine/fbgemm/fbgemm_kernels.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/fbgemm/operators.hpp"

namespace interlace::engine {

namespace {

using fbgemm::Arguments;

// FBGEMM's words for where a table lies.
constexpr std::int32_t kOnDevice = 0;
constexpr std::int32_t kOnHost = 3;

constexpr std::int64_t kSum = 0;  // its PoolingMode

// Its backward packs the number of a table and that of a bag into 32 bits, of which tables get these at least.
constexpr int kBits = 32;
constexpr int kLeastTableBits = 6;

// LibTorch asks the memory which GPU it is of, which no memory cannot tell.
template <class T>
at::Tensor view(const T* data, std::size_t size, c10::Device device) {
  const auto options = at::TensorOptions().dtype(c10::CppTypeToScalarType<T>()).device(device);
  if (size == 0) return at::empty({0}, options);
  return at::from_blob(const_cast<T*>(data), {static_cast<std::int64_t>(size)}, options);
}

// What its operators must know of the tables of a module.
struct Tables {
  at::Tensor weights;
  at::Tensor momentum;  // empty where the optimizer has none
  at::Tensor placements;
  at::Tensor weight_offsets;
  at::Tensor momentum_offsets;
  at::Tensor column_offsets;
  at::Tensor row_offsets;
  at::Tensor by_table;  // blocks of ids, from (rank, table) to (table, rank)
  std::int64_t columns = 0;
  std::int64_t widest = 0;
  bool mixed = false;
  int row_bits = 0;
};

Tables tables_of(const LookupArguments& lookup, c10::Device device) {
  const auto shards = lookup.on_host;
  std::vector<std::int64_t> weight_offsets;
  std::vector<std::int64_t> momentum_offsets;
  std::vector<std::int32_t> column_offsets = {0};
  std::vector<std::int64_t> row_offsets = {0};
  std::vector<std::int32_t> by_table;
  Tables tables;
  std::int64_t cells = 0;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const LocalShard& shard = shards[s];
    weight_offsets.push_back(shard.rows - shards.front().rows);
    momentum_offsets.push_back(shard.first_row);
    column_offsets.push_back(shard.column + shard.columns);
    // It takes a table without rows for the one before: such a one has no ids, so that any other number will do.
    row_offsets.push_back(row_offsets.back() + std::max<std::int64_t>(1, shard.row_count));
    cells = weight_offsets.back() + shard.row_count * shard.columns;
    tables.widest = std::max<std::int64_t>(tables.widest, shard.columns);
    tables.mixed = tables.mixed || shard.columns != shards.front().columns;
    for (std::int64_t source = 0; source < lookup.sources; ++source) {
      by_table.push_back(
          static_cast<std::int32_t>(source * static_cast<std::int64_t>(shards.size()) + static_cast<std::int64_t>(s)));
    }
  }
  const auto here = [device](const auto& values) { return at::tensor(values).to(device); };
  tables.weights = view(shards.front().rows, static_cast<std::size_t>(cells), device);
  tables.momentum = view(shards.front().momentum,
                         shards.front().momentum == nullptr ? 0 : static_cast<std::size_t>(lookup.shape.rows), device);
  tables.placements = here(std::vector<std::int32_t>(shards.size(), device.is_cpu() ? kOnHost : kOnDevice));
  tables.weight_offsets = here(weight_offsets);
  tables.momentum_offsets = here(momentum_offsets);
  tables.column_offsets = here(column_offsets);
  tables.row_offsets = here(row_offsets);
  tables.by_table = here(by_table);
  tables.columns = lookup.width;
  tables.row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(row_offsets.back())));
  return tables;
}

// The ids of a lookup, by table, rank and sample.
struct Ids {
  at::Tensor offsets;
  at::Tensor ids;
  at::Tensor weights;  // undefined where there are none
};

Ids ids_by_table(const LookupArguments& lookup, const Tables& tables, c10::Device device) {
  Ids own{.offsets = view(lookup.input.offsets.data(), lookup.input.offsets.size(), device),
          .ids = view(lookup.input.ids.data(), lookup.input.ids.size(), device),
          .weights = {}};
  if (!lookup.input.weights.empty())
    own.weights = view(lookup.input.weights.data(), lookup.input.weights.size(), device);
  if (lookup.sources == 1 || lookup.on_host.size() == 1) return own;
  const at::Tensor lengths = at::diff(own.offsets).view({tables.by_table.numel(), lookup.batch});
  const auto permuted = fbgemm::call("permute_2D_sparse_data",
                                     {{"permute", tables.by_table},
                                      {"lengths", lengths},
                                      {"values", own.ids},
                                      {"weights", own.weights.defined() ? c10::IValue(own.weights) : c10::IValue()},
                                      {"permuted_lengths_sum", own.ids.numel()}});
  Ids ids{.offsets = at::zeros_like(own.offsets), .ids = permuted.at(1).toTensor(), .weights = {}};
  at::Tensor sums = ids.offsets.narrow(0, 1, lengths.numel());
  at::cumsum_out(sums, permuted.at(0).toTensor().view({-1}), 0);
  if (own.weights.defined()) ids.weights = permuted.at(2).toTensor();
  return ids;
}

class FbgemmKernels : public EmbeddingKernels {
 public:
  FbgemmKernels(const EmbeddingKernels& own, bool on_gpu)
      : own_(&own), device_(on_gpu ? at::kCUDA : at::kCPU), none_(at::empty({0}, at::kFloat)) {
    fbgemm::load_package();
  }

  // Of data-parallel tables nothing is on the host: those are the engine's own.
  void lookup(NativeStream stream, const LookupArguments& arguments) const override {
    if (arguments.on_host.empty()) return own_->lookup(stream, arguments);
    if (arguments.batch == 0) return;
    const at::NoGradGuard no_gradients;
    const Tables& tables = known(arguments);
    const Ids ids = ids_by_table(arguments, tables, device_);
    Arguments call = common(tables, ids);
    call["total_D"] = tables.columns;
    call["is_experimental"] = false;
    call["uvm_cache_stats"] = at::empty({0}, at::TensorOptions().dtype(at::kInt).device(device_));
    const std::string kind = ids.weights.defined() ? "weighted" : "unweighted";
    const at::Tensor pooled =
        fbgemm::call("split_embedding_codegen_forward_" + kind + "_pt2_wrapper", call).front().toTensor();
    view(arguments.looked_up.data(), arguments.looked_up.size(), device_).copy_(pooled.view({-1}));
  }

  void update(NativeStream stream, const UpdateArguments& arguments) const override {
    const LookupArguments& lookup = arguments.lookup;
    if (lookup.on_host.empty()) return own_->update(stream, arguments);
    if (lookup.batch == 0 || lookup.input.ids.empty()) return;
    const at::NoGradGuard no_gradients;
    const Tables& tables = known(lookup);
    const Ids ids = ids_by_table(lookup, tables, device_);
    const at::Tensor gradients =
        view(lookup.looked_up.data(), lookup.looked_up.size(), device_).view({-1, lookup.width});
    const int table_bits = std::max(kLeastTableBits, static_cast<int>(std::bit_width(lookup.on_host.size())));
    Arguments call = common(tables, ids);
    call["grad_output"] = arguments.scale == 1.0F ? gradients : gradients.mul(arguments.scale);
    call["mixed_D"] = tables.mixed;
    call["total_hash_size_bits"] = std::int64_t{tables.row_bits};
    call["BT_block_size"] = std::int64_t{32};
    call["max_segment_length_per_warp"] = std::int64_t{32};
    call["stochastic_rounding"] = false;
    call["info_B_num_bits"] = std::int64_t{kBits - table_bits};
    call["info_B_mask_int64"] = (std::int64_t{1} << (kBits - table_bits)) - 1;
    call["use_uniq_cache_locations"] = false;
    call["use_homogeneous_placements"] = true;
    call["learning_rate_tensor"] = at::tensor(arguments.optimizer.rate, at::kFloat);
    const bool adagrad = arguments.optimizer.kind == TableOptimizer::kRowWiseAdagrad;
    if (adagrad) {
      add_by_place(call, "momentum1", tables.momentum);
      call["momentum1_placements"] = tables.placements;
      call["momentum1_offsets"] = tables.momentum_offsets;
      call["eps"] = static_cast<double>(arguments.optimizer.epsilon);
    }
    const std::string kind = ids.weights.defined() ? "_weighted" : "_unweighted";
    fbgemm::call(
        "split_embedding_backward_codegen_" + std::string(adagrad ? "rowwise_adagrad" : "sgd") + kind + "_pt2_wrapper",
        call);
  }

  // Sorting is a part of FBGEMM's backward.
  [[nodiscard]] std::size_t order_bytes(const LookupArguments& arguments) const override {
    return arguments.on_host.empty() ? own_->order_bytes(arguments) : 0;
  }
  void sort_rows(NativeStream stream, const LookupArguments& arguments, std::span<std::byte> order) const override {
    if (arguments.on_host.empty()) own_->sort_rows(stream, arguments, order);
  }

  void sum_lengths(NativeStream stream, std::span<const std::int32_t> lengths,
                   std::span<std::int64_t> offsets) const override {
    own_->sum_lengths(stream, lengths, offsets);
  }
  void count(NativeStream stream, const InputCount& arguments) const override { own_->count(stream, arguments); }
  void spread(NativeStream stream, const InputSpread& arguments) const override { own_->spread(stream, arguments); }
  void locate(NativeStream stream, const LookupArguments& arguments, std::span<std::int64_t> places) const override {
    own_->locate(stream, arguments, places);
  }
  void weigh(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_places,
             std::span<float> weights) const override {
    own_->weigh(stream, arguments, of_places, weights);
  }
  void weight_gradients(NativeStream stream, const LookupArguments& arguments,
                        std::span<float> gradients) const override {
    own_->weight_gradients(stream, arguments, gradients);
  }
  void add_place_gradients(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_ids,
                           std::span<float> of_places) const override {
    own_->add_place_gradients(stream, arguments, of_ids, of_places);
  }
  void assemble(NativeStream stream, const PooledArguments& arguments) const override {
    own_->assemble(stream, arguments);
  }
  void arrange(NativeStream stream, const PooledArguments& arguments) const override {
    own_->arrange(stream, arguments);
  }
  void fill_uniform(NativeStream stream, std::span<float> values, const UniformFill& fill) const override {
    own_->fill_uniform(stream, values, fill);
  }
  void fill(NativeStream stream, std::span<float> values, float value) const override {
    own_->fill(stream, values, value);
  }
  void descend(NativeStream stream, std::span<float> values, std::span<const float> gradients,
               float rate) const override {
    own_->descend(stream, values, gradients, rate);
  }

 private:
  // Made once: the tables stay where they are.
  const Tables& known(const LookupArguments& arguments) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(arguments.shards.data());
    if (found != known_.end()) return found->second;
    if (!device_.is_cpu() && !arguments.shape.whole_vectors) {
      throw Error(kNoFbgemm, "", "FBGEMM's tables have multiples of 4 columns on GPUs",
                  "take --embedding own, or other tables");
    }
    return known_.emplace(arguments.shards.data(), tables_of(arguments, device_)).first->second;
  }

  // An array of the tables goes in as that of the device that has it, none as the others.
  void add_by_place(Arguments& call, const std::string& name, const at::Tensor& array) const {
    const at::Tensor none = none_.to(device_);
    if (name == "momentum1") {
      call["momentum1_host"] = device_.is_cpu() ? array : none_;
      call["momentum1_dev"] = device_.is_cpu() ? none : array;
      call["momentum1_uvm"] = none;
    } else {
      call["host_weights"] = device_.is_cpu() ? array : none_;
      call["dev_weights"] = device_.is_cpu() ? none : array;
      call["uvm_weights"] = none;
    }
  }

  [[nodiscard]] Arguments common(const Tables& tables, const Ids& ids) const {
    const auto options = at::TensorOptions().device(device_);
    Arguments call = {{"lxu_cache_weights", at::empty({0, 0}, options.dtype(at::kFloat))},
                      {"lxu_cache_locations", at::empty({0}, options.dtype(at::kInt))},
                      {"weights_placements", tables.placements},
                      {"weights_offsets", tables.weight_offsets},
                      {"D_offsets", tables.column_offsets},
                      {"max_D", tables.widest},
                      {"hash_size_cumsum", tables.row_offsets},
                      {"indices", ids.ids},
                      {"offsets", ids.offsets},
                      {"indice_weights", ids.weights},
                      {"pooling_mode", kSum},
                      {"output_dtype", std::int64_t{0}}};
    add_by_place(call, "weights", tables.weights);
    return call;
  }

  const EmbeddingKernels* own_;
  c10::Device device_;
  at::Tensor none_;
  mutable std::mutex mutex_;  ///< ranks on a CPU are threads
  mutable std::map<const LocalShard*, Tables> known_;
};

}  // namespace

std::unique_ptr<EmbeddingKernels> make_fbgemm_kernels(const EmbeddingKernels& own, bool on_gpu) {
  return std::make_unique<FbgemmKernels>(own, on_gpu);
}

}  // namespace interlace::engine
