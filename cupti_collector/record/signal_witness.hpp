#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>

namespace interlace::collector {

/// Tells whether a signal that this process received was sent to it alone, or to others of its process group as well,
/// as terminals, `timeout`, `kill -- -GROUP` and batch systems do. A process cannot see that of a signal, so another
/// one of the group, which does nothing else, tells what it received.
class SignalWitness {
 public:
  /// REQUIRES: all signals are blocked that it is to see. Where no process can be made it sees none.
  SignalWitness();
  SignalWitness(const SignalWitness&) = delete;
  SignalWitness& operator=(const SignalWitness&) = delete;
  ~SignalWitness();

  /// Whether it received this signal too, at about the same time. Waits for that for some milliseconds.
  [[nodiscard]] bool saw(int signal);

 private:
  void listen(std::chrono::milliseconds longest);

  using Clock = std::chrono::steady_clock;
  pid_t process_ = -1;
  int pipe_ = -1;
  std::array<std::optional<Clock::time_point>, NSIG> last_seen_;
};

}  // namespace interlace::collector
