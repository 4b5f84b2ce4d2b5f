#pragma once

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

/// The file of the running program.
[[nodiscard]] std::string this_program();

}  // namespace interlace::engine
