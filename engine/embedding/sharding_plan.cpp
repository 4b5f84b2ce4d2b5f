#include "engine/embedding/sharding_plan.hpp"

#include <algorithm>

namespace interlace::engine {

namespace {

constexpr std::int32_t kVectorColumns = 4;

std::int64_t rounded_up_share(std::int64_t whole, std::int64_t parts) { return (whole + parts - 1) / parts; }

void cut_rows(const Shard& whole, int ranks, std::vector<Shard>& shards) {
  const std::int64_t block = rounded_up_share(whole.row_end, ranks);
  Shard shard = whole;
  for (shard.rank = 0; shard.row_begin < whole.row_end; ++shard.rank) {
    shard.row_end = std::min(shard.row_begin + block, whole.row_end);
    shards.push_back(shard);
    shard.row_begin = shard.row_end;
  }
}

void cut_columns(const Shard& whole, int ranks, std::vector<Shard>& shards) {
  const std::int32_t vectors = static_cast<std::int32_t>(rounded_up_share(whole.columns, kVectorColumns));
  const std::int32_t block = static_cast<std::int32_t>(rounded_up_share(vectors, ranks)) * kVectorColumns;
  Shard shard = whole;
  for (shard.rank = 0; shard.column_begin < whole.columns; ++shard.rank) {
    shard.columns = std::min(block, whole.columns - shard.column_begin);
    shards.push_back(shard);
    shard.column_begin += shard.columns;
  }
}

}  // namespace

ShardingPlan::ShardingPlan(const ModuleSpec& module, int ranks) {
  int next_rank = 0;
  std::int32_t column = 0;
  for (const TableSpec& table : module.tables) {
    Shard whole{.table = static_cast<std::int32_t>(rows_.size()), .row_end = table.rows, .columns = table.dim};
    switch (table.sharding) {
      case Sharding::kTableWise:
        whole.rank = next_rank;
        next_rank = (next_rank + 1) % ranks;
        shards_.push_back(whole);
        break;
      case Sharding::kRowWise: cut_rows(whole, ranks, shards_); break;
      case Sharding::kColumnWise: cut_columns(whole, ranks, shards_); break;
    }
    rows_.push_back(table.rows);
    columns_.push_back(column);
    column += table.dim;
  }
  std::ranges::stable_sort(shards_, {}, &Shard::rank);
  for (int rank = 0; rank <= ranks; ++rank) {
    const auto first = std::ranges::lower_bound(shards_, rank, {}, &Shard::rank);
    first_.push_back(static_cast<std::size_t>(first - shards_.begin()));
  }
}

std::span<const Shard> ShardingPlan::shards_of(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return std::span(shards_).subspan(first_[index], first_[index + 1] - first_[index]);
}

std::int64_t ShardingPlan::width_of(int rank) const {
  std::int64_t width = 0;
  for (const Shard& shard : shards_of(rank)) width += shard.columns;
  return width;
}

std::vector<LocalShard> ShardingPlan::local_shards(int rank) const {
  std::vector<LocalShard> local;
  LocalShard next;
  for (const Shard& shard : shards_of(rank)) {
    next.row_count = shard.row_end - shard.row_begin;
    next.columns = shard.columns;
    local.push_back(next);
    next.column += next.columns;
    next.first_row += next.row_count;
  }
  return local;
}

std::vector<InputSlot> ShardingPlan::slots() const {
  std::vector<InputSlot> slots;
  for (const Shard& shard : shards_) {
    slots.push_back({.feature = shard.table,
                     .rank = shard.rank,
                     .row_begin = shard.row_begin,
                     .row_end = shard.row_end,
                     .table_rows = rows_[static_cast<std::size_t>(shard.table)]});
  }
  return slots;
}

std::vector<ColumnMove> ShardingPlan::moves(std::int32_t first_column) const {
  std::vector<ColumnMove> moves;
  std::int64_t before = 0;
  for (std::size_t rank = 0; rank + 1 < first_.size(); ++rank) {
    const std::int64_t width = width_of(static_cast<int>(rank));
    std::int32_t from = 0;
    for (const Shard& shard : shards_of(static_cast<int>(rank))) {
      const std::int32_t to = first_column + columns_[static_cast<std::size_t>(shard.table)] + shard.column_begin;
      // Of the shards of the same columns, that with the first rows is on the first rank: it sets, the others add.
      moves.push_back({.columns_before = before,
                       .block_width = static_cast<std::int32_t>(width),
                       .from = from,
                       .to = to,
                       .columns = shard.columns,
                       .add = shard.row_begin > 0});
      from += shard.columns;
    }
    before += width;
  }
  std::ranges::stable_sort(moves, {}, &ColumnMove::to);
  return moves;
}

ShardShape shape_of(std::span<const LocalShard> shards, const std::string& module) {
  ShardShape shape{.rows = 0, .widest = 0, .whole_vectors = true};
  for (const LocalShard& shard : shards) {
    shape.rows += shard.row_count;
    shape.widest = std::max(shape.widest, shard.columns);
    shape.whole_vectors = shape.whole_vectors && shard.columns % kVectorColumns == 0;
  }
  if (shape.rows > kMostRows) {
    throw Error(kTooLarge, "module \"" + module + "\"",
                std::to_string(shape.rows) + " rows on one rank are more than the " + std::to_string(kMostRows) +
                    " that kernels number",
                "take more ranks, smaller tables, or several modules");
  }
  return shape;
}

}  // namespace interlace::engine
