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

/// The collector's program, which a build lays beside this one; the simulator knows nothing else of it.
constexpr const char* kProgram = "interlace-record";

[[noreturn]] void become_recorder(const std::vector<std::string>& arguments) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / kProgram;
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  if (errno == ENOENT) {
    throw Error(kPartNotBuilt, program.string(), "recording is not part of this build",
                "build the preset gpu-node, which needs the headers of CUDA 13");
  }
  throw Error(kPartNotBuilt, program.string(), std::strerror(errno));
}

}  // namespace

void add_record(CLI::App& app, Action& chosen) {
  CLI::App* record =
      app.add_subcommand("record", "Record a CUDA program: interlace record [options] -- program args...");
  // All words behind it are for the recorder, --help among them.
  record->prefix_command();
  record->set_help_flag();
  record->fallthrough(false);
  record->callback([record, &chosen] { chosen = [record](Console&) { become_recorder(record->remaining()); }; });
}

}  // namespace interlace::cli
