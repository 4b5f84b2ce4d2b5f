#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace interlace {

/// A program to start.
struct ProgramStart {
  std::string program;  ///< a file, or a name that is looked for in PATH
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;  ///< of its environment, beside this process's own
  std::map<int, int> files;                      ///< which of its descriptors is to be which of this process's
};

/// Starts it as a child of this process, to be waited for. It is killed when the thread that calls this ends, however
/// that comes about: nobody is left then who would wait for it, and it may hold GPUs. Throws std::system_error where it
/// cannot be started.
[[nodiscard]] pid_t start_program(const ProgramStart& start);

}  // namespace interlace
