#pragma once

#include "engine/collectives/communicator.hpp"
#include "engine/cpu/device.hpp"

namespace interlace::engine::cpu {

/// Collectives between the ranks of one CpuCluster.
class CpuCommunicator : public Communicator {
 public:
  /// group: a number of its own for each set of communicators that work together.
  CpuCommunicator(CpuDevice& device, std::size_t group, int rank, int ranks);

 private:
  void queue_all_to_all(AllToAll exchange) override;
  void queue_all_reduce_mean(std::string what, std::span<float> values) override;

  CpuDevice* device_;
  std::size_t group_;
};

}  // namespace interlace::engine::cpu
