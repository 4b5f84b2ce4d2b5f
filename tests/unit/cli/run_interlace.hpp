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

namespace interlace::cli {

/// What one run of the program left.
struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};

/// Runs the program that was built, as a shell would. Standard output and error are pipes and files, no terminal.
inline Finished interlace(const std::string& arguments) {
  const auto errors = std::filesystem::temp_directory_path() /
                      ("interlace_cli_test." + std::to_string(static_cast<long>(getpid())) + ".stderr");
  const std::string command = "LC_ALL=C.UTF-8 " INTERLACE_BINARY " " + arguments + " 2>" + errors.string();
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

/// The recordings of both ranks of a sample schedule.
inline std::string sample(const std::string& schedule) {
  const std::string folder = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/";
  return folder + schedule + ".r0.json.gz " + folder + schedule + ".r1.json.gz";
}

/// The memory snapshot of one of its ranks, which belongs to the recording "SCHEDULE.mem".
inline std::string snapshot(const std::string& schedule, int rank) {
  return INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/" + schedule + ".mem.r" + std::to_string(rank) +
         ".snap.pickle";
}

}  // namespace interlace::cli
