#include "simulator/cli/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "simulator/base/start_program.hpp"
#include "simulator/cli/errors.hpp"

namespace interlace::cli {

namespace {

using Clock = std::chrono::steady_clock;

// A file that is written to, open while this lives.
class Output {
 public:
  explicit Output(const std::filesystem::path& file)
      : descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw Error(kCannotStart, file.string(), std::strerror(errno), "its output goes there");
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// A file that is in memory alone.
class Memory {
 public:
  Memory() : descriptor_(memfd_create("answer", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(kCannotStart, "memfd_create", std::strerror(errno), "answers are kept there");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { close(descriptor_); }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

pid_t start(const ChildProcess& child) {
  const Output out(child.out);
  const Output log(child.log);
  try {
    return start_program({.program = child.program.string(),
                          .arguments = child.arguments,
                          .variables = child.environment,
                          .files = {{STDOUT_FILENO, out.descriptor()}, {STDERR_FILENO, log.descriptor()}}});
  } catch (const std::system_error& error) {
    throw Error(kCannotStart, child.program.string(), error.code().message(), "see whether it is built");
  }
}

}  // namespace

ChildEnd run_child(const ChildProcess& child) {
  const pid_t process = start(child);
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  constexpr std::chrono::seconds kTimeToEnd{10};
  ChildEnd end;
  Clock::time_point deadline = Clock::now() + child.limit;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) {
      end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return end;
    }
    if (ended < 0 && errno != EINTR) throw Error(kCannotStart, child.program.string(), std::strerror(errno));
    if (Clock::now() >= deadline) {
      kill(process, end.timed_out ? SIGKILL : SIGTERM);
      end.timed_out = true;
      deadline = Clock::now() + kTimeToEnd;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

ChildAnswer ask_child(const std::filesystem::path& program, std::vector<std::string> arguments,
                      std::chrono::seconds limit) {
  const Memory said;
  const ChildEnd end = run_child({program, std::move(arguments), {}, said.path(), "/dev/null", limit});
  std::ifstream in(said.path(), std::ios::binary);
  return {end, std::string(std::istreambuf_iterator<char>(in), {})};
}

}  // namespace interlace::cli
