#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cupti_collector/torch_hooks/allocator_interface.hpp"

namespace interlace::collector::hook {

/// PyTorch's allocator as the program sees it while it is recorded: every call goes on to the real one, and two are
/// told of that nothing else tells of: `init`, behind which the trace tracker can be attached (before, it is accepted
/// and lost), and record_stream. All other events come from the tracker, under the allocator's lock and in its order.
///
/// What was allocated stays the real one's: its blocks carry the real one's deleter. An object is never destroyed.
class ForwardingAllocator final : public c10::cuda::CUDACachingAllocator::CUDAAllocator {
 public:
  using CUDAAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;
  using MempoolId = c10::MempoolId_t;
  using Device = c10::DeviceIndex;

  ForwardingAllocator(CUDAAllocator& real, Take take) : real_(real), take_(take) {}
  [[nodiscard]] CUDAAllocator& real() { return real_; }
  [[nodiscard]] bool is_attached() const { return is_attached_.load(std::memory_order_acquire); }

  // Told of.
  void init(int device_count) override;
  void recordStream(const c10::DataPtr& pointer, c10::cuda::CUDAStream stream) override;
  c10::DataPtr allocate(std::size_t bytes) override;
  void* raw_alloc(std::size_t bytes) override;
  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) override;

  // Passed on.
  bool is_simple_data_ptr(const c10::DataPtr& pointer) const override { return real_.is_simple_data_ptr(pointer); }
  c10::DeleterFnPtr raw_deleter() const override { return real_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { real_.copy_data(to, from, bytes); }
  bool initialized() override { return real_.initialized(); }
  void emptyCache(MempoolId pool) override { real_.emptyCache(pool); }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(Device device) override {
    return real_.getDeviceStats(device);
  }
  void resetAccumulatedStats(Device device) override { real_.resetAccumulatedStats(device); }
  void resetPeakStats(Device device) override { real_.resetPeakStats(device); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(Device device) override { return real_.getMemoryInfo(device); }
  void raw_delete(void* pointer) override { real_.raw_delete(pointer); }
  double getMemoryFraction(Device device) override { return real_.getMemoryFraction(device); }
  void setMemoryFraction(double fraction, Device device) override { real_.setMemoryFraction(fraction, device); }
  std::vector<c10::cuda::CUDACachingAllocator::StreamSegmentSize> getExpandableSegmentSizes(Device device) override {
    return real_.getExpandableSegmentSizes(device);
  }
  void enable(bool value) override { real_.enable(value); }
  bool isEnabled() const override { return real_.isEnabled(); }
  void cacheInfo(Device device, std::size_t* largest) override { real_.cacheInfo(device, largest); }
  void* getBaseAllocation(void* pointer, std::size_t* bytes) override {
    return real_.getBaseAllocation(pointer, bytes);
  }
  c10::cuda::CUDACachingAllocator::SnapshotInfo snapshot(MempoolId pool, bool include_traces) override {
    return real_.snapshot(pool, include_traces);
  }
  void beginAllocateToPool(Device device, MempoolId pool, std::function<bool(cudaStream_t)> filter) override {
    real_.beginAllocateToPool(device, pool, std::move(filter));
  }
  void endAllocateToPool(Device device, MempoolId pool) override { real_.endAllocateToPool(device, pool); }
  void releasePool(Device device, MempoolId pool) override { real_.releasePool(device, pool); }
  int getPoolUseCount(Device device, MempoolId pool) override { return real_.getPoolUseCount(device, pool); }
  void createOrIncrefPool(Device device, MempoolId pool, std::shared_ptr<CUDAAllocator> allocator) override {
    real_.createOrIncrefPool(device, pool, std::move(allocator));
  }
  void setUseOnOOM(Device device, MempoolId pool, bool use) override { real_.setUseOnOOM(device, pool, use); }
  void setNoSplit(Device device, MempoolId pool) override { real_.setNoSplit(device, pool); }
  bool checkPoolLiveAllocations(Device device, MempoolId pool, const std::unordered_set<void*>& expected) override {
    return real_.checkPoolLiveAllocations(device, pool, expected);
  }
  c10::cuda::CUDACachingAllocator::ShareableHandle shareIpcHandle(void* pointer) override {
    return real_.shareIpcHandle(pointer);
  }
  std::shared_ptr<void> getIpcDevPtr(std::string handle) override { return real_.getIpcDevPtr(std::move(handle)); }
  bool isHistoryEnabled() override { return real_.isHistoryEnabled(); }
  void recordHistory(bool enabled, c10::cuda::CUDACachingAllocator::CreateContextFn recorder, std::size_t entries,
                     c10::cuda::CUDACachingAllocator::RecordContext when, bool clear,
                     const std::vector<std::string>& skip) override {
    real_.recordHistory(enabled, recorder, entries, when, clear, skip);
  }
  void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& pairs) override {
    real_.recordAnnotation(pairs);
  }
  void pushCompileContext(std::string& context) override { real_.pushCompileContext(context); }
  void popCompileContext() override { real_.popCompileContext(); }
  void setUserMetadata(const std::string& metadata) override { real_.setUserMetadata(metadata); }
  std::string getUserMetadata() override { return real_.getUserMetadata(); }
  void attachOutOfMemoryObserver(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer) override {
    real_.attachOutOfMemoryObserver(std::move(observer));
  }
  void attachAllocatorTraceTracker(c10::cuda::CUDACachingAllocator::AllocatorTraceTracker tracker) override {
    real_.attachAllocatorTraceTracker(std::move(tracker));
  }
  void enablePeerAccess(Device from, Device to) override { real_.enablePeerAccess(from, to); }
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                          cudaStream_t stream, bool peer) override {
    return real_.memcpyAsync(to, to_device, from, from_device, bytes, stream, peer);
  }
  std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> getCheckpointState(Device device,
                                                                                      MempoolId pool) override {
    return real_.getCheckpointState(device, pool);
  }
  c10::cuda::CUDACachingAllocator::CheckpointDelta setCheckpointPoolState(
      Device device, std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> state) override {
    return real_.setCheckpointPoolState(device, std::move(state));
  }
  std::string name() override { return real_.name(); }

 private:
  /// In a thread of the program that has seen `init` return.
  void attach() noexcept;

  CUDAAllocator& real_;
  Take take_;
  std::atomic<bool> is_claimed_{false};
  std::atomic<bool> is_attached_{false};
};

}  // namespace interlace::collector::hook
