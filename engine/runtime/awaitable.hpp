#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/runtime/device.hpp"

namespace interlace::engine {

/// Memory that a collective uses, held by the host as long as nobody has waited for the end of the collective.
///
/// Whoever waits takes it over: given back then, it is free for all that comes behind the waiter, and it has to be kept
/// for the waiter's stream only where that is another one than its pool's. Where nobody waits, it is kept for the
/// stream of the collective.
class HeldMemory {
 public:
  HeldMemory(StreamId user, std::vector<std::shared_ptr<Block>> blocks) : user_(user), blocks_(std::move(blocks)) {}
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  HeldMemory(HeldMemory&&) = delete;
  HeldMemory& operator=(HeldMemory&&) = delete;
  ~HeldMemory() { hand_over(user_); }

  /// To a stream that is behind the end of the collective.
  void hand_over(StreamId stream) {
    for (const std::shared_ptr<Block>& block : blocks_) block->used_on(stream);
    blocks_.clear();
  }

 private:
  StreamId user_;
  std::vector<std::shared_ptr<Block>> blocks_;
};

/// A collective or copy under way. Waiting makes a stream wait; the host waits only where it says so.
class Awaitable {
 public:
  Awaitable() = default;  ///< one that is over
  Awaitable(Device& device, Event done, std::shared_ptr<HeldMemory> held = {})
      : device_(&device), done_(std::move(done)), held_(std::move(held)) {}

  void wait(StreamId stream) const {
    wait_and_hold(stream);
    hand_over(stream);
  }
  /// The same, but the memory stays held until hand_over().
  void wait_and_hold(StreamId stream) const {
    if (done_) device_->wait(stream, done_);
  }
  /// stream: has waited for this, and for all that others did with the memory since.
  void hand_over(StreamId stream) const {
    if (held_) held_->hand_over(stream);
  }
  void wait_on_host() const {
    if (done_) device_->host_wait(done_);
  }
  /// Null where it is over.
  [[nodiscard]] const Event& event() const { return done_; }

 private:
  Device* device_ = nullptr;
  Event done_;
  std::shared_ptr<HeldMemory> held_;
};

}  // namespace interlace::engine
