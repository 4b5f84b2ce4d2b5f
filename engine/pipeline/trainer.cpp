#include "engine/pipeline/trainer.hpp"

#include <array>
#include <utility>

namespace interlace::engine {

namespace {

// Gives memory up that streams may still use: nobody gets it before what is queued on them now is done.
class Drop {
 public:
  explicit Drop(const std::vector<StreamId>& users) : users_(&users) {}

  template <class... Arrays>
  void operator()(Arrays&... arrays) const {
    (drop(arrays), ...);
  }
  template <class T>
  void keep(const Buffer<T>& buffer) const {
    for (const StreamId user : *users_) buffer.used_on(user);
  }

 private:
  template <class T>
  void drop(Buffer<T>& buffer) const {
    keep(buffer);
    buffer = {};
  }
  void drop(JaggedFeatures& features) const { (*this)(features.lengths, features.ids, features.weights); }
  void drop(std::optional<DataParallelWork>& work) const {
    if (work) (*this)(work->features, work->offsets, work->pooled, work->gradients);
    work.reset();
  }
  void drop(Batch& batch) const {
    (*this)(batch.dense, batch.labels);
    for (JaggedFeatures& features : batch.modules) drop(features);
    if (batch.data_parallel) drop(*batch.data_parallel);
    batch = {};
  }
  // What the tape took itself is used on the stream of its pool alone: autograd runs each backward on that of its
  // forward.
  void drop(Activations& activations) const {
    (*this)(activations.features, activations.labels, activations.interaction, activations.data_parallel);
    activations = {};
  }

  const std::vector<StreamId>* users_;
};

}  // namespace

Trainer::Trainer(const Workload& workload, const RankTools& tools, Model& model, LookupStreams lookups,
                 Buffer<float> losses)
    : workload_(&workload), tools_(tools), model_(&model), lookups_(std::move(lookups)), losses_(std::move(losses)) {}

Trainer::StageFunction Trainer::function_of(schedule::Stage stage) {
  // In the order of the enumerators.
  static constexpr std::array<StageFunction, schedule::kStages> kFunctions = {
      &Trainer::next_batch,        &Trainer::copy_batch_to_gpu, &Trainer::input_dist_start,
      &Trainer::input_dist_wait,   &Trainer::input_dist_finish, &Trainer::embedding_lookup,
      &Trainer::output_dist_start, &Trainer::output_dist_wait,  &Trainer::data_parallel_lookup,
      &Trainer::dense_forward,     &Trainer::backward,          &Trainer::optimizer_step,
      &Trainer::zero_grad,         &Trainer::validate_output,   &Trainer::prefetch,
      &Trainer::feature_processor, &Trainer::compute,           &Trainer::all_to_all,
  };
  return kFunctions.at(static_cast<std::size_t>(stage));
}

StageOutcome Trainer::run(const StageCall& call) { return (this->*function_of(call.step->stage))(call); }

BatchContext& Trainer::context(std::int64_t batch) {
  const auto [found, is_new] = contexts_.try_emplace(batch);
  if (is_new) found->second.modules.resize(model_->modules().size());
  return found->second;
}

PartRange Trainer::part_of_all(const std::vector<std::size_t>& modules, std::string_view part) const {
  const bool is_one = modules.size() == 1 && model_->modules().size() > 1;
  return {tools_.device, is_one ? std::string_view(model_->modules()[modules.front()]->name()) : std::string_view(),
          part};
}

void Trainer::release(schedule::Resource resource, std::int64_t batch, const std::vector<std::size_t>& modules,
                      const std::vector<StreamId>& users) {
  using schedule::Resource;
  BatchContext& context = this->context(batch);
  const Drop drop(users);
  const auto each = [&](const auto& clear) {
    for (const std::size_t module : modules) clear(context.modules[module]);
  };
  switch (resource) {
    case Resource::kHostBatch: context.host = nullptr; break;
    case Resource::kBatch: drop(context.batch); break;
    case Resource::kSplits:
      each([&drop](ModuleWork& work) {
        drop(work.send_lengths, work.send_ids, work.send_weights);
        // Of all modules of the message: the last one gives it back.
        if (work.splits) drop.keep(work.splits->received);
        work.splits.reset();
      });
      break;
    case Resource::kInputExchange:
      each([&drop](ModuleWork& work) {
        drop(work.received);
        work.receive_counts.clear();
        work.receive_begins.clear();
        work.arrivals.clear();
      });
      break;
    case Resource::kKjt:
      each([&drop](ModuleWork& work) { drop(work.offsets, work.ids, work.weights, work.input_weights); });
      break;
    case Resource::kCacheRows: each([&drop](ModuleWork& work) { drop(work.places); }); break;
    case Resource::kLookedUp: each([&drop](ModuleWork& work) { drop(work.looked_up); }); break;
    case Resource::kOutputExchange: each([&drop](ModuleWork& work) { drop(work.pooled_blocks); }); break;
    case Resource::kPooled: drop(context.interaction); break;
    case Resource::kDataParallelPooled: drop(context.data_parallel); break;
    case Resource::kActivations: drop(context.activations); break;
    case Resource::kPooledGradients: each([&drop](ModuleWork& work) { drop(work.gradient_blocks); }); break;
    case Resource::kTables:
    case Resource::kDenseParameters:
    case Resource::kDenseGradients: break;  // live through the training
  }
}

void Trainer::release_named(const std::string& name, std::int64_t batch, const std::vector<StreamId>& users) {
  std::map<std::string, Message>& named = context(batch).named;
  const auto found = named.find(name);
  if (found == named.end()) return;
  const Drop drop(users);
  drop(found->second.values);
  named.erase(found);
}

}  // namespace interlace::engine
