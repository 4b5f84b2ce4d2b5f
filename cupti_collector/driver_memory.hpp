#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cupti_collector/records.hpp"
#include "simulator/trace/operation.hpp"

namespace interlace::collector {

/// Follows the memory that a process has of the driver. Its records say neither the thread that asked, which the call
/// with the same correlation does, nor, of what is given back, always the size.
class DriverMemory {
 public:
  struct Event {
    AllocationRecord record;
    std::int64_t correlation = 0;
    std::optional<std::int64_t> thread;  ///< none where the call is not recorded
    std::optional<Bytes> total;          ///< of device memory after it, where it changes that of a device
  };

  /// An event; it waits for its call.
  void add(const AllocationRecord& record, std::int64_t correlation);
  /// A call that gave or took memory, where there was such an event.
  void call(std::int64_t correlation, std::int64_t thread);
  /// The events whose call is known, and those that have waited since before the last `take`, by time.
  [[nodiscard]] std::vector<Event> take(bool all);

 private:
  void account(Event& event);

  std::unordered_map<std::uint64_t, Bytes> live_;  ///< by address
  std::map<std::uint32_t, Bytes> total_;           ///< by device
  std::vector<Event> waiting_;
  std::size_t old_ = 0;  ///< so many of the waiting were there before
};

}  // namespace interlace::collector
