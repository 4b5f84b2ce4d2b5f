#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "cupti_collector/clock.hpp"
#include "cupti_collector/host_events.hpp"
#include "cupti_collector/options.hpp"
#include "simulator/base/unrecorded_steps.hpp"

namespace interlace::collector {

/// Counts the steps of a program, says when its plan has recording begin and end, and how long steps took before. Any
/// thread.
class StepCounter {
 public:
  explicit StepCounter(const Plan& plan) : plan_(plan) {}

  struct Word {
    bool is_on = false;  ///< recording is to begin with this event; else it is to end
    /// The later half of the skipped steps, where it is long enough to tell something and nothing was recorded.
    std::optional<UnrecordedSteps> before;
  };
  [[nodiscard]] std::optional<Word> on(const HostEvents::Event& event, bool is_recording) noexcept {
    using Kind = HostEvents::Kind;
    const bool is_begin = event.kind == Kind::kMark || event.kind == Kind::kPush || event.kind == Kind::kStart;
    if (!is_begin || event.is_of_library) return std::nullopt;
    if (plan_.step_name.empty() || event.name != plan_.step_name) return std::nullopt;
    const std::int64_t before = steps_.fetch_add(1, std::memory_order_relaxed);
    if (before == plan_.skip - timed_ && !is_recording) timed_since_ = steady_time();
    if (before == plan_.skip) return Word{true, is_recording ? std::nullopt : timed()};
    if (plan_.steps > 0 && before == plan_.skip + plan_.steps) return Word{false, std::nullopt};
    return std::nullopt;
  }

 private:
  static constexpr std::int64_t kLeastTimed = 4;

  [[nodiscard]] std::optional<UnrecordedSteps> timed() const noexcept {
    const Nanoseconds since = timed_since_;
    if (since == 0 || timed_ < kLeastTimed) return std::nullopt;
    return UnrecordedSteps{timed_, steady_time() - since};
  }

  const Plan& plan_;
  std::int64_t timed_ = plan_.skip / 2;  ///< of the skipped steps; before them programs warm up
  std::atomic<Nanoseconds> timed_since_{0};
  std::atomic<std::int64_t> steps_{0};
};

}  // namespace interlace::collector
