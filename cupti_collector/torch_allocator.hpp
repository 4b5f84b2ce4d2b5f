#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cupti_collector/torch_hooks/allocator_interface.hpp"
#include "simulator/base/units.hpp"
#include "simulator/trace/allocator_state.hpp"

namespace interlace::collector {

/// PyTorch's caching allocator, where this process has one: finds LibTorch's CUDA half once it is loaded, then loads
/// libinterlace_torch_allocator.so from beside this library and has it attached. Best before the allocator is made,
/// which is where the program's first CUDA call comes from; later it works too. One thread at a time.
class TorchAllocator {
 public:
  /// What the program has of it.
  enum class Presence : std::uint8_t { kNone, kWhole, kFromHereOn, kRefused };

  /// Looks whether it is there now, and attaches; again only where there was none. take: where events go.
  Presence look(hook::Take take);
  /// Whether there is nothing more to look for.
  [[nodiscard]] bool is_settled() const { return presence_ != Presence::kNone; }
  /// Why it was refused; empty where it was not.
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] bool is_recorded() const { return presence_ == Presence::kWhole || presence_ == Presence::kFromHereOn; }
  /// What it holds, a device each, without rank and time; none where it cannot be asked. The allocator's lock is taken
  /// meanwhile.
  [[nodiscard]] std::vector<trace::AllocatorState> states() const;

 private:
  void refuse(std::string why);

  Presence presence_ = Presence::kNone;
  std::string why_;
  decltype(&hook::interlace_torch_allocator_state) state_ = nullptr;
};

}  // namespace interlace::collector
