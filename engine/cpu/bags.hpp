#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/cpu/damaged_input.hpp"
#include "engine/embedding/kernels.hpp"

namespace interlace::engine::cpu {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] inline void refuse_offsets() {
  refuse_damaged("the lengths of a jagged feature are negative or exceed its ids");
}

// The ids of a bag, as [begin, end).
struct Bag {
  std::size_t begin = 0;
  std::size_t end = 0;
};

inline Bag bag_of(const JaggedView& input, std::size_t bag) {
  const std::int64_t begin = input.offsets[bag];
  const std::int64_t end = input.offsets[bag + 1];
  if (begin < 0 || end < begin || at(end) > input.ids.size()) refuse_offsets();
  return {at(begin), at(end)};
}

inline std::size_t checked_row(std::int64_t id, std::int64_t rows) {
  if (id < 0 || id >= rows) {
    throw Error(kIdOutOfRange, "", "id " + std::to_string(id) + " in a shard of " + std::to_string(rows) + " rows",
                kDamageAdvice);
  }
  return at(id);
}

inline float weight_at(const JaggedView& input, std::size_t id) {
  return input.weights.empty() ? 1.0F : input.weights[id];
}

inline std::size_t row_of(const LookupArguments& lookup, const LocalShard& shard, std::size_t id) {
  const std::int64_t row = lookup.places.empty() ? lookup.input.ids[id] : lookup.places[id] - shard.first_row;
  return checked_row(row, shard.row_count);
}

// Calls visit(shard, row of the looked-up matrix, bag) for each bag of a lookup.
template <class Visit>
void each_bag(const LookupArguments& lookup, const Visit& visit) {
  std::size_t bag = 0;
  for (std::int64_t source = 0; source < lookup.sources; ++source) {
    for (std::size_t shard = 0; shard < lookup.shards.size(); ++shard) {
      for (std::int64_t sample = 0; sample < lookup.batch; ++sample) {
        visit(shard, at(source * lookup.batch + sample), bag_of(lookup.input, bag));
        ++bag;
      }
    }
  }
}

}  // namespace interlace::engine::cpu
