#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/awaitable.hpp"
#include "engine/runtime/buffer.hpp"
#include "engine/runtime/device.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kCollectiveOrder{"engine.collective_order"};

/// The parts of an array that go to, or come from, each rank, by rank.
template <class T>
struct Parts {
  const Buffer<T>& buffer;
  std::vector<std::size_t> counts;       ///< elements, by rank
  std::vector<std::size_t> begins = {};  ///< where each part begins; empty: one behind the other
};

/// Where parts of so many elements may begin so that each is aligned for loads of 16 bytes, of elements of four bytes
/// or more. NCCL moves others in smaller pieces: at a third of the speed, on an H200. Behind them: the end of the last.
[[nodiscard]] std::vector<std::size_t> aligned_begins(const std::vector<std::size_t>& counts);

/// The ranks that train together. Its collectives run on one stream of its own, one behind the other in the order in
/// which the host issues them; each waits for what is queued on the stream `from`, and the host goes on. All ranks must
/// issue the same ones in the same order: `what` names each in messages and goes into order_hash().
class Communicator {
 public:
  /// stream: of this communicator alone.
  Communicator(Device& device, StreamId stream, int rank, int ranks);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] StreamId stream() const { return stream_; }

  /// Sends part q to rank q, and receives what rank q sends here as part q. Counts must match on both sides. What it
  /// sends and receives is held until somebody waits (HeldMemory).
  template <class T>
  Awaitable all_to_all(std::string_view what, StreamId from, const Parts<T>& send, const Parts<T>& receive) {
    return issue_all_to_all({.what = std::string(what),
                             .send = send.buffer.data(),
                             .send_parts = in_bytes(send.counts, send.begins, sizeof(T)),
                             .receive = receive.buffer.data(),
                             .receive_parts = in_bytes(receive.counts, receive.begins, sizeof(T))},
                            from, {send.buffer.block(), receive.buffer.block()});
  }

  /// Replaces values[begin, begin + count) by the mean over the ranks: the same, bit by bit, on all of them and each
  /// time that such a job runs. In which order ranks add is the backend's own affair.
  Awaitable all_reduce_mean(std::string_view what, StreamId from, const Buffer<float>& values, std::size_t begin,
                            std::size_t count);

  /// Of all collectives issued so far: equal on all ranks where they issue the same ones in the same order.
  [[nodiscard]] std::uint64_t order_hash() const { return order_hash_; }

  /// Of an array, in bytes.
  struct Part {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

 protected:
  struct AllToAll {
    std::string what;
    const void* send = nullptr;
    std::vector<Part> send_parts;  ///< by rank
    void* receive = nullptr;
    std::vector<Part> receive_parts;
  };
  virtual void queue_all_to_all(AllToAll exchange) = 0;
  virtual void queue_all_reduce_mean(std::string what, std::span<float> values) = 0;
  [[nodiscard]] Device& device() const { return *device_; }

 private:
  [[nodiscard]] static std::vector<Part> in_bytes(const std::vector<std::size_t>& counts,
                                                  const std::vector<std::size_t>& begins, std::size_t element);
  Awaitable issue_all_to_all(AllToAll exchange, StreamId from, const std::vector<std::shared_ptr<Block>>& used);
  void begin(std::string_view what, StreamId from);
  Awaitable end(const std::vector<std::shared_ptr<Block>>& used);

  Device* device_;
  StreamId stream_;
  int rank_;
  int ranks_;
  std::uint64_t order_hash_;
};

}  // namespace interlace::engine
