#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::memory {

/// When the streams of a device are done with what was queued on them: what decides how long the free of a block waits
/// that they used.
class StreamDrains {
 public:
  /// Work that the host put on a stream, in the order in which it did.
  void add(std::uint32_t stream, Nanoseconds launched, Nanoseconds end);

  /// When all is done that was queued on the stream by `at`; `at` itself where that is earlier.
  [[nodiscard]] Nanoseconds drained(std::uint32_t stream, Nanoseconds at) const;

  /// The same for all streams.
  [[nodiscard]] Nanoseconds all_drained(Nanoseconds at) const;

 private:
  struct Entry {
    Nanoseconds launched = 0;
    Nanoseconds end = 0;  ///< of the latest so far
  };
  std::map<std::uint32_t, std::vector<Entry>> streams_;
};

}  // namespace interlace::memory
