#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"

namespace interlace::calibrate {

inline constexpr ErrorCode kCallFailed{"calibrate.call_failed"};

/// Throws Error(calibrate.call_failed), which names the call.
inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw Error(kCallFailed, call, cudaGetErrorString(status));
}
inline void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess) throw Error(kCallFailed, call, ncclGetErrorString(status));
}

inline void use_device(int device) { check(cudaSetDevice(device), "cudaSetDevice"); }

/// Memory of a device, or of the host where `device` is none.
class Memory {
 public:
  enum class Place { kDevice, kPinned, kPageable };

  /// On the current device.
  Memory(Place place, std::size_t bytes) : place_(place), bytes_(bytes) {
    if (place == Place::kDevice) {
      check(cudaMalloc(&data_, bytes), "cudaMalloc");
      check(cudaMemset(data_, 0, bytes), "cudaMemset");
    } else if (place == Place::kPinned) {
      check(cudaHostAlloc(&data_, bytes, cudaHostAllocMapped), "cudaHostAlloc");
      std::fill_n(static_cast<unsigned char*>(data_), bytes, static_cast<unsigned char>(0));
    } else {
      pageable_.assign(bytes, 0);
      data_ = pageable_.data();
    }
  }
  Memory(Memory&& other) noexcept
      : place_(other.place_),
        bytes_(other.bytes_),
        data_(std::exchange(other.data_, nullptr)),
        pageable_(std::move(other.pageable_)) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ == nullptr) return;
    if (place_ == Place::kDevice) cudaFree(data_);
    if (place_ == Place::kPinned) cudaFreeHost(data_);
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Place place_;
  std::size_t bytes_;
  void* data_ = nullptr;
  std::vector<unsigned char> pageable_;
};

/// A stream of the current device that waits for no other.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void synchronise() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event of the current device that takes the time.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  [[nodiscard]] cudaEvent_t get() const { return event_; }
  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get()), "cudaEventRecord"); }
  [[nodiscard]] bool done() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check(status, "cudaEventQuery");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Microseconds on the device from one event to a later one of it; both must be done.
inline double microseconds(const Event& from, const Event& to) {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, from.get(), to.get()), "cudaEventElapsedTime");
  return static_cast<double>(ms) * 1e3;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace interlace::calibrate
