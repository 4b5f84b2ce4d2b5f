#pragma once

#include <array>
#include <cstdint>

namespace interlace::collector {

/// A communicator of NCCL, told of as it is made, or with its first task.
struct NcclCommunicator {
  std::uint32_t number = 0;  ///< ours, within the process
  std::int32_t ranks = 0;    ///< 0 unknown
  std::uint64_t id = 0;      ///< equal on all its ranks
  std::array<char, 64> name{};
};

/// One collective, send or receive, told of right after the launch of the kernel that does it, in the same thread.
struct NcclTask {
  std::uint32_t communicator = 0;
  std::uint32_t plan = 0;         ///< tasks of one thread and plan are done by one kernel
  std::uint64_t count = 0;        ///< elements, as the call of NCCL has them; bytes where is_untyped
  std::int64_t sequence = -1;     ///< of a collective: its number within its communicator
  std::int32_t peer = -1;         ///< of a send or receive
  std::int32_t rank = -1;         ///< of the process, where there is a peer: equal where the part stays
  std::int32_t channels = 0;      ///< 0 unknown
  std::uint64_t send_buffer = 0;  ///< addresses; 0 none
  std::uint64_t receive_buffer = 0;
  std::array<char, 16> function{};
  std::array<char, 16> datatype{};
  bool is_untyped = false;  ///< NCCL tells it in bytes, and its call is not known any more
};

}  // namespace interlace::collector
