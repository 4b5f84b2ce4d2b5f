#include "simulator/cli/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "simulator/cli/errors.hpp"

namespace interlace::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Words as posix_spawn() takes them; they live as long as this.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char** get() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(std::map<std::string, std::string> variables) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t sign = line.find('=');
    if (sign != std::string_view::npos) variables.emplace(line.substr(0, sign), line.substr(sign + 1));
  }
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

class Outputs {
 public:
  Outputs(const std::filesystem::path& out, const std::filesystem::path& log) {
    posix_spawn_file_actions_init(&actions_);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    constexpr mode_t kMode = 0644;
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, out.c_str(), kFlags, kMode);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, log.c_str(), kFlags, kMode);
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  ~Outputs() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

ChildEnd run_child(const ChildProcess& child) {
  std::vector<std::string> all{child.program.string()};
  all.insert(all.end(), child.arguments.begin(), child.arguments.end());
  Words arguments(std::move(all));
  Words environment(environment_with(child.environment));
  const Outputs outputs(child.out, child.log);
  pid_t process = 0;
  const int failure =
      posix_spawnp(&process, child.program.c_str(), outputs.get(), nullptr, arguments.get(), environment.get());
  if (failure != 0)
    throw Error(kCannotStart, child.program.string(), std::strerror(failure), "see whether it is built");

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

}  // namespace interlace::cli
