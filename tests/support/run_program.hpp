#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace interlace::testing {

/// What one run of a program left.
struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};

/// Runs a command line as a shell would. Standard output and error are pipes and files, no terminal.
inline Finished run_program(const std::string& command_line) {
  const auto errors = std::filesystem::temp_directory_path() /
                      ("interlace_test." + std::to_string(static_cast<long>(getpid())) + ".stderr");
  const std::string command = "LC_ALL=C.UTF-8 " + command_line + " 2>" + errors.string();
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  Finished run;
  std::array<char, 65536> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) run.out.append(buffer.data(), size);
  const int status = pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ifstream in(errors, std::ios::binary);
  run.err.assign(std::istreambuf_iterator<char>(in), {});
  std::filesystem::remove(errors);
  return run;
}

}  // namespace interlace::testing
