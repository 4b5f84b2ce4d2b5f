#pragma once

#include <string>

#include "cupti_collector/torch_hooks/ranges_interface.hpp"

namespace interlace::collector {

/// The ranges that PyTorch tells of in this process (`record_function`, and operators of autograd): finds LibTorch once
/// it is loaded, then loads libinterlace_torch_ranges.so from beside this library. One thread at a time.
class TorchRanges {
 public:
  /// Looks whether it is there now, and has the listener told from then on; again only where there was none.
  void look(const hook::RangeListener& listener, hook::Operators operators);
  /// Whether there is nothing more to look for.
  [[nodiscard]] bool is_settled() const { return is_settled_; }
  /// Why nothing is told of; empty where that is not so.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  bool is_settled_ = false;
  std::string why_;
};

}  // namespace interlace::collector
