// libinterlace_torch_allocator.so: what libinterlace_collector.so loads where the program has LibTorch's CUDA half.
#include <c10/core/Allocator.h>

#include <exception>
#include <string>

#include "cupti_collector/torch_hooks/forwarding_allocator.hpp"
#include "cupti_collector/torch_hooks/loaded_torch.hpp"

namespace interlace::collector::hook {

namespace {

/// The one that was put in; never taken out again, since who asked for it before keeps it.
std::atomic<ForwardingAllocator*>& the_allocator() {
  static std::atomic<ForwardingAllocator*> allocator{nullptr};
  return allocator;
}

Attached attach(Take take, std::string& why) {
  why = misfit_of("libc10_cuda.so");
  if (!why.empty()) return Attached::kOtherVersion;
  auto* real = c10::cuda::CUDACachingAllocator::allocator.load();
  if (real == nullptr) {
    why = "PyTorch has no allocator yet";
    return Attached::kFailed;
  }
  if (real->name() != "native") {
    why = "PyTorch uses the allocator '" + real->name() + "'";
    return Attached::kOtherBackend;
  }
  const bool is_there = real->initialized();
  auto* allocator = new ForwardingAllocator(*real, take);
  the_allocator().store(allocator, std::memory_order_release);
  // Both ways lead to it: most of PyTorch asks the one, c10::GetAllocator the other.
  c10::cuda::CUDACachingAllocator::allocator.store(allocator);
  c10::SetAllocator(c10::DeviceType::CUDA, allocator);
  return is_there ? Attached::kLater : Attached::kYes;
}

/// Gives a snapshot to a sink.
void give(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot, const StateSink& sink) {
  sink.settings(sink.context, snapshot.config_metadata.last_allocator_settings.c_str());
  for (const auto& segment : snapshot.segments) {
    sink.segment(sink.context, {.address = segment.address,
                                .bytes = segment.total_size,
                                .stream = reinterpret_cast<std::uintptr_t>(segment.stream),
                                .pool_first = segment.owner_private_pool_id.first,
                                .pool_second = segment.owner_private_pool_id.second,
                                .device = segment.device,
                                .is_large = segment.is_large,
                                .is_expandable = segment.is_expandable});
    std::uint64_t address = segment.address;
    for (const auto& block : segment.blocks) {
      sink.block(sink.context, {.address = address,
                                .bytes = block.size,
                                .requested = block.requested_size,
                                .is_allocated = block.allocated,
                                .is_active = block.active});
      address += block.size;
    }
  }
}

}  // namespace

extern "C" {

Attached interlace_torch_allocator_attach(Take take, char* why, std::size_t why_bytes) noexcept {
  try {
    std::string reason;
    const Attached result = attach(take, reason);
    say(why, why_bytes, reason);
    return result;
  } catch (const std::exception& error) {
    say(why, why_bytes, error.what());
  }
  return Attached::kFailed;
}

bool interlace_torch_allocator_state(const StateSink& sink) noexcept {
  try {
    ForwardingAllocator* allocator = the_allocator().load(std::memory_order_acquire);
    if (allocator == nullptr || !allocator->is_attached()) return false;
    give(allocator->real().snapshot({0, 0}, false), sink);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
}

}  // namespace interlace::collector::hook
