#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"

namespace interlace::collector {

inline constexpr ErrorCode kCannotRun{"record.cannot_run"};

/// How a program ended.
struct ProgramEnd {
  int status = 0;  ///< as waitpid gives it
  double seconds = 0;

  /// "with status 3", "by signal 9 (Killed)".
  [[nodiscard]] std::string in_words() const;
};

/// Runs a program with more variables in its environment and waits for its end. It keeps standard input, output and
/// error, the terminal and the process group, so that it is signalled, stopped and killed with its group as without
/// this process in between. What is sent to this process alone is passed on (see SignalWitness). on_toggle, where there
/// is one, takes SIGUSR2 in the program's place. Signals stay blocked here until `end_like`. Throws Error
/// record.cannot_run where it cannot be started.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& command,
                                     const std::vector<std::pair<std::string, std::string>>& environment,
                                     const std::function<void()>& on_toggle = {});

/// Ends this process as the program ended: by the same signal, or with the same status.
[[noreturn]] void end_like(const ProgramEnd& program);

}  // namespace interlace::collector
