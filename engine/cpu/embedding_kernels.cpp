#include "engine/cpu/embedding_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/cpu/bags.hpp"
#include "engine/data/counter_hash.hpp"

namespace interlace::engine::cpu {

namespace {

[[noreturn]] void refuse_order() { refuse_damaged("the sorted ids of a lookup are not those of its input"); }

// One id of a lookup, with the row that it names and the looked-up row that it went into.
struct RowUse {
  std::uint32_t shard = 0;
  std::uint32_t id = 0;
  std::int64_t row = 0;
  std::uint64_t looked_up = 0;
};

void update_row(const LocalShard& shard, std::size_t row, const std::vector<double>& gradient,
                const TableOptimizerSpec& optimizer) {
  float* values = shard.rows + row * at(shard.columns);
  double rate = optimizer.kind == TableOptimizer::kAccumulate ? -1.0 : optimizer.rate;
  if (optimizer.kind == TableOptimizer::kRowWiseAdagrad) {
    double squares = 0.0;
    for (const double g : gradient) squares += g * g;
    float& momentum = shard.momentum[row];
    momentum = static_cast<float>(momentum + squares / static_cast<double>(gradient.size()));
    rate = optimizer.rate / (std::sqrt(static_cast<double>(momentum)) + optimizer.epsilon);
  }
  for (std::size_t c = 0; c < gradient.size(); ++c) {
    values[c] = static_cast<float>(values[c] - rate * gradient[c]);
  }
}

}  // namespace

void CpuEmbeddingKernels::sum_lengths(NativeStream /*stream*/, std::span<const std::int32_t> lengths,
                                      std::span<std::int64_t> offsets) const {
  std::int64_t sum = 0;
  for (std::size_t bag = 0; bag < lengths.size(); ++bag) {
    if (lengths[bag] < 0) refuse_offsets();
    offsets[bag] = sum;
    sum += lengths[bag];
  }
  offsets[lengths.size()] = sum;
}

void CpuEmbeddingKernels::count(NativeStream /*stream*/, const InputCount& arguments) const {
  const std::size_t batch = at(arguments.batch);
  std::ranges::fill(arguments.report, 0);
  const auto extra = arguments.report.last(kReportExtra);
  for (std::size_t index = 0; index < arguments.slots.size(); ++index) {
    const InputSlot& slot = arguments.slots[index];
    std::int64_t in_slot = 0;
    for (std::size_t sample = 0; sample < batch; ++sample) {
      const Bag bag = bag_of(arguments.input, at(slot.feature) * batch + sample);
      std::int32_t length = 0;
      for (std::size_t i = bag.begin; i < bag.end; ++i) {
        const std::int64_t id = arguments.input.ids[i];
        if (id >= slot.row_begin && id < slot.row_end) ++length;
        if ((id < 0 || id >= slot.table_rows) && extra[0] == 0) {
          extra[0] = slot.feature + 1;
          extra[1] = id;
        }
      }
      arguments.lengths[index * batch + sample] = length;
      in_slot += length;
    }
    arguments.report[at(slot.rank)] += in_slot;
  }
}

void CpuEmbeddingKernels::spread(NativeStream /*stream*/, const InputSpread& arguments) const {
  const std::size_t batch = at(arguments.batch);
  for (std::size_t index = 0; index < arguments.slots.size(); ++index) {
    const InputSlot& slot = arguments.slots[index];
    for (std::size_t sample = 0; sample < batch; ++sample) {
      const Bag bag = bag_of(arguments.input, at(slot.feature) * batch + sample);
      std::size_t to = at(arguments.offsets[index * batch + sample] + arguments.shifts[at(slot.rank)]);
      for (std::size_t i = bag.begin; i < bag.end; ++i) {
        const std::int64_t id = arguments.input.ids[i];
        if (id < slot.row_begin || id >= slot.row_end) continue;
        if (to >= arguments.ids.size()) refuse_offsets();
        arguments.ids[to] = id - slot.row_begin;
        if (!arguments.weights.empty()) arguments.weights[to] = arguments.input.weights[i];
        ++to;
      }
    }
  }
}

void CpuEmbeddingKernels::locate(NativeStream /*stream*/, const LookupArguments& arguments,
                                 std::span<std::int64_t> places) const {
  each_bag(arguments, [&](std::size_t index, std::size_t /*row*/, Bag bag) {
    const LocalShard& shard = arguments.shards[index];
    for (std::size_t i = bag.begin; i < bag.end; ++i) {
      places[i] = shard.first_row + static_cast<std::int64_t>(checked_row(arguments.input.ids[i], shard.row_count));
    }
  });
}

void CpuEmbeddingKernels::lookup(NativeStream /*stream*/, const LookupArguments& arguments) const {
  each_bag(arguments, [&](std::size_t index, std::size_t row, Bag bag) {
    const LocalShard& shard = arguments.shards[index];
    const std::size_t columns = at(shard.columns);
    const auto sum = arguments.looked_up.subspan(row * at(arguments.width) + at(shard.column), columns);
    std::ranges::fill(sum, 0.0F);
    for (std::size_t i = bag.begin; i < bag.end; ++i) {
      const float* values = shard.rows + row_of(arguments, shard, i) * columns;
      const float weight = weight_at(arguments.input, i);
      for (std::size_t c = 0; c < columns; ++c) sum[c] += weight * values[c];
    }
  });
}

std::size_t CpuEmbeddingKernels::order_bytes(const LookupArguments& arguments) const {
  return arguments.input.ids.size() * sizeof(RowUse);
}

void CpuEmbeddingKernels::sort_rows(NativeStream /*stream*/, const LookupArguments& arguments,
                                    std::span<std::byte> order) const {
  std::vector<RowUse> uses;
  each_bag(arguments, [&](std::size_t shard, std::size_t looked_up, Bag bag) {
    for (std::size_t id = bag.begin; id < bag.end; ++id) {
      const std::size_t row = checked_row(arguments.input.ids[id], arguments.shards[shard].row_count);
      uses.push_back({.shard = static_cast<std::uint32_t>(shard),
                      .id = static_cast<std::uint32_t>(id),
                      .row = static_cast<std::int64_t>(row),
                      .looked_up = looked_up});
    }
  });
  std::ranges::stable_sort(
      uses, [](const RowUse& a, const RowUse& b) { return a.shard != b.shard ? a.shard < b.shard : a.row < b.row; });
  if (uses.size() * sizeof(RowUse) != order.size()) refuse_order();
  if (!uses.empty()) std::memcpy(order.data(), uses.data(), order.size());
}

void CpuEmbeddingKernels::update(NativeStream /*stream*/, const UpdateArguments& arguments) const {
  const LookupArguments& lookup = arguments.lookup;
  const std::span uses(reinterpret_cast<const RowUse*>(arguments.order.data()),
                       arguments.order.size() / sizeof(RowUse));
  std::vector<double> sum;
  for (auto first = uses.begin(); first != uses.end();) {
    if (first->shard >= lookup.shards.size()) refuse_order();
    const LocalShard& shard = lookup.shards[first->shard];
    const std::size_t row = checked_row(first->row, shard.row_count);
    sum.assign(at(shard.columns), 0.0);
    auto use = first;
    for (; use != uses.end() && use->shard == first->shard && use->row == first->row; ++use) {
      if (use->id >= lookup.input.ids.size() || use->looked_up >= at(lookup.sources * lookup.batch)) refuse_order();
      const auto gradient = lookup.looked_up.subspan(use->looked_up * at(lookup.width) + at(shard.column), sum.size());
      const double factor = static_cast<double>(weight_at(lookup.input, use->id)) * arguments.scale;
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += factor * gradient[c];
    }
    update_row(shard, row, sum, arguments.optimizer);
    first = use;
  }
}

void CpuEmbeddingKernels::assemble(NativeStream /*stream*/, const PooledArguments& arguments) const {
  for (const ColumnMove& move : arguments.moves) {
    const float* block = arguments.blocks + move.columns_before * arguments.batch;
    for (std::int64_t sample = 0; sample < arguments.batch; ++sample) {
      const float* from = block + sample * move.block_width + move.from;
      float* to = arguments.pooled + sample * arguments.stride + move.to;
      for (std::int32_t c = 0; c < move.columns; ++c) to[c] = move.add ? to[c] + from[c] : from[c];
    }
  }
}

void CpuEmbeddingKernels::arrange(NativeStream /*stream*/, const PooledArguments& arguments) const {
  for (const ColumnMove& move : arguments.moves) {
    float* block = arguments.blocks + move.columns_before * arguments.batch;
    for (std::int64_t sample = 0; sample < arguments.batch; ++sample) {
      const float* from = arguments.pooled + sample * arguments.stride + move.to;
      std::copy_n(from, move.columns, block + sample * move.block_width + move.from);
    }
  }
}

void CpuEmbeddingKernels::fill_uniform(NativeStream /*stream*/, std::span<float> values,
                                       const UniformFill& fill) const {
  const std::size_t columns = at(fill.columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t counter = fill.first + i / columns * at(fill.stride) + i % columns;
    values[i] = uniform(counter_hash(fill.seed, counter), fill.bound);
  }
}

void CpuEmbeddingKernels::fill(NativeStream /*stream*/, std::span<float> values, float value) const {
  std::ranges::fill(values, value);
}

void CpuEmbeddingKernels::descend(NativeStream /*stream*/, std::span<float> values, std::span<const float> gradients,
                                  float rate) const {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradients[i];
}

}  // namespace interlace::engine::cpu
