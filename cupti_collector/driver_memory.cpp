#include "cupti_collector/driver_memory.hpp"

#include <algorithm>
#include <utility>

namespace interlace::collector {

void DriverMemory::add(const AllocationRecord& record, std::int64_t correlation) {
  waiting_.push_back({record, correlation, std::nullopt, std::nullopt});
}

void DriverMemory::account(Event& event) {
  const AllocationRecord& record = event.record;
  if (!record.is_release) {
    live_.insert_or_assign(record.address, record.bytes);
  } else if (const auto known = live_.extract(record.address); known && record.bytes == 0) {
    event.record.bytes = known.mapped();
  }
  // What a stream orders comes out of a pool of the driver.
  if (record.memory != MemoryClass::kDevice || record.stream) return;
  Bytes& total = total_[record.device];
  total += record.is_release ? -record.bytes : record.bytes;
  event.total = total;
}

void DriverMemory::call(std::int64_t correlation, std::int64_t thread) {
  for (Event& event : waiting_) {
    if (event.correlation == correlation) event.thread = thread;
  }
}

std::vector<DriverMemory::Event> DriverMemory::take(bool all) {
  std::vector<Event> taken;
  std::vector<Event> left;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    (all || waiting_[i].thread || i < old_ ? taken : left).push_back(waiting_[i]);
  }
  waiting_ = std::move(left);
  old_ = waiting_.size();
  // Records of several threads come thread by thread.
  std::ranges::stable_sort(taken, {}, [](const Event& event) { return event.record.time; });
  for (Event& event : taken) account(event);
  return taken;
}

}  // namespace interlace::collector
