#include "simulator/memory/stream_drains.hpp"

#include <algorithm>

namespace interlace::memory {

void StreamDrains::add(std::uint32_t stream, Nanoseconds launched, Nanoseconds end) {
  std::vector<Entry>& entries = streams_[stream];
  entries.push_back({launched, entries.empty() ? end : std::max(end, entries.back().end)});
}

Nanoseconds StreamDrains::drained(std::uint32_t stream, Nanoseconds at) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return at;
  const auto after = std::ranges::upper_bound(found->second, at, {}, &Entry::launched);
  return after == found->second.begin() ? at : std::max(at, (after - 1)->end);
}

Nanoseconds StreamDrains::all_drained(Nanoseconds at) const {
  Nanoseconds last = at;
  for (const auto& [stream, entries] : streams_) last = std::max(last, drained(stream, at));
  return last;
}

}  // namespace interlace::memory
