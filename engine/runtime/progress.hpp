#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace interlace::engine {

/// Where a rank's host stands: the ranges that it is in, and how often it has entered one. Written by that host, read
/// by whoever watches it.
class Progress {
 public:
  void entered(const std::string& range);
  void left() noexcept;

  /// The ranges, outermost first, joined by ", "; empty outside all.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] std::uint64_t steps() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> ranges_;
  std::uint64_t steps_ = 0;
};

}  // namespace interlace::engine
