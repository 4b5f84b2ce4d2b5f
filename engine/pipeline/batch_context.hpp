#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/batch.hpp"
#include "engine/model/dense_net.hpp"
#include "engine/runtime/awaitable.hpp"

namespace interlace::engine {

/// The message in which ranks tell each other how many ids they will send: for each rank, the sender's order_hash() and
/// then a count a module.
struct SplitsExchange {
  std::vector<std::size_t> modules;  ///< by position in the message
  Buffer<std::int64_t> received;     ///< on the device
  Awaitable arrival;
  std::uint64_t order_hash = 0;
  Buffer<std::int64_t> read;  ///< on the host; once it has been waited for
};

/// What a batch has of one sharded module. Each group is one resource of the schedule language.
struct ModuleWork {
  // splits
  Buffer<std::int32_t> send_lengths;
  Buffer<std::int64_t> send_ids;
  Buffer<float> send_weights;
  std::vector<std::size_t> send_counts;  ///< ids, by rank
  std::vector<std::size_t> send_begins;  ///< where each rank's begin
  std::shared_ptr<SplitsExchange> splits;
  // input_exchange
  JaggedFeatures received;
  std::vector<std::size_t> receive_counts;  ///< ids, by rank
  std::vector<std::size_t> receive_begins;
  std::vector<Awaitable> arrivals;
  // kjt
  Buffer<std::int64_t> offsets;
  Buffer<std::int64_t> ids;
  Buffer<float> weights;
  Buffer<float> input_weights;  ///< as they came, where a feature processor has made others of them
  // cache_rows
  Buffer<std::int64_t> places;
  // looked_up
  Buffer<float> looked_up;
  // output_exchange
  Buffer<float> pooled_blocks;
  Awaitable pooled_arrival;
  // pooled_gradients
  Buffer<float> gradient_blocks;
};

/// The data-parallel features of a batch and what was looked up for them.
struct DataParallelWork {
  JaggedFeatures features;
  Buffer<std::int64_t> offsets;
  Buffer<float> pooled;
  Buffer<float> gradients;  ///< of `pooled`, in backward
};

/// What forward leaves for backward: the tape, and all memory that it points into.
struct Activations {
  std::shared_ptr<Tape> tape;
  Buffer<float> features;
  Buffer<float> labels;
  Buffer<float> interaction;
  std::optional<DataParallelWork> data_parallel;
};

/// Data that a schedule names, of the stages compute and all_to_all.
struct Message {
  Buffer<float> values;
  bool received = false;  ///< by an all_to_all
};

/// All that exists of one batch between its first stage and its last, on one rank.
struct BatchContext {
  const Batch* host = nullptr;
  Batch batch;
  std::vector<ModuleWork> modules;
  Buffer<float> interaction;  ///< pooled embeddings, with room for the rest of the interaction
  std::optional<DataParallelWork> data_parallel;
  Activations activations;
  std::map<std::string, Message> named;
};

}  // namespace interlace::engine
