#pragma once

#include <nccl.h>

#include <array>
#include <cstddef>
#include <optional>

#include "engine/collectives/communicator.hpp"
#include "engine/cuda/device.hpp"

namespace interlace::engine::cuda {

inline constexpr ErrorCode kNcclFailed{"engine.nccl_failed"};

/// What ranks agree on to find each other.
using NcclId = std::array<char, NCCL_UNIQUE_ID_BYTES>;
[[nodiscard]] NcclId make_nccl_id();

/// Collectives through NCCL: one communicator, one stream.
class NcclCommunicator : public Communicator {
 public:
  /// Waits for all ranks. id: the same on all, from one call of make_nccl_id().
  NcclCommunicator(CudaDevice& device, const NcclId& id, int rank, int ranks);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  NcclCommunicator(NcclCommunicator&&) = delete;
  NcclCommunicator& operator=(NcclCommunicator&&) = delete;
  ~NcclCommunicator() override;

  /// Of a collective under way, as where the network is gone: its kernel waits for good. May be called from any thread.
  [[nodiscard]] std::optional<Error> failure() const;

 private:
  void queue_all_to_all(AllToAll exchange) override;
  void queue_all_reduce_mean(std::string what, std::span<float> values) override;

  CudaDevice* device_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace interlace::engine::cuda
