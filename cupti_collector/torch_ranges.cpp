#include "cupti_collector/torch_ranges.hpp"

#include <array>

#include "cupti_collector/torch_hook.hpp"

namespace interlace::collector {

void TorchRanges::look(const hook::RangeListener& listener, hook::Operators operators) {
  if (is_settled_) return;
  TorchHook library("libtorch_cpu.so", "libinterlace_torch_ranges.so");
  const TorchHook::Presence presence = library.look();
  is_settled_ = presence != TorchHook::Presence::kNone;
  why_ = library.why();
  if (presence != TorchHook::Presence::kLoaded) return;
  const auto attach = library.function<decltype(hook::interlace_torch_ranges_attach)>("interlace_torch_ranges_attach");
  std::array<char, 512> why{};
  if (attach == nullptr) {
    why_ = "it is of another build";
  } else if (!attach(listener, operators, why.data(), why.size())) {
    why_ = why.data();
  }
}

}  // namespace interlace::collector
