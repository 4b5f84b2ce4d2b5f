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

#include "cupti_collector/record/signal_witness.hpp"

namespace interlace::collector {

namespace {

/// Not waited for: this process's own faults, and those by which the terminal stops who uses it from the background.
constexpr std::array kLeftAlone{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTTIN, SIGTTOU};

/// Blocks the signals, so that they can be waited for, and has the end of children told of also where this process was
/// started with that ignored.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigfillset(&signals_);
    for (const int signal : kLeftAlone) sigdelset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    children_before_ = std::signal(SIGCHLD, SIG_DFL);
  }

  /// As this process found them: for the program.
  void restore() const {
    std::signal(SIGCHLD, children_before_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  /// Stops this process as the terminal does, so that its shell sees the job stopped.
  void stop() const {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    std::raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  }
  [[nodiscard]] siginfo_t wait() const {
    siginfo_t info{};
    while (sigwaitinfo(&signals_, &info) < 0 && errno == EINTR) {
    }
    return info;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
  void (*children_before_)(int) = SIG_DFL;
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

int wait_for(pid_t program, const BlockedSignals& signals, SignalWitness& witness,
             const std::function<void()>& on_toggle) {
  for (;;) {
    int status = 0;
    if (waitpid(program, &status, WNOHANG) == program) return status;
    const int signal = signals.wait().si_signo;
    if (signal == SIGCHLD) continue;
    if (signal == SIGUSR2 && on_toggle) {
      on_toggle();
      continue;
    }
    if (!witness.saw(signal)) kill(program, signal);
    if (signal == SIGTSTP) signals.stop();
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
  SignalWitness witness;
  const auto began = std::chrono::steady_clock::now();
  const pid_t program = fork();
  if (program < 0) {
    throw Error(kCannotRun, command.front(), std::string("no process can be made: ") + std::strerror(errno));
  }
  if (program == 0) become(command, pipe_ends[1], signals);
  close(pipe_ends[1]);
  const auto failure = failure_of(pipe_ends[0]);
  close(pipe_ends[0]);
  const int status = wait_for(program, signals, witness, on_toggle);
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
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, WTERMSIG(program.status));
    pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
    std::raise(WTERMSIG(program.status));
    constexpr int kSignalStatus = 128;  // as shells say it, for a signal that does not end us
    std::_Exit(kSignalStatus + WTERMSIG(program.status));
  }
  std::_Exit(WEXITSTATUS(program.status));
}

}  // namespace interlace::collector
