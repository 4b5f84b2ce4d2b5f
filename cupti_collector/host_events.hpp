#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// What threads of the program say of themselves: marks and nested ranges. Each thread writes to a ring of its own,
/// without locks, and the writer thread empties them. A full ring loses what comes, which is counted.
class HostEvents {
 public:
  enum class Kind : std::uint16_t { kMark, kPush, kPop };
  struct Event {
    Kind kind = Kind::kMark;
    std::int64_t thread = 0;
    Nanoseconds time = 0;
    std::string_view name;  ///< empty for a pop; lives until the callback returns
  };

  HostEvents();
  HostEvents(const HostEvents&) = delete;
  HostEvents& operator=(const HostEvents&) = delete;
  /// REQUIRES: no thread adds any more.
  ~HostEvents();

  /// Any thread. name: cut to 4 KiB.
  void add(Kind kind, std::string_view name) noexcept;
  /// Gives all events so far; those of one thread in their order. One thread.
  void drain(const std::function<void(const Event&)>& take);
  [[nodiscard]] std::int64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Ring;
  struct ThreadRing;
  [[nodiscard]] Ring* ring_of_thread() noexcept;

  std::uint64_t number_;  ///< of this object in the process: an address may come again
  std::atomic<Ring*> rings_{nullptr};
  std::atomic<std::int64_t> lost_{0};
};

}  // namespace interlace::collector
