#include "engine/job/subprocess.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

#include "simulator/base/start_program.hpp"

namespace interlace::engine {

namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// A pipe whose ends close by themselves, and in children.
class Pipe {
 public:
  Pipe() { check(pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe"); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(Pipe&&) = delete;
  ~Pipe() {
    close(ends_[0]);
    close_write();
  }

  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  std::string read_all() {
    std::string all;
    std::array<char, 65536> buffer{};
    while (true) {
      const ssize_t size = read(ends_[0], buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  std::array<int, 2> ends_{};
};

int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

void hear_of_ended_children() { check(std::signal(SIGCHLD, SIG_DFL) == SIG_ERR ? errno : 0, "signal"); }

Finished run_program(const std::string& program, const std::vector<std::string>& arguments) {
  Pipe out;
  const pid_t child = start_program(
      {.program = program, .arguments = arguments, .variables = {}, .files = {{STDOUT_FILENO, out.write_end()}}});
  out.close_write();
  Finished finished{.status = 0, .out = out.read_all()};
  int status = 0;
  while (waitpid(child, &status, 0) < 0) check(errno == EINTR ? 0 : errno, "waitpid");
  finished.status = exit_status(status);
  return finished;
}

std::optional<Ended> wait_for_any(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kBetweenLooks{10};
  const auto stop = std::chrono::steady_clock::now() + limit;
  while (true) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process > 0) return Ended{.process = process, .status = exit_status(status)};
    check(process == 0 || errno == EINTR ? 0 : errno, "waitpid");
    if (std::chrono::steady_clock::now() >= stop) return std::nullopt;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace interlace::engine
