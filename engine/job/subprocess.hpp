#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace interlace::engine {

/// Makes ends of children be told to this process, whatever it inherited: where whoever started it ignored SIGCHLD, the
/// system would forget them before anybody asks.
void hear_of_ended_children();

struct Finished {
  int status = 0;   ///< of exit, or 128 + the signal that ended it
  std::string out;  ///< its standard output
};

/// Runs a program, which keeps this process's environment and standard error, and waits for its end. It
/// ends with this one, and where it cannot be started that throws, as in interlace::start_program().
[[nodiscard]] Finished run_program(const std::string& program, const std::vector<std::string>& arguments);

struct Ended {
  pid_t process = 0;
  int status = 0;  ///< as Finished::status

  bool operator==(const Ended&) const = default;
};
/// Waits until one of those ends that start_program() has started; none where none has by then.
[[nodiscard]] std::optional<Ended> wait_for_any(std::chrono::milliseconds limit);

/// The file of the running program.
[[nodiscard]] std::string this_program();

}  // namespace interlace::engine
