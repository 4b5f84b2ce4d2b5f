#include "simulator/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace interlace::cli {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread starts
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

std::optional<std::size_t> terminal_width() {
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 140;
  const std::string_view said = environment("COLUMNS");
  std::size_t columns = 0;
  if (std::from_chars(said.data(), said.data() + said.size(), columns).ec != std::errc()) {
    winsize window{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) columns = window.ws_col;
  }
  return columns == 0 ? std::nullopt : std::optional(std::clamp(columns, kNarrowest, kWidest));
}

}  // namespace interlace::cli
