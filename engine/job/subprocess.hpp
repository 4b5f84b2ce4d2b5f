#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace interlace::engine {

struct Finished {
  int status = 0;   ///< of exit, or 128 + the signal that ended it
  std::string out;  ///< its standard output
};

/// Runs a program, which keeps this process's environment and standard error, and waits for its end. Throws
/// std::system_error where it cannot be started.
[[nodiscard]] Finished run_program(const std::string& program, const std::vector<std::string>& arguments);

/// Starts a program beside this one, with these variables in its environment beside this process's own. Throws as
/// run_program().
[[nodiscard]] pid_t start_program(const std::string& program, const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables);

struct Ended {
  pid_t process = 0;
  int status = 0;  ///< as Finished::status

  bool operator==(const Ended&) const = default;
};
/// Waits until one of those ends that start_program() has started; none where none has by then.
[[nodiscard]] std::optional<Ended> wait_for_any(std::chrono::milliseconds limit);

/// From now on this process is killed when the one that started it ends, however that comes about. A starter that has
/// ended before is not noticed.
void end_with_starter();

/// The file of the running program.
[[nodiscard]] std::string this_program();

}  // namespace interlace::engine
