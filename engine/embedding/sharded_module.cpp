#include "engine/embedding/sharded_module.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/data/counter_hash.hpp"
#include "engine/data/initial_values.hpp"
#include "engine/runtime/transfer.hpp"

namespace interlace::engine {

namespace {

std::size_t row_count(const Shard& shard) { return static_cast<std::size_t>(shard.row_end - shard.row_begin); }
std::size_t value_count(const Shard& shard) { return row_count(shard) * static_cast<std::size_t>(shard.columns); }

// Of values [begin, begin + count), read piece by piece: tables may be larger than the host's memory.
std::uint64_t digest_of(Device& device, StreamId stream, const Buffer<float>& values, std::size_t begin,
                        std::size_t count, std::uint64_t seed) {
  constexpr std::size_t kPiece = std::size_t{1} << 24U;
  for (std::size_t done = 0; done < count; done += kPiece) {
    const Range range(device, "reading tables");
    const Buffer<float> piece = to_host(device, stream, values, begin + done, std::min(kPiece, count - done));
    for (const float value : piece.span()) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      seed = counter_hash(seed, bits);
    }
  }
  return seed;
}

}  // namespace

ShardedModule::ShardedModule(const ModuleSpec& spec, int rank, int ranks, const TableSetup& setup, Device& device,
                             const EmbeddingKernels& kernels, StreamId stream)
    : spec_(spec),
      rank_(rank),
      plan_(spec, ranks),
      slots_(to_device(device, stream, plan_.slots())),
      moves_(to_device(device, stream, plan_.moves(setup.first_column))) {
  make_tables(setup, device, kernels, stream);
}

void ShardedModule::make_tables(const TableSetup& setup, Device& device, const EmbeddingKernels& kernels,
                                StreamId stream) {
  std::vector<LocalShard> local = plan_.local_shards(rank_);
  shape_ = shape_of(local, name());  // before there is memory of such a size
  std::size_t values = 0;
  std::size_t rows = 0;
  for (const Shard& shard : plan_.shards_of(rank_)) {
    values += value_count(shard);
    rows += row_count(shard);
  }
  rows_ = device.buffer<float>(values, stream);
  const bool has_momentum = setup.optimizer == TableOptimizer::kRowWiseAdagrad;
  if (has_momentum) momentum_ = device.buffer<float>(rows, stream);
  float* next = rows_.data();
  for (std::size_t s = 0; s < local.size(); ++s) {
    const Shard& shard = plan_.shards_of(rank_)[s];
    const TableSpec& table = spec_.tables[static_cast<std::size_t>(shard.table)];
    const std::span<float> of_shard(next, value_count(shard));
    const UniformFill fill{.seed = table_seed(setup.seed, static_cast<std::size_t>(shard.table)),
                           .first = static_cast<std::uint64_t>(shard.row_begin * table.dim + shard.column_begin),
                           .columns = shard.columns,
                           .stride = table.dim,
                           .bound = table_bound(table)};
    device.launch(stream, [&kernels, of_shard, fill](NativeStream on) { kernels.fill_uniform(on, of_shard, fill); });
    local[s].rows = next;
    if (has_momentum) local[s].momentum = momentum_.data() + local[s].first_row;
    next += of_shard.size();
  }
  if (has_momentum) {
    device.launch(stream, [&kernels, all = momentum_.span()](NativeStream on) { kernels.fill(on, all, 0.0F); });
  }
  local_ = to_device(device, stream, local);
  local_on_host_ = std::move(local);
}

std::uint64_t ShardedModule::digest(Device& device, StreamId stream) const {
  std::uint64_t sum = 0;
  std::size_t value = 0;
  std::size_t row = 0;
  for (const Shard& shard : plan_.shards_of(rank_)) {
    std::uint64_t digest =
        subseed(static_cast<std::uint64_t>(shard.table), static_cast<std::uint64_t>(shard.row_begin));
    digest = subseed(digest, static_cast<std::uint64_t>(shard.column_begin));
    digest = digest_of(device, stream, rows_, value, value_count(shard), digest);
    if (momentum_.size() > 0) digest = digest_of(device, stream, momentum_, row, row_count(shard), digest);
    sum += digest;
    value += value_count(shard);
    row += row_count(shard);
  }
  return sum;
}

}  // namespace interlace::engine
