#pragma once

#include <utility>

#include "engine/runtime/device.hpp"

namespace interlace::engine {

/// A collective or copy under way. Waiting makes a stream wait; the host waits only where it says so.
class Awaitable {
 public:
  Awaitable() = default;  ///< one that is over
  Awaitable(Device& device, Event done) : device_(&device), done_(std::move(done)) {}

  void wait(StreamId stream) const {
    if (done_) device_->wait(stream, done_);
  }
  void wait_on_host() const {
    if (done_) device_->host_wait(done_);
  }
  /// Null where it is over.
  [[nodiscard]] const Event& event() const { return done_; }

 private:
  Device* device_ = nullptr;
  Event done_;
};

}  // namespace interlace::engine
