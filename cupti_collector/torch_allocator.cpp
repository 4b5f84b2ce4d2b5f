#include "cupti_collector/torch_allocator.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

namespace interlace::collector {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTorch = "libc10_cuda.so";
constexpr const char* kHook = "libinterlace_torch_allocator.so";

/// The folder of the library that this code is in.
fs::path own_folder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &where) == 0 || where.dli_fname == nullptr) return {};
  return fs::path(where.dli_fname).parent_path();
}

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
  if (presence_ != Presence::kNone || take == nullptr) return presence_;
  if (dlopen(kTorch, RTLD_NOW | RTLD_NOLOAD) == nullptr) return presence_;
  const fs::path file = own_folder() / kHook;
  std::error_code failure;
  if (!fs::exists(file, failure)) {
    refuse(std::string(kHook) + " is not beside the collector library (a build with INTERLACE_TORCH_DIR makes it)");
    return presence_;
  }
  // Never closed: the program's allocator leads to it.
  void* library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): of this thread's last call
    const char* error = dlerror();
    refuse(error == nullptr ? "it cannot be loaded" : error);
    return presence_;
  }
  const auto attach = reinterpret_cast<decltype(&hook::interlace_torch_allocator_attach)>(
      dlsym(library, "interlace_torch_allocator_attach"));
  state_ = reinterpret_cast<decltype(state_)>(dlsym(library, "interlace_torch_allocator_state"));
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
