#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/pipeline/batch_context.hpp"
#include "engine/pipeline/lifetimes.hpp"
#include "engine/pipeline/model.hpp"
#include "engine/pipeline/part_range.hpp"
#include "engine/pipeline/stage_call.hpp"
#include "engine/runtime/profile.hpp"

namespace interlace::engine {

/// Whether a message was there when it was read: by the host, for validate_output, or by a `compute`.
struct Validation {
  std::int64_t batch = 0;
  std::string mode;  ///< of validate_output, or "compute"
  bool passed = false;

  bool operator==(const Validation&) const = default;
};

/// Where lookups run. Their gradients are worked on there too, as autograd does it.
struct LookupStreams {
  std::vector<StreamId> modules;     ///< by sharded module
  std::vector<StreamId> processors;  ///< of the stage feature_processor; empty: it is a part of the lookup
  std::optional<StreamId> data_parallel;
};

/// One rank's training: each stage of the schedule language as one function, over the model and the batches under way.
/// The functions queue work on the streams that they are given, wait for nothing but what their stage waits for, and
/// know neither what came before nor what follows.
///
/// Memory that a stage returns comes from the pool that the schedule names and is kept for the streams that it names.
/// What a collective sends and receives is held until a stream takes it up (HeldMemory); what a stage needs for itself
/// alone comes from the pool of its own stream.
class Trainer : public StageRunner {
 public:
  Trainer(const Workload& workload, const RankTools& tools, Model& model, LookupStreams lookups, Buffer<float> losses);

  StageOutcome run(const StageCall& call) override;
  void release(schedule::Resource resource, std::int64_t batch, const std::vector<std::size_t>& modules,
               const std::vector<StreamId>& users) override;
  void release_named(const std::string& name, std::int64_t batch, const std::vector<StreamId>& users) override;
  void end(std::int64_t batch) override { contexts_.erase(batch); }

  /// In the order in which the host read them; behind them what `compute` found where it reads messages. The device
  /// must be through with all.
  [[nodiscard]] std::vector<Validation> validations() const;

 private:
  using StageFunction = StageOutcome (Trainer::*)(const StageCall&);
  [[nodiscard]] static StageFunction function_of(schedule::Stage stage);

  // The stages. copy_batch.cpp
  StageOutcome next_batch(const StageCall& call);
  StageOutcome copy_batch_to_gpu(const StageCall& call);
  // input_dist.cpp
  StageOutcome input_dist_start(const StageCall& call);
  StageOutcome input_dist_wait(const StageCall& call);
  StageOutcome input_dist_finish(const StageCall& call);
  // lookup.cpp
  StageOutcome embedding_lookup(const StageCall& call);
  StageOutcome data_parallel_lookup(const StageCall& call);
  StageOutcome prefetch(const StageCall& call);
  // feature_processor.cpp
  StageOutcome feature_processor(const StageCall& call);
  // output_dist.cpp
  StageOutcome output_dist_start(const StageCall& call);
  StageOutcome output_dist_wait(const StageCall& call);
  // dense.cpp
  StageOutcome dense_forward(const StageCall& call);
  StageOutcome optimizer_step(const StageCall& call);
  StageOutcome zero_grad(const StageCall& call);
  // backward.cpp
  StageOutcome backward(const StageCall& call);
  // message.cpp
  StageOutcome compute(const StageCall& call);
  StageOutcome all_to_all(const StageCall& call);
  StageOutcome validate_output(const StageCall& call);

