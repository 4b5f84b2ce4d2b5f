#include "engine/data/batch_source.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "engine/data/counter_hash.hpp"
#include "engine/data/uniform_below.hpp"

namespace interlace::engine {

namespace {

// A sequence of random bits.
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return counter_hash(seed_, counter_++); }
  std::uint64_t below(std::uint64_t end) { return uniform_below(bits(), end); }
  float signed_unit() { return uniform(bits(), 1.0F); }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

void copy_into(const std::vector<std::int32_t>& from, std::span<std::int32_t> to) {
  std::ranges::copy(from, to.begin());
}

JaggedFeatures make_features(const ModuleSpec& module, std::int64_t batch, Device& device, Stream& random) {
  std::vector<std::int32_t> lengths;
  for (const TableSpec& table : module.tables) {
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      lengths.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(longest_bag(table)) + 1)));
    }
  }
  const auto ids = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  JaggedFeatures features{.lengths = device.host_buffer<std::int32_t>(lengths.size()),
                          .ids = device.host_buffer<std::int64_t>(ids),
                          .weights = device.host_buffer<float>(module.weighted ? ids : 0)};
  copy_into(lengths, features.lengths.span());
  std::size_t bag = 0;
  std::size_t id = 0;
  for (const TableSpec& table : module.tables) {
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      for (std::int32_t left = lengths[bag++]; left > 0; --left) {
        features.ids.span()[id++] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(table.rows)));
      }
    }
  }
  for (float& weight : features.weights.span()) weight = 1.0F + 0.5F * random.signed_unit();
  return features;
}

Batch make_batch(const Workload& workload, Device& device, std::uint64_t seed) {
  Stream random(seed);
  const auto samples = static_cast<std::size_t>(workload.batch);
  const std::size_t dense = workload.dense ? static_cast<std::size_t>(workload.dense->features) : 0;
  Batch batch{.dense = device.host_buffer<float>(samples * dense),
              .labels = device.host_buffer<float>(samples),
              .modules = {},
              .data_parallel = {}};
  for (float& value : batch.dense.span()) value = random.signed_unit();
  for (float& label : batch.labels.span()) label = random.below(2) == 0 ? 0.0F : 1.0F;
  for (const ModuleSpec& module : workload.modules) {
    batch.modules.push_back(make_features(module, workload.batch, device, random));
  }
  if (workload.data_parallel) {
    batch.data_parallel = make_features(*workload.data_parallel, workload.batch, device, random);
  }
  return batch;
}

}  // namespace

SyntheticBatches::SyntheticBatches(const Workload& workload, Device& device, int rank) {
  const std::int64_t distinct = std::min(workload.distinct_batches, workload.steps);
  for (std::int64_t number = 0; number < distinct; ++number) {
    const Range range(device, "making batch " + std::to_string(number));
    const auto which = static_cast<std::uint64_t>(number * workload.ranks + rank);
    batches_.push_back(make_batch(workload, device, subseed(workload.seed, which)));
  }
}

const Batch& SyntheticBatches::batch(std::int64_t number) {
  return batches_[static_cast<std::size_t>(number) % batches_.size()];
}

}  // namespace interlace::engine
