#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/runtime/buffer.hpp"

namespace interlace::engine {

/// The jagged features of one module: `bags` bags, feature by feature, sample by sample.
struct JaggedFeatures {
  Buffer<std::int32_t> lengths;  ///< ids a bag
  Buffer<std::int64_t> ids;      ///< bag by bag
  Buffer<float> weights;         ///< beside the ids; empty where the module is unweighted
};

/// A rank's share of a batch, in pinned or device memory.
struct Batch {
  Buffer<float> dense;   ///< samples x dense features
  Buffer<float> labels;  ///< 0 or 1 a sample
  std::vector<JaggedFeatures> modules;
  std::optional<JaggedFeatures> data_parallel;

  /// Calls visit(buffer of a, buffer of b) for each array. Both must be of the same workload.
  template <class Visit>
  static void each_array(const Batch& a, Batch& b, const Visit& visit) {
    visit(a.dense, b.dense);
    visit(a.labels, b.labels);
    for (std::size_t m = 0; m < a.modules.size(); ++m) each_array(a.modules[m], b.modules[m], visit);
    if (a.data_parallel) each_array(*a.data_parallel, *b.data_parallel, visit);
  }

 private:
  template <class Visit>
  static void each_array(const JaggedFeatures& a, JaggedFeatures& b, const Visit& visit) {
    visit(a.lengths, b.lengths);
    visit(a.ids, b.ids);
    visit(a.weights, b.weights);
  }
};

}  // namespace interlace::engine