  // input_dist.cpp
  struct CountedIds {
    Buffer<std::int64_t> offsets;  ///< of the batch's own bags
    Buffer<std::int64_t> report;   ///< of EmbeddingKernels::count()
  };
  [[nodiscard]] CountedIds count_ids(const StageCall& call, std::size_t module);
  void spread_ids(const StageCall& call, std::size_t module, const CountedIds& counted,
                  std::span<const std::int64_t> report);
  void send_splits(const StageCall& call);
  void read_splits(const StageCall& call, SplitsExchange& splits);
  void send_inputs(const StageCall& call, std::size_t module);
  template <class T>
  [[nodiscard]] Buffer<T> closed_up(const StageCall& call, const ModuleWork& work, const Buffer<T>& parts);
  // lookup.cpp
  [[nodiscard]] LookupArguments lookup_arguments(const ModuleWork& work, std::size_t module,
                                                 std::span<float> looked_up) const;
  [[nodiscard]] Buffer<std::byte> sort_rows(const LookupArguments& arguments, StreamId stream);
  // feature_processor.cpp
  [[nodiscard]] PlaceArguments place_arguments(const ModuleWork& work, std::size_t module) const;
  void weigh_ids(const StageCall& call, std::size_t module);
  [[nodiscard]] Awaitable weigh_backward(const LookupArguments& lookup, const ModuleWork& work, std::size_t module);
  // backward.cpp
  void backward_dense(const StageCall& call, const std::function<void()>& on_pooled_gradients,
                      std::vector<Awaitable>& reductions);
  void await(const StageCall& call, const std::vector<Awaitable>& reductions) const;
  [[nodiscard]] Awaitable backward_segment(const StageCall& call, std::size_t segment);
  Awaitable update_data_parallel(const StageCall& call);
  Awaitable send_gradients(const StageCall& call, std::size_t module, Buffer<float>& received);
  void update_tables(const StageCall& call, std::size_t module, const Awaitable& arrival,
                     const Buffer<float>& gradients, std::vector<Awaitable>& reductions);
  // message.cpp
  struct ComputedFrom {
    std::int64_t batch = 0;
    bool received = false;
    const float* value = nullptr;  ///< in read_values_
  };
  [[nodiscard]] Message& message_named(std::int64_t batch, const std::string& name);
  void read_in_compute(const StageCall& call, const Message& message);
  [[nodiscard]] float expected_value(std::int64_t batch, bool received, std::size_t part) const;
  void check_message(std::int64_t batch, std::string mode, bool received, std::span<const float> samples);

  [[nodiscard]] BatchContext& context(std::int64_t batch);
  /// What concerns one module.
  [[nodiscard]] PartRange part_of(std::size_t module, std::string_view part = part::kWhole) const {
    return {tools_.device, model_->modules()[module]->name(), part};
  }
  /// What a stage does at once for the modules that it concerns: all of them, or one.
  [[nodiscard]] PartRange part_of_all(const std::vector<std::size_t>& modules, std::string_view part) const;
  [[nodiscard]] std::size_t samples() const { return static_cast<std::size_t>(workload_->batch); }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(tools_.communicator.ranks()); }
  /// A result of a stage.
  template <class T>
  [[nodiscard]] Buffer<T> result(const StageCall& call, std::size_t size) {
    Buffer<T> buffer = tools_.device.buffer<T>(size, call.pool);
    keep(call, buffer);
    return buffer;
  }
  template <class T>
  static void keep(const StageCall& call, const Buffer<T>& buffer) {
    for (const StreamId stream : call.record_stream) buffer.used_on(stream);
  }
  /// Calls use(kernels, native stream, ...) as work of a stream.
  template <class Use>
  void launch(StreamId stream, Use use) {
    tools_.device.launch(stream, [&kernels = tools_.kernels, use](NativeStream on) { use(kernels, on); });
  }
  /// The same, under a name of its own in profiles.
  template <class Use>
  void launch(const char* name, StreamId stream, Use use) {
    Profiled piece(tools_.device, "kernels", name, stream);
    launch(stream, std::move(use));
    piece.end();
  }
  void ensure_interaction(const StageCall& call, BatchContext& context);

  const Workload* workload_;
  RankTools tools_;
  Model* model_;
  LookupStreams lookups_;
  Buffer<float> losses_;  ///< a value a batch
  std::map<std::int64_t, BatchContext> contexts_;
  std::vector<Buffer<float>> matrices_;
  std::vector<Validation> validations_;
  std::vector<Buffer<float>> read_values_;  ///< in host memory
  std::vector<ComputedFrom> computed_from_;
};

}  // namespace interlace::engine
