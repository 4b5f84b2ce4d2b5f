#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace interlace::cli {

/// A program to run, and where its output goes.
struct ChildProcess {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  ///< beside this process's own
  std::filesystem::path out;                       ///< file for its standard output
  std::filesystem::path log;                       ///< file for its standard error
  std::chrono::seconds limit{600};                 ///< after which it is told to end, and ten seconds later killed
};

struct ChildEnd {
  int status = 0;  ///< of exit, or 128 + the signal that ended it
  bool timed_out = false;
};

/// Runs it to its end. It is killed where this process ends before, however that comes about. Throws
/// Error(cli.cannot_start).
[[nodiscard]] ChildEnd run_child(const ChildProcess& child);

/// How a program ended, and what it wrote to its standard output.
struct ChildAnswer {
  ChildEnd end;
  std::string text;
};

/// Runs a program to hear what it says, without a file of it; its standard error is left out. Throws
/// Error(cli.cannot_start).
[[nodiscard]] ChildAnswer ask_child(const std::filesystem::path& program, std::vector<std::string> arguments,
                                    std::chrono::seconds limit);

}  // namespace interlace::cli
