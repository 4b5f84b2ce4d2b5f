#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/session_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::collector {

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One run of `interlace-record` over the fake program, and what it left.
struct Recorded {
  std::unique_ptr<testing::TemporaryFolder> folder;
  int status = 0;  ///< of waitpid
  std::string out;
  std::string err;

  [[nodiscard]] std::filesystem::path file(int rank = 0) const {
    return folder->path() / "trace" / ("rank" + std::to_string(rank) + ".ilt");
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder->path() / "trace")) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

/// A trace read back, with what was said of it.
struct ReadBack {
  Diagnostics diagnostics;
  trace::Trace trace;

  explicit ReadBack(const std::filesystem::path& file) : trace(trace::read_ilt(file, diagnostics)) {}

  [[nodiscard]] std::vector<trace::OperationId> named(std::string_view name) const {
    std::vector<trace::OperationId> found;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      if (trace.name({i}) == name) found.push_back({i});
    }
    return found;
  }
};

/// Runs `[environment] interlace-record [options] -- program` as a shell does. `exec` replaces the shell, so that the
/// status is the program's own.
inline Recorded record_program(const std::string& program, const std::string& options = {},
                               const std::string& environment = {}) {
  Recorded run{std::make_unique<testing::TemporaryFolder>(), 0, {}, {}};
  const std::string base = run.folder->path().string();
  const std::string command = "exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " + environment +
                              " " INTERLACE_RECORD_BINARY " --out " + base + "/trace " + options + " -- " + program +
                              " >" + base + "/out 2>" + base + "/err";
  run.status = std::system(command.c_str());
  run.out = text_of(base + "/out");
  run.err = text_of(base + "/err");
  return run;
}

/// The same of a scenario of fake_program.
inline Recorded record(const std::string& scenario, const std::string& options = {},
                       const std::string& environment = {}) {
  return record_program(FAKE_PROGRAM " " + scenario, options, environment);
}

}  // namespace interlace::collector
