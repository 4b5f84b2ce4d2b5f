#include "simulator/ingest/memory_snapshot/match.hpp"

#include <cstdlib>
#include <unordered_map>

namespace interlace::ingest::memory_snapshot {

namespace {

using trace::AllocationAction;

/// The history of one address, allocations or frees alone.
struct History {
  std::vector<std::size_t> events;
  std::vector<std::size_t> reports;
};

class Matcher {
 public:
  Matcher(std::span<const Event> events, std::span<const Report> reports)
      : events_(events), reports_(reports), report_of_(events.size()) {}

  std::vector<std::optional<std::size_t>> match() {
    std::unordered_map<std::uint64_t, History> allocations;
    std::unordered_map<std::uint64_t, History> frees;
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      (reports_[i].is_free ? frees : allocations)[reports_[i].address].reports.push_back(i);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const AllocationAction action = events_[i].action;
      const bool is_free = action == AllocationAction::kFreeRequested || action == AllocationAction::kFree;
      if (!is_free && action != AllocationAction::kAlloc) continue;
      auto& histories = is_free ? frees : allocations;
      if (const auto known = histories.find(events_[i].address); known != histories.end()) {
        known->second.events.push_back(i);
      }
    }
    for (const auto* histories : {&allocations, &frees}) {
      for (const auto& [address, history] : *histories) match(history);
    }
    return std::move(report_of_);
  }

 private:
  [[nodiscard]] Nanoseconds gap(std::size_t report, std::size_t event) const {
    return std::abs(reports_[report].time - events_[event].time);
  }

  void match(const History& history) {
    const auto& [events, reports] = history;
    std::size_t e = 0;
    std::size_t r = 0;
    while (e < events.size() && r < reports.size()) {
      const Nanoseconds late = reports_[reports[r]].time - events_[events[e]].time;
      const std::size_t events_left = events.size() - e;
      const std::size_t reports_left = reports.size() - r;
      if (late > kWidestGap) {  // NOLINT(bugprone-branch-clone): the same step for another reason
        ++e;
      } else if (late < -kWidestGap) {  // NOLINT(bugprone-branch-clone)
        ++r;
      } else if (events_left > reports_left && gap(reports[r], events[e + 1]) < std::abs(late)) {
        ++e;
      } else if (reports_left > events_left && gap(reports[r + 1], events[e]) < std::abs(late)) {
        ++r;
      } else {
        report_of_[events[e++]] = reports[r++];
      }
    }
  }

  std::span<const Event> events_;
  std::span<const Report> reports_;
  std::vector<std::optional<std::size_t>> report_of_;
};

}  // namespace

std::vector<std::optional<std::size_t>> match_events(std::span<const Event> events, std::span<const Report> reports) {
  return Matcher(events, reports).match();
}

}  // namespace interlace::ingest::memory_snapshot
