#include "cupti_collector/record/signal_witness.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace interlace::collector {

namespace {

using std::chrono::milliseconds;

/// Those who signal each process of a group by itself take a moment to come to the last.
constexpr milliseconds kSameMoment{50};

/// In the witness: writes the number of each signal to the pipe until the parent has ended.
[[noreturn]] void watch(int pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  prctl(PR_SET_NAME, "signal witness");
  // Who reads the program's output waits for the last process that holds it.
  if (dup2(pipe, STDIN_FILENO) < 0 || close_range(STDOUT_FILENO, ~0U, 0) != 0) _exit(1);
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    const int signal = sigwaitinfo(&all, nullptr);
    const auto number = static_cast<unsigned char>(signal);
    if (signal > 0 && write(STDIN_FILENO, &number, 1) != 1) _exit(1);
  }
}

}  // namespace

SignalWitness::SignalWitness() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) watch(ends[1], parent);
  close(ends[1]);
  pipe_ = ends[0];
}

SignalWitness::~SignalWitness() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pipe_ >= 0) close(pipe_);
}

void SignalWitness::listen(milliseconds longest) {
  pollfd ready{pipe_, POLLIN, 0};
  if (pipe_ < 0 || poll(&ready, 1, static_cast<int>(longest.count())) <= 0) return;
  std::array<unsigned char, 256> numbers{};
  const ssize_t count = read(pipe_, numbers.data(), numbers.size());
  for (ssize_t i = 0; i < count; ++i) {
    const unsigned char number = numbers[static_cast<std::size_t>(i)];
    if (number < last_seen_.size()) last_seen_[number] = Clock::now();
  }
}

bool SignalWitness::saw(int signal) {
  const auto began = Clock::now();
  const auto until = began + kSameMoment;
  const auto is_seen = [&] {
    const auto& last = last_seen_[static_cast<std::size_t>(signal)];
    return last && *last > began - kSameMoment;
  };
  listen(milliseconds(0));
  for (auto now = began; !is_seen() && now < until && pipe_ >= 0; now = Clock::now()) {
    listen(std::chrono::duration_cast<milliseconds>(until - now) + milliseconds(1));
  }
  return is_seen();
}

}  // namespace interlace::collector
