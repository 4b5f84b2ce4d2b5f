#include "engine/job/subprocess.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

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

class FileActions {
 public:
  FileActions() { check(posix_spawn_file_actions_init(&actions_), "posix_spawn"); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  FileActions(FileActions&&) = delete;
  FileActions& operator=(FileActions&&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// As posix_spawn() takes words; they live as long as this.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

Words argv_of(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Words(std::move(words));
}

// This process's environment with these variables.
Words environment_with(std::map<std::string, std::string> variables) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    const std::size_t sign = line.find('=');
    if (sign != std::string::npos) variables.emplace(line.substr(0, sign), line.substr(sign + 1));
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + '=' + value);
  return Words(std::move(lines));
}

int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Finished run_program(const std::string& program, const std::vector<std::string>& arguments) {
  Pipe out;
  FileActions actions;
  check(posix_spawn_file_actions_adddup2(actions.get(), out.write_end(), STDOUT_FILENO), "posix_spawn");
  pid_t child = 0;
  Words argv = argv_of(program, arguments);
  check(posix_spawn(&child, program.c_str(), actions.get(), nullptr, argv.get(), environ), program.c_str());
  out.close_write();
  Finished finished{.status = 0, .out = out.read_all()};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.status = exit_status(status);
  return finished;
}

pid_t start_program(const std::string& program, const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& variables) {
  Words argv = argv_of(program, arguments);
  Words environment = environment_with(variables);
  pid_t child = 0;
  check(posix_spawn(&child, program.c_str(), nullptr, nullptr, argv.get(), environment.get()), program.c_str());
  return child;
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

void end_with_starter() { check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ? 0 : errno, "prctl"); }

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace interlace::engine
