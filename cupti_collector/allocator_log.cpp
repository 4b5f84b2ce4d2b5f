#include "cupti_collector/allocator_log.hpp"

#include <algorithm>

namespace interlace::collector {

void AllocatorLog::begin(std::string_view settings, bool is_whole) {
  settings_ = block_settings(settings);
  is_whole_ = is_whole;
}

void AllocatorLog::add(std::int64_t thread, Nanoseconds time, const hook::Event& event) {
  has_told_ = has_told_ || event.action != hook::Action::kRecordStream;
  if (event.action == hook::Action::kSnapshot) snapshots_.push_back(time);
  waiting_.push_back({thread, time, event, {}, {}, {}});
}

bool AllocatorLog::has_events() const {
  return std::ranges::any_of(waiting_,
                             [](const AllocatorRow& row) { return row.event.action != hook::Action::kSnapshot; });
}

std::vector<AllocatorRow> AllocatorLog::take(Nanoseconds until) {
  std::ranges::stable_sort(waiting_, {}, &AllocatorRow::time);
  const auto later = std::ranges::lower_bound(waiting_, until, {}, &AllocatorRow::time);
  std::vector<AllocatorRow> taken(waiting_.begin(), later);
  waiting_.erase(waiting_.begin(), later);
  for (AllocatorRow& row : taken) follow(row);
  return taken;
}

void AllocatorLog::follow(AllocatorRow& row) {
  const hook::Event& event = row.event;
  const auto bytes = static_cast<Bytes>(event.bytes);
  BlockBook& book = books_.try_emplace(event.device, settings_).first->second;
  switch (event.action) {
    case hook::Action::kAlloc: row.block = book.allocate(event.address, bytes); break;
    case hook::Action::kFreeRequested: row.block = book.request_free(event.address); break;
    case hook::Action::kFreeCompleted: row.block = book.complete_free(event.address); break;
    case hook::Action::kSegmentAlloc: book.map(event.address, bytes, event.stream, false); break;
    case hook::Action::kSegmentMap: book.map(event.address, bytes, event.stream, true); break;
    case hook::Action::kSegmentFree:
    case hook::Action::kSegmentUnmap: book.unmap(event.address, bytes); break;
    case hook::Action::kRecordStream: row.block = book.block_at(event.address); break;
    case hook::Action::kSnapshot:
    case hook::Action::kOutOfMemory: break;
  }
  if (!is_whole_ || !book.is_consistent()) return;
  row.allocated = book.allocated();
  row.reserved = book.reserved();
}

}  // namespace interlace::collector
