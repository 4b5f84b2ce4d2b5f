#include "cupti_collector/record/launch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace interlace::collector {

namespace {

/// Those that end or steer a program, and the one that tells of its end.
constexpr std::array kSignals{SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// Blocks the signals while it lives, so that they can be waited for.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&signals_);
    for (const int signal : kSignals) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { restore(); }

  void restore() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  [[nodiscard]] siginfo_t wait() const {
    siginfo_t info{};
    while (sigwaitinfo(&signals_, &info) < 0 && errno == EINTR) {
    }
    return info;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

/// In the child: becomes the program, or tells the parent why not.
[[noreturn]] void become(const std::vector<std::string>& command, int failure_pipe, const BlockedSignals& signals) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  signals.restore();
  execvp(arguments.front(), arguments.data());
  const int failure = errno;
  static_cast<void>(!write(failure_pipe, &failure, sizeof(failure)));
  _exit(1);
}

/// What the child wrote before it ended; none where it became the program.
std::optional<int> failure_of(int failure_pipe) {
  int failure = 0;
  const ssize_t bytes = read(failure_pipe, &failure, sizeof(failure));
  return bytes == sizeof(failure) ? std::optional(failure) : std::nullopt;
}

int wait_for(pid_t program, const BlockedSignals& signals, const std::function<void()>& on_toggle) {
  for (;;) {
    int status = 0;
    if (waitpid(program, &status, WNOHANG) == program) return status;
    const siginfo_t signal = signals.wait();
    if (signal.si_signo == SIGUSR2 && on_toggle) {
      on_toggle();
      continue;
    }
    // The terminal sends to all of its foreground group, the program included.
    if (signal.si_signo != SIGCHLD && signal.si_code != SI_KERNEL) kill(program, signal.si_signo);
  }
}

}  // namespace

std::string ProgramEnd::in_words() const {
  if (WIFSIGNALED(status)) {
    return "by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  }
  return "with status " + std::to_string(WEXITSTATUS(status));
}

ProgramEnd run_program(const std::vector<std::string>& command,
                       const std::vector<std::pair<std::string, std::string>>& environment,
                       const std::function<void()>& on_toggle) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    throw Error(kCannotRun, command.front(), std::string("no pipe can be made: ") + std::strerror(errno));
  }
  const BlockedSignals signals;
  const auto began = std::chrono::steady_clock::now();
  const pid_t program = fork();
  if (program < 0) {
    throw Error(kCannotRun, command.front(), std::string("no process can be made: ") + std::strerror(errno));
  }
  if (program == 0) become(command, pipe_ends[1], signals);
  close(pipe_ends[1]);
  const auto failure = failure_of(pipe_ends[0]);
  close(pipe_ends[0]);
  const int status = wait_for(program, signals, on_toggle);
  if (failure) {
    throw Error(kCannotRun, command.front(), std::string("the program cannot be started: ") + std::strerror(*failure),
                "check its name and permissions");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return {status, took.count()};
}

void end_like(const ProgramEnd& program) {
  if (WIFSIGNALED(program.status)) {
    const rlimit no_core{0, 0};  // the program's own core file is the one of use
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(WTERMSIG(program.status), SIG_DFL);
    std::raise(WTERMSIG(program.status));
    constexpr int kSignalStatus = 128;  // as shells say it, for a signal that does not end us
    std::_Exit(kSignalStatus + WTERMSIG(program.status));
  }
  std::_Exit(WEXITSTATUS(program.status));
}

}  // namespace interlace::collector
