#pragma once

#include <algorithm>
#include <vector>

#include "engine/runtime/awaitable.hpp"
#include "engine/runtime/device.hpp"

namespace interlace::engine {

/// Queues a copy of a whole array, in any direction between device and pinned memory.
template <class T>
Awaitable copy_array(Device& device, StreamId stream, const Buffer<T>& from, const Buffer<T>& to) {
  from.used_on(stream);
  to.used_on(stream);
  device.copy(stream, to.data(), from.data(), from.size() * sizeof(T));
  return {device, device.record(stream)};
}

/// A device array with these values, written in the order of the stream.
template <class T>
[[nodiscard]] Buffer<T> to_device(Device& device, StreamId stream, const std::vector<T>& values) {
  const Buffer<T> host = device.host_buffer<T>(values.size());
  std::copy(values.begin(), values.end(), host.data());
  const Buffer<T> there = device.buffer<T>(values.size(), stream);
  copy_array(device, stream, host, there);
  return there;
}

/// A copy of a piece of a device array on its way to the host, which may do other work before it reads it.
template <class T>
class HostCopy {
 public:
  HostCopy(Device& device, StreamId stream, const Buffer<T>& from, std::size_t begin, std::size_t count)
      : device_(&device), stream_(stream), here_(device.host_buffer<T>(count)) {
    from.used_on(stream);
    here_.used_on(stream);
    device.copy(stream, here_.data(), from.data() + begin, count * sizeof(T));
    done_ = device.record(stream);
  }

  /// What a stage goes on with: Device::host_read().
  [[nodiscard]] const Buffer<T>& read() const {
    device_->host_read(done_, stream_, here_.data(), here_.span().size_bytes());
    return here_;
  }
  /// The host waits for it.
  [[nodiscard]] const Buffer<T>& arrived() const {
    device_->host_wait(done_);
    return here_;
  }

 private:
  Device* device_;
  StreamId stream_;
  Buffer<T> here_;
  Event done_;
};

/// A copy of a piece of a device array in host memory. The host waits for it.
template <class T>
[[nodiscard]] Buffer<T> to_host(Device& device, StreamId stream, const Buffer<T>& values, std::size_t begin,
                                std::size_t count) {
  return HostCopy<T>(device, stream, values, begin, count).arrived();
}
template <class T>
[[nodiscard]] Buffer<T> to_host(Device& device, StreamId stream, const Buffer<T>& values) {
  return to_host(device, stream, values, 0, values.size());
}

}  // namespace interlace::engine
