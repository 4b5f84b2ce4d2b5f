#include "engine/launch/run_on_cpu.hpp"

#include "engine/cpu/communicator.hpp"
#include "engine/cpu/device.hpp"
#include "engine/cpu/embedding_kernels.hpp"
#include "engine/fbgemm/fbgemm_kernels.hpp"
#include "engine/launch/fit.hpp"

namespace interlace::engine {

std::vector<RankResult> run_on_cpu(const schedule::Schedule& schedule, const Workload& workload,
                                   const cpu::CpuOptions& options, const MakeSource& source,
                                   const TrainOptions& training) {
  check_fit(schedule, workload);
  const cpu::CpuEmbeddingKernels own;
  const std::unique_ptr<EmbeddingKernels> others =
      training.embedding == EmbeddingKind::kFbgemm ? make_fbgemm_kernels(own, false) : nullptr;
  const EmbeddingKernels& kernels = others ? *others : static_cast<const EmbeddingKernels&>(own);
  cpu::CpuCluster cluster(workload.ranks, options);
  std::vector<RankResult> results(static_cast<std::size_t>(workload.ranks));
  cluster.run([&](int rank) {
    use_one_thread();
    cpu::CpuDevice device(cluster, rank);
    cpu::CpuCommunicator communicator(device, 0, rank, workload.ranks);
    const auto batches =
        source ? source(workload, device, rank) : std::make_unique<SyntheticBatches>(workload, device, rank);
    const RankTools tools{.device = device, .communicator = communicator, .kernels = kernels, .source = *batches};
    results[static_cast<std::size_t>(rank)] = train(schedule, workload, tools, training);
  });
  return results;
}

cpu::HostReads host_reads_of(const schedule::Schedule& schedule, const Workload& workload, cpu::CpuOptions options) {
  cpu::HostReads reads;
  options.seed.reset();
  options.remember = &reads;
  static_cast<void>(run_on_cpu(schedule, workload, options));
  return reads;
}

}  // namespace interlace::engine
