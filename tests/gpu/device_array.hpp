#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

namespace interlace::engine::cuda {

/// An array in the memory of the current GPU, made from one of the host's.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::span<const T> values) : size_(values.size()) {
    must(cudaMalloc(&data_, std::max<std::size_t>(1, size_) * sizeof(T)));
    if (size_ > 0) must(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(std::span<const T>(values)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept : data_(other.data_), size_(other.size_) { other.data_ = nullptr; }
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] std::span<T> span() const { return {static_cast<T*>(data_), size_}; }
  /// What it holds now, when the device is through with all work.
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(size_);
    must(cudaDeviceSynchronize());
    if (size_ > 0) must(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  static void must(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace interlace::engine::cuda
