#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/cuda/pinned_pool.hpp"
#include "engine/runtime/device.hpp"
#include "engine/runtime/progress.hpp"

namespace interlace::engine::cuda {

/// A GPU. Streams are the device's own, none is the default stream; memory comes from LibTorch's caching allocator, so
/// that what the dense net takes and what the engine takes share its pools; ranges are NVTX's. Work is called at once,
/// with its stream as LibTorch's current one.
class CudaDevice : public Device {
 public:
  /// index: of the GPU. progress: is told where the host stands. Throws engine.no_gpu where there is no such GPU.
  CudaDevice(int index, Progress& progress);
  /// GPUs that this process is shown.
  [[nodiscard]] static int shown();
  /// Throws engine.no_gpu where it is shown fewer.
  static void require(int count);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  CudaDevice(CudaDevice&&) = delete;
  CudaDevice& operator=(CudaDevice&&) = delete;
  ~CudaDevice() override;

  [[nodiscard]] StreamId make_stream(const std::string& name, int priority) override;
  void launch(StreamId stream, Work work) override;
  void copy(StreamId stream, void* to, const void* from, std::size_t bytes) override;
  [[nodiscard]] Event record(StreamId stream) override;
  [[nodiscard]] Event record_time(StreamId stream) override;
  [[nodiscard]] double seconds_between(const Event& from, const Event& to) const override;
  void wait(StreamId waiter, const Event& event) override;
  void host_wait(const Event& event) override;
  void host_read(const Event& copied, StreamId /*stream*/, void* /*at*/, std::size_t /*bytes*/) override;
  void synchronize() override;
  [[nodiscard]] std::shared_ptr<Block> allocate(std::size_t bytes, StreamId pool) override;
  [[nodiscard]] std::shared_ptr<Block> allocate_host(std::size_t bytes) override;
  [[nodiscard]] MemoryPeaks peaks() const override;
  void enter(const std::string& range) override;
  void leave() noexcept override;

  [[nodiscard]] cudaStream_t native(StreamId stream) const;

 private:
  struct Streams;
  class CudaBlock;
  class PinnedBlock;

  [[nodiscard]] cudaEvent_t take_event();

  int index_;
  Progress* progress_;
  std::unique_ptr<Streams> streams_;
  IdleEvents idle_events_;
  PinnedPool pinned_;
};

}  // namespace interlace::engine::cuda
