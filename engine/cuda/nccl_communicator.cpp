#include "engine/cuda/nccl_communicator.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "engine/cuda/status.hpp"

namespace interlace::engine::cuda {

namespace {

Error error_of(ncclResult_t status, const std::string& what) {
  return {kNcclFailed, what, std::string(ncclGetErrorString(status)) + ": " + ncclGetLastError(nullptr),
          "NCCL_DEBUG=INFO says more"};
}

void check_nccl(ncclResult_t status, const std::string& what) {
  if (status != ncclSuccess) throw Error(error_of(status, what));
}

}  // namespace

NcclId make_nccl_id() {
  ncclUniqueId unique{};
  check_nccl(ncclGetUniqueId(&unique), "ncclGetUniqueId");
  NcclId id{};
  std::memcpy(id.data(), unique.internal, id.size());
  return id;
}

NcclCommunicator::NcclCommunicator(CudaDevice& device, const NcclId& id, int rank, int ranks)
    : Communicator(device, device.make_stream("collectives", 0), rank, ranks), device_(&device) {
  ncclUniqueId unique{};
  std::memcpy(unique.internal, id.data(), id.size());
  check_nccl(ncclCommInitRank(&communicator_, ranks, unique, rank), "ncclCommInitRank");
}

NcclCommunicator::~NcclCommunicator() {
  if (communicator_ != nullptr) static_cast<void>(ncclCommDestroy(communicator_));
}

std::optional<Error> NcclCommunicator::failure() const {
  ncclResult_t of_collectives = ncclSuccess;
  const ncclResult_t status = ncclCommGetAsyncError(communicator_, &of_collectives);
  if (status != ncclSuccess) return error_of(status, "ncclCommGetAsyncError");
  if (of_collectives == ncclSuccess || of_collectives == ncclInProgress) return std::nullopt;
  return error_of(of_collectives, "a collective under way");
}

// A part for each pair of ranks; they travel together. A rank's part for itself is a plain copy.
void NcclCommunicator::queue_all_to_all(AllToAll exchange) {
  const auto* send = static_cast<const std::byte*>(exchange.send);
  auto* receive = static_cast<std::byte*>(exchange.receive);
  const cudaStream_t stream = device_->native(this->stream());
  check_nccl(ncclGroupStart(), exchange.what);
  for (int other = 0; other < ranks(); ++other) {
    const Part out = exchange.send_parts[static_cast<std::size_t>(other)];
    const Part in = exchange.receive_parts[static_cast<std::size_t>(other)];
    if (out.bytes > 0) {
      check_nccl(ncclSend(send + out.begin, out.bytes, ncclInt8, other, communicator_, stream), exchange.what);
    }
    if (in.bytes > 0) {
      check_nccl(ncclRecv(receive + in.begin, in.bytes, ncclInt8, other, communicator_, stream), exchange.what);
    }
  }
  check_nccl(ncclGroupEnd(), exchange.what);
}

void NcclCommunicator::queue_all_reduce_mean(std::string what, std::span<float> values) {
  check_nccl(ncclAllReduce(values.data(), values.data(), values.size(), ncclFloat, ncclAvg, communicator_,
                           device_->native(stream())),
             what);
}

}  // namespace interlace::engine::cuda
