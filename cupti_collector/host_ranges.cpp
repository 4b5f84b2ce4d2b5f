#include "cupti_collector/host_ranges.hpp"

#include <algorithm>
#include <utility>

namespace interlace::collector {

void HostRanges::resumed(Nanoseconds time) {
  if (!gaps_.empty() && gaps_.back().end == kNever) gaps_.back().end = time;
}

bool HostRanges::is_in_gap(Nanoseconds start, Nanoseconds end) const {
  const auto after = std::ranges::upper_bound(gaps_, start, {}, &Interval::begin);
  return after != gaps_.begin() && end <= std::prev(after)->end;
}

void HostRanges::give(const Open& range, Nanoseconds end, bool is_open) const {
  if (is_in_gap(range.start, end)) return;
  NamedRange named{.thread = range.thread,
                   .name = range.name,
                   .start = range.start,
                   .end = end,
                   .is_of_library = range.is_of_library,
                   .is_open = is_open,
                   .is_operator = range.extra && range.extra->domain == HostEvents::kOperators,
                   .sequence_number = std::nullopt,
                   .forward_thread = std::nullopt,
                   .payload = std::nullopt,
                   .category = {}};
  if (named.is_operator) {
    const auto sequence = static_cast<std::int64_t>(range.extra->payload);
    if (sequence >= 0) named.sequence_number = sequence;
    if (range.extra->forward_thread != 0) named.forward_thread = range.extra->forward_thread;
  }
  std::string number;  // of a category that has no name
  if (range.extra && range.extra->has_payload) {
    named.payload = trace::Number{range.extra->payload_type, range.extra->payload};
  }
  if (range.extra && range.extra->category != 0) {
    const auto known = categories_.find({range.extra->domain, range.extra->category});
    number = "category " + std::to_string(range.extra->category);
    named.category = known == categories_.end() ? std::string_view(number) : known->second;
  }
  take_(named);
}

void HostRanges::add(const HostEvents::Event& event) {
  using Kind = HostEvents::Kind;
  const auto open = [&] {
    return Open{event.thread, std::string(event.name), event.time, event.is_of_library, event.extra};
  };
  switch (event.kind) {
    case Kind::kMark: give(open(), event.time); break;
    case Kind::kPush: pushed_[{event.thread, event.number}].push_back(open()); break;
    case Kind::kPop: {
      const auto stack = pushed_.find({event.thread, event.number});
      if (stack == pushed_.end()) {
        ++unmatched_;
        break;
      }
      give(stack->second.back(), event.time);
      stack->second.pop_back();
      if (stack->second.empty()) pushed_.erase(stack);
      break;
    }
    case Kind::kStart:
      // Where they are of two threads, the end may be read before its start.
      if (const auto end = ended_.extract(event.number)) {
        give(open(), end.mapped());
      } else {
        started_.insert_or_assign(event.number, open());
      }
      break;
    case Kind::kEnd:
      if (const auto start = started_.extract(event.number)) {
        give(start.mapped(), event.time);
      } else {
        ended_.insert_or_assign(event.number, event.time);
      }
      break;
    case Kind::kNameCategory:
      if (event.extra) categories_.insert_or_assign({event.extra->domain, event.extra->category}, event.name);
      break;
    case Kind::kNameThread:
    case Kind::kAllocator:
    case Kind::kStreamMade:
    case Kind::kCommunicator:
    case Kind::kNcclTask: break;
  }
}

std::int64_t HostRanges::give_open() {
  std::int64_t count = 0;
  for (const auto& [thread, ranges] : std::exchange(pushed_, {})) {
    for (const Open& range : ranges) give(range, range.start, true);
    count += static_cast<std::int64_t>(ranges.size());
  }
  for (const auto& [number, range] : std::exchange(started_, {})) {
    give(range, range.start, true);
    ++count;
  }
  unmatched_ += static_cast<std::int64_t>(std::exchange(ended_, {}).size());
  return count;
}

}  // namespace interlace::collector
