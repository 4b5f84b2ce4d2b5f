#include "cupti_collector/torch_hooks/forwarding_allocator.hpp"

#include <exception>
#include <optional>

namespace interlace::collector::hook {

namespace {

using c10::CachingDeviceAllocator::TraceEntry;

std::optional<Action> action_of(TraceEntry::Action action) {
  switch (action) {
    case TraceEntry::ALLOC: return Action::kAlloc;
    case TraceEntry::FREE_REQUESTED: return Action::kFreeRequested;
    case TraceEntry::FREE_COMPLETED: return Action::kFreeCompleted;
    case TraceEntry::SEGMENT_ALLOC: return Action::kSegmentAlloc;
    case TraceEntry::SEGMENT_FREE: return Action::kSegmentFree;
    case TraceEntry::SEGMENT_MAP: return Action::kSegmentMap;
    case TraceEntry::SEGMENT_UNMAP: return Action::kSegmentUnmap;
    case TraceEntry::SNAPSHOT: return Action::kSnapshot;
    case TraceEntry::OOM: return Action::kOutOfMemory;
  }
  return std::nullopt;
}

std::uint64_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void ForwardingAllocator::attach() noexcept {
  if (is_claimed_.exchange(true, std::memory_order_acq_rel)) return;
  try {
    real_.attachAllocatorTraceTracker([take = take_](const TraceEntry& entry) {
      const auto action = action_of(entry.action_);
      if (!action) return;
      // The address of an out-of-memory event is not one: it says how much the device had left.
      const bool is_place = *action != Action::kOutOfMemory && *action != Action::kSnapshot;
      take({.address = is_place ? entry.addr_ : 0,
            .bytes = entry.size_,
            .stream = number_of(entry.stream_),
            .device = entry.device_,
            .action = *action});
    });
    is_attached_.store(true, std::memory_order_release);
  } catch (const std::exception&) {
    // It remains unattached: the recorder says of one that told of nothing that it did not.
  }
}

void ForwardingAllocator::init(int device_count) {
  real_.init(device_count);
  attach();
}

c10::DataPtr ForwardingAllocator::allocate(std::size_t bytes) {
  if (!is_claimed_.load(std::memory_order_relaxed)) attach();
  return real_.allocate(bytes);
}

void* ForwardingAllocator::raw_alloc(std::size_t bytes) {
  if (!is_claimed_.load(std::memory_order_relaxed)) attach();
  return real_.raw_alloc(bytes);
}

void* ForwardingAllocator::raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) {
  if (!is_claimed_.load(std::memory_order_relaxed)) attach();
  return real_.raw_alloc_with_stream(bytes, stream);
}

void ForwardingAllocator::recordStream(const c10::DataPtr& pointer, c10::cuda::CUDAStream stream) {
  if (pointer.get() != nullptr) {
    take_({.address = number_of(pointer.get()),
           .stream = number_of(stream.stream()),
           .device = stream.device_index(),
           .action = Action::kRecordStream});
  }
  real_.recordStream(pointer, stream);
}

}  // namespace interlace::collector::hook
