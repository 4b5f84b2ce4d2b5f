#include "cupti_collector/torch_allocator.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "cupti_collector/torch_hook.hpp"

namespace interlace::collector {

namespace {

/// Gathers a state by device.
struct States {
  std::string settings;
  std::map<std::int32_t, trace::AllocatorState> by_device;
  trace::AllocatorSegment* segment = nullptr;
};

void take_settings(void* context, const char* text) { static_cast<States*>(context)->settings = text; }

void take_segment(void* context, const hook::Segment& segment) {
  auto& states = *static_cast<States*>(context);
  trace::AllocatorState& state = states.by_device[segment.device];
  state.device = segment.device;
  state.segments.push_back({.address = segment.address,
                            .bytes = static_cast<Bytes>(segment.bytes),
                            .stream_handle = segment.stream,
                            .is_large = segment.is_large,
                            .is_expandable = segment.is_expandable,
                            .pool = {segment.pool_first, segment.pool_second},
                            .blocks = {}});
  states.segment = &state.segments.back();
}

void take_block(void* context, const hook::Block& block) {
  auto& states = *static_cast<States*>(context);
  if (states.segment == nullptr) return;
  using enum trace::BlockState;
  const trace::BlockState unheld = block.is_active ? kPendingFree : kFree;
  states.segment->blocks.push_back({.address = block.address,
                                    .bytes = static_cast<Bytes>(block.bytes),
                                    .requested = static_cast<Bytes>(block.requested),
                                    .state = block.is_allocated ? kAllocated : unheld});
}

}  // namespace

void TorchAllocator::refuse(std::string why) {
  presence_ = Presence::kRefused;
  why_ = std::move(why);
}

TorchAllocator::Presence TorchAllocator::look(hook::Take take) {
  if (is_settled() || take == nullptr) return presence_;
  TorchHook library("libc10_cuda.so", "libinterlace_torch_allocator.so");
  switch (library.look()) {
    case TorchHook::Presence::kNone: return presence_;
    case TorchHook::Presence::kRefused: refuse(library.why()); return presence_;
    case TorchHook::Presence::kLoaded: break;
  }
  const auto attach =
      library.function<decltype(hook::interlace_torch_allocator_attach)>("interlace_torch_allocator_attach");
  state_ = library.function<decltype(hook::interlace_torch_allocator_state)>("interlace_torch_allocator_state");
  if (attach == nullptr || state_ == nullptr) {
    refuse("it is of another build");
    return presence_;
  }
  std::array<char, 512> why{};
  switch (attach(take, why.data(), why.size())) {
    case hook::Attached::kYes: presence_ = Presence::kWhole; break;
    case hook::Attached::kLater: presence_ = Presence::kFromHereOn; break;
    default: refuse(why.data()); break;
  }
  return presence_;
}

std::vector<trace::AllocatorState> TorchAllocator::states() const {
  States states;
  const hook::StateSink sink{&states, take_settings, take_segment, take_block};
  std::vector<trace::AllocatorState> all;
  if (!is_recorded() || !state_(sink)) return all;
  for (auto& [device, state] : states.by_device) {
    state.settings = states.settings;
    // Of all streams and pools, by address.
    std::ranges::sort(state.segments, {}, &trace::AllocatorSegment::address);
    all.push_back(std::move(state));
  }
  return all;
}

}  // namespace interlace::collector
