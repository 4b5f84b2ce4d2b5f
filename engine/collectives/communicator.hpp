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

/// The parts of an array that go to, or come from, each rank: one behind the other, by rank.
template <class T>
struct Parts {
  const Buffer<T>& buffer;
  std::vector<std::size_t> counts;  ///< elements, by rank
};

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
                             .send_bytes = in_bytes(send.counts, sizeof(T)),
                             .receive = receive.buffer.data(),
                             .receive_bytes = in_bytes(receive.counts, sizeof(T))},
                            from, {send.buffer.block(), receive.buffer.block()});
  }

  /// Replaces values[begin, begin + count) by the mean over the ranks; they add in the order of the ranks, so that the
  /// result is the same, bit by bit, on all of them and each time.
  Awaitable all_reduce_mean(std::string_view what, StreamId from, const Buffer<float>& values, std::size_t begin,
                            std::size_t count);

  /// Of all collectives issued so far: equal on all ranks where they issue the same ones in the same order.
  [[nodiscard]] std::uint64_t order_hash() const { return order_hash_; }

 protected:
  struct AllToAll {
    std::string what;
    const void* send = nullptr;
    std::vector<std::size_t> send_bytes;
    void* receive = nullptr;
    std::vector<std::size_t> receive_bytes;
  };
  virtual void queue_all_to_all(AllToAll exchange) = 0;
  virtual void queue_all_reduce_mean(std::string what, std::span<float> values) = 0;
  [[nodiscard]] Device& device() const { return *device_; }

 private:
  [[nodiscard]] static std::vector<std::size_t> in_bytes(std::vector<std::size_t> counts, std::size_t element);
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
