#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "simulator/cli/errors.hpp"
#include "simulator/cli/subcommands.hpp"

namespace interlace::cli {

namespace {

/// A program of another part, which a build lays beside this one; the simulator knows nothing else of it.
struct Part {
  const char* program;
  const char* missing;  ///< said where it is not there
  const char* advice;
};
constexpr Part kRecorder{"interlace-record", "recording is not part of this build",
                         "build the preset gpu-node, which needs the headers of CUDA 13"};
constexpr Part kCalibrator{"interlace-calibrate", "calibrating is not part of this build",
                           "build the preset engine-cuda, which needs CUDA 13 and NCCL"};

[[noreturn]] void become(const Part& part, const std::vector<std::string>& arguments) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / part.program;
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  if (errno == ENOENT) {
    throw Error(kPartNotBuilt, program.string(), part.missing, part.advice);
  }
  throw Error(kPartNotBuilt, program.string(), std::strerror(errno));
}

}  // namespace

namespace {

/// A subcommand whose words are all for that program, --help among them.
void add_part(CLI::App& app, Action& chosen, const char* name, const char* description, const Part& part) {
  CLI::App* command = app.add_subcommand(name, description);
  command->prefix_command();
  command->set_help_flag();
  command->fallthrough(false);
  command->callback(
      [command, &part, &chosen] { chosen = [command, &part](Console&) { become(part, command->remaining()); }; });
}

}  // namespace

void add_record(CLI::App& app, Action& chosen) {
  add_part(app, chosen, "record", "Record a CUDA program: interlace record [options] -- program args...", kRecorder);
}

void add_calibrate(CLI::App& app, Action& chosen) {
  add_part(app, chosen, "calibrate", "Measure this machine's GPUs, links and collectives into a profile", kCalibrator);
}

}  // namespace interlace::cli
