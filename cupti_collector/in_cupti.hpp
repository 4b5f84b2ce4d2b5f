#pragma once

#include <atomic>

namespace interlace::collector {

/// While it lives the writer is within CUPTI, which may hang, and not at the disk, which may be slow: the program's end
/// waits for the one less long than for the other.
class InCupti {
 public:
  /// flag: where that is told; none where nobody asks.
  explicit InCupti(std::atomic<bool>* flag) : flag_(flag), was_(flag != nullptr && flag->exchange(true)) {}
  InCupti(const InCupti&) = delete;
  InCupti& operator=(const InCupti&) = delete;
  ~InCupti() {
    if (flag_ != nullptr) *flag_ = was_;
  }

 private:
  std::atomic<bool>* flag_;
  bool was_;
};

}  // namespace interlace::collector
