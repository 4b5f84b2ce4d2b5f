#include "simulator/base/start_program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

namespace interlace {

namespace {

// Words as exec takes them; they live as long as this.
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

Words arguments_of(const ProgramStart& start) {
  std::vector<std::string> words{start.program};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  return Words(std::move(words));
}

Words environment_of(const ProgramStart& start) {
  std::map<std::string, std::string> variables = start.variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t sign = line.find('=');
    if (sign != std::string_view::npos) variables.emplace(line.substr(0, sign), line.substr(sign + 1));
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(std::string(name).append("=").append(value));
  return Words(std::move(lines));
}

// In the child, where only what a signal handler may call is safe: becomes the program, or gives the reason why not.
int become(const ProgramStart& start, Words& arguments, Words& environment, pid_t starter) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (getppid() != starter) return ESRCH;  // has ended before
  for (const auto& [its, here] : start.files) {
    if (dup2(here, its) < 0) return errno;
  }
  execvpe(start.program.c_str(), arguments.get(), environment.get());
  return errno;
}

}  // namespace

// posix_spawn() cannot ask for the signal at the starter's end.
pid_t start_program(const ProgramStart& start) {
  Words arguments = arguments_of(start);
  Words environment = environment_of(start);
  const auto fail = [&](int error) { throw std::system_error(error, std::generic_category(), start.program); };
  std::array<int, 2> failure{};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) fail(errno);
  const pid_t starter = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const int reason = become(start, arguments, environment, starter);
    static_cast<void>(!write(failure[1], &reason, sizeof(reason)));
    constexpr int kCannotRun = 127;
    _exit(kCannotRun);
  }
  int reason = child < 0 ? errno : 0;
  close(failure[1]);
  if (child > 0 && read(failure[0], &reason, sizeof(reason)) > 0) waitpid(child, nullptr, 0);
  close(failure[0]);
  if (reason != 0) fail(reason);
  return child;
}

}  // namespace interlace
