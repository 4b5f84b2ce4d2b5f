#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "simulator/cli/errors.hpp"
#include "simulator/cli/subcommands.hpp"

namespace interlace::cli {

namespace {

/// A program of another part, which a build lays beside this one; the simulator knows nothing else of it.
struct Part {
  const char* program;
  const char* does;
  const char* missing;  ///< said where it is not there
  const char* advice;
  const char* document;
};
constexpr Part kRecorder{"interlace-record", "Record a CUDA program: interlace record [options] -- program args...",
                         "recording is not part of this build",
                         "build the preset gpu-node, which needs the headers of CUDA 13", "docs/recording.md"};
constexpr Part kCalibrator{"interlace-calibrate", "Measure this machine's GPUs, links and collectives into a profile",
                           "calibrating is not part of this build",
                           "build the preset engine-cuda, which needs CUDA 13 and NCCL", "docs/calibrate.md"};

bool asks_for_help(const std::vector<std::string>& arguments) {
  const auto of_program = std::ranges::find(arguments, "--");
  return std::any_of(arguments.begin(), of_program,
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

/// Does not return where the part is there.
void become(const Part& part, const std::vector<std::string>& arguments, const Console& console) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / part.program;
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  if (errno == ENOENT) {
    if (asks_for_help(arguments)) {
      console.out() << part.does << "\nHere " << part.missing << ": " << part.advice << ".\n"
                    << part.document << " tells how it is used.\n";
      return;
    }
    throw Error(kPartNotBuilt, program.string(), part.missing, part.advice);
  }
  throw Error(kPartNotBuilt, program.string(), std::strerror(errno));
}

constexpr const char* kRecord = "record";
constexpr const char* kCalibrate = "calibrate";

void add_part(CLI::App& app, Action& chosen, const char* name, const Part& part,
              const std::vector<std::string>& words) {
  app.add_subcommand(name, part.does)->callback([&chosen, &part, words] {
    chosen = [&part, words](Console& console) { become(part, words, console); };
  });
}

}  // namespace

std::vector<std::string> take_words_of_part(std::vector<std::string>& words) {
  const auto name = std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  if (name == words.end() || (*name != kRecord && *name != kCalibrate)) return {};
  std::vector<std::string> behind(name + 1, words.end());
  words.erase(name + 1, words.end());
  return behind;
}

void add_record(CLI::App& app, Action& chosen, const std::vector<std::string>& words) {
  add_part(app, chosen, kRecord, kRecorder, words);
}

void add_calibrate(CLI::App& app, Action& chosen, const std::vector<std::string>& words) {
  add_part(app, chosen, kCalibrate, kCalibrator, words);
}

}  // namespace interlace::cli
