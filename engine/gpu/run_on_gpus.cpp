#include "engine/gpu/run_on_gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "engine/cuda/device.hpp"
#include "engine/cuda/embedding_kernels.hpp"
#include "engine/cuda/nccl_communicator.hpp"
#include "engine/data/batch_source.hpp"
#include "engine/fbgemm/fbgemm_kernels.hpp"
#include "engine/gpu/store_place.hpp"
#include "engine/job/await_ranks.hpp"
#include "engine/job/job_store.hpp"
#include "engine/job/watch.hpp"
#include "engine/launch/fit.hpp"
#include "engine/launch/gpu_choice.hpp"
#include "engine/launch/rank_result_json.hpp"
#include "engine/runtime/failure.hpp"
#include "engine/runtime/progress.hpp"

namespace interlace::engine {

namespace {

std::string key_of(const char* what, int rank) { return std::string(what) + '/' + std::to_string(rank); }

cuda::NcclId shared_id(JobStore& store, int rank) {
  if (rank == 0) {
    const cuda::NcclId id = cuda::make_nccl_id();
    store.put("nccl", std::string(id.begin(), id.end()));
    return id;
  }
  const std::string bytes = store.get("nccl");
  cuda::NcclId id{};
  if (bytes.size() != id.size()) throw Error(kJobStore, "", "another program uses the store of this job", "");
  std::ranges::copy(bytes, id.begin());
  return id;
}

JobStore meet(const StorePlace& place, int rank) {
  try {
    return JobStore(place);
  } catch (const Error&) {
    throw placed(std::current_exception(), place_of(rank, "meeting the other ranks"));
  }
}

[[noreturn]] void fail(Watch& watch, int rank, const Progress& progress, const std::exception_ptr& failure) {
  watch.fail(placed(failure, place_of(rank, progress.place())));
}

// Failures of the training end the process here, before the communicator goes: that would wait for the other ranks.
RankResult train_on_gpu(const schedule::Schedule& schedule, const Workload& workload, const WorldPlace& world,
                        TrainOptions training, JobStore& store, Progress& progress, Watch& watch) {
  training.on_failure = [&](const std::exception_ptr& failure) { fail(watch, world.rank, progress, failure); };
  cuda::CudaDevice device(gpu_of(world, cuda::CudaDevice::shown()), progress);
  const auto join = [&] {
    const Range range(device, "joining the other ranks");
    return cuda::NcclCommunicator(device, shared_id(store, world.rank), world.rank, world.ranks);
  };
  cuda::NcclCommunicator communicator = join();
  watch.ask_of_stalls([&communicator] { return communicator.failure(); });
  const cuda::CudaEmbeddingKernels own;
  try {
    const std::unique_ptr<EmbeddingKernels> others =
        training.embedding == EmbeddingKind::kFbgemm ? make_fbgemm_kernels(own, true) : nullptr;
    const auto batches = std::make_unique<SyntheticBatches>(workload, device, world.rank);
    RankResult result = train(schedule, workload,
                              {.device = device,
                               .communicator = communicator,
                               .kernels = others ? *others : static_cast<const EmbeddingKernels&>(own),
                               .source = *batches,
                               .where = DenseNet::Where::kCuda},
                              training);
    // The communicator's end waits inside NCCL until all ranks come to theirs, and others may be long at their digests.
    await_ranks(store, "trained", world.rank, world.ranks, progress);
    watch.ask_of_stalls({});
    return result;
  } catch (...) {
    fail(watch, world.rank, progress, std::current_exception());
  }
}

}  // namespace

void require_gpus(int count) { cuda::CudaDevice::require(count); }

std::optional<std::vector<RankResult>> run_on_gpus(const schedule::Schedule& schedule, const Workload& workload,
                                                   const GpuOptions& options) {
  check_fit(schedule, workload);
  const WorldPlace world = options.world.value_or(WorldPlace{});
  // cuBLAS takes another order of sums where its workspace is shared by streams. Before it is loaded.
  if (setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0) != 0) throw std::bad_alloc();
  JobStore store = meet(store_place(options.world, process_environment()), world.rank);
  Progress progress;
  std::vector<RankResult> results;
  {
    Watch watch(store.place(), world.rank, world.ranks, progress, {.stall = options.stall_limit}, options.on_failure);
    try {
      TrainOptions training = options.training;
      if (options.start_recording) options.start_recording(store, progress, training);
      const RankResult own = train_on_gpu(schedule, workload, world, std::move(training), store, progress, watch);
      store.put(key_of("result", world.rank), to_json(own));
      // Whoever holds the store must outlast the others.
      for (int rank = 0; rank < world.ranks && world.rank == 0; ++rank) {
        results.push_back(rank_result_of(await_key(store, key_of("result", rank), progress,
                                                   "waiting for the result of rank " + std::to_string(rank))));
        if (rank > 0) static_cast<void>(store.get(key_of("gone", rank)));
      }
    } catch (...) {
      fail(watch, world.rank, progress, std::current_exception());
    }
  }
  if (world.rank == 0) return results;
  store.put(key_of("gone", world.rank), "");
  return std::nullopt;
}

}  // namespace interlace::engine
