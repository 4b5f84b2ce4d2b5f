#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cupti_collector/host_events.hpp"
#include "simulator/base/interval.hpp"

namespace interlace::collector {

/// A span that a thread of the program named, or, where it has no length, a mark.
struct NamedRange {
  std::int64_t thread = 0;
  std::string_view name;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  bool is_of_library = false;
  bool is_open = false;                         ///< its end is not known: it is given no length
  bool is_operator = false;                     ///< autograd says it, not the program
  std::optional<std::int64_t> sequence_number;  ///< of an operator
  std::optional<std::int64_t> forward_thread;   ///< of one of a backward, as PyTorch counts threads
  std::optional<trace::Number> payload;
  std::string_view category;  ///< empty: none
};

/// Joins begins and ends of ranges. What lies wholly in a time when recording was stopped is left out; ranges are
/// followed through such times, so that none is cut or joined wrongly.
class HostRanges {
 public:
  using Take = std::function<void(const NamedRange&)>;
  explicit HostRanges(Take take) : take_(std::move(take)) {}

  void add(const HostEvents::Event& event);
  /// Recording stopped at this time, or went on; times grow.
  void stopped(Nanoseconds time) { gaps_.push_back({time, kNever}); }
  void resumed(Nanoseconds time);
  /// Gives the ranges that are still open: nothing tells how long they would have been, so they are given without
  /// length. How many.
  std::int64_t give_open();
  /// Ends without a begin; those of ranges with a number are known after give_open.
  [[nodiscard]] std::int64_t unmatched() const { return unmatched_; }

 private:
  static constexpr Nanoseconds kNever = INT64_MAX;
  struct Open {
    std::int64_t thread = 0;
    std::string name;
    Nanoseconds start = 0;
    bool is_of_library = false;
    std::optional<HostEvents::Extra> extra;
  };
  [[nodiscard]] bool is_in_gap(Nanoseconds start, Nanoseconds end) const;
  void give(const Open& range, Nanoseconds end, bool is_open = false) const;

  Take take_;
  std::map<std::tuple<std::int64_t, std::uint32_t>, std::vector<Open>> pushed_;  ///< by thread and domain
  std::map<std::uint32_t, Open> started_;                                        ///< by number
  std::map<std::uint32_t, Nanoseconds> ended_;                                   ///< by number, not started yet
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories_;    ///< by domain and number
  std::vector<Interval> gaps_;
  std::int64_t unmatched_ = 0;
};

}  // namespace interlace::collector
