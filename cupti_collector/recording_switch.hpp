#pragma once

#include <atomic>

#include "cupti_collector/options.hpp"

namespace interlace::collector {

/// Whether recording is to be on. Many have a say, each in a place of its own, so that none undoes another's word:
///
/// - the wish: on or off, as the plan, the program, its steps or the control file said last; it may come before the
///   first CUDA call, when nothing can be turned on yet;
/// - the rest: recording grew faster than it may, until the next second;
/// - the end: nothing is recorded after that, whoever wishes it.
///
/// It is on where it is wished, does not rest and has not ended. Any thread; nobody waits here.
class RecordingSwitch {
 public:
  explicit RecordingSwitch(const Plan& plan) : is_wished_(!plan.begins_off()) {}

  void wish(bool is_on) { is_wished_ = is_on; }
  void rest(bool does) { rests_ = does; }
  void end() { has_ended_ = true; }

  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] bool is_on() const { return is_wished_ && !rests_ && !has_ended_; }

 private:
  std::atomic<bool> is_wished_;
  std::atomic<bool> rests_{false};
  std::atomic<bool> has_ended_{false};
};

}  // namespace interlace::collector
