#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "cupti_collector/host_events.hpp"
#include "cupti_collector/options.hpp"

namespace interlace::collector {

/// Counts the steps of a program, and says when its plan has recording begin and end. Any thread.
class StepCounter {
 public:
  explicit StepCounter(const Plan& plan) : plan_(plan) {}

  /// True where recording is to begin with this event, false where it is to end.
  [[nodiscard]] std::optional<bool> on(const HostEvents::Event& event) noexcept {
    using Kind = HostEvents::Kind;
    const bool is_begin = event.kind == Kind::kMark || event.kind == Kind::kPush || event.kind == Kind::kStart;
    if (!is_begin || event.is_of_library) return std::nullopt;
    if (plan_.step_name.empty() || event.name != plan_.step_name) return std::nullopt;
    const std::int64_t before = steps_.fetch_add(1, std::memory_order_relaxed);
    if (before == plan_.skip) return true;
    if (plan_.steps > 0 && before == plan_.skip + plan_.steps) return false;
    return std::nullopt;
  }

 private:
  const Plan& plan_;
  std::atomic<std::int64_t> steps_{0};
};

}  // namespace interlace::collector
