#include "simulator/cli/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "simulator/report/diagnostics_table.hpp"

namespace interlace::cli {

namespace {

constexpr std::chrono::seconds kLongWork{3};
constexpr std::size_t kHangingIndent = 2;  // of what follows the first line of a note

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread starts
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// Whether the user's locale, as POSIX orders the variables, is one of UTF-8.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

/// Columns of the terminal that standard output goes to; COLUMNS says more. Lines of fewer than 60 hold no table, and
/// longer than 140 are hard to read.
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

}  // namespace

Console::Console() : started_(std::chrono::steady_clock::now()) {
  const bool plain = !environment("NO_COLOR").empty() || environment("TERM") == "dumb";
  style_.colour = isatty(STDOUT_FILENO) != 0 && !plain;
  if (const auto width = terminal_width()) style_.width = *width;
  style_.unicode = locale_is_utf8();
  error_is_terminal_ = isatty(STDERR_FILENO) != 0 && environment("TERM") != "dumb";
}

Console::~Console() { done(); }

std::ostream& Console::out() const { return std::cout; }

void Console::progress(std::string_view doing) {
  if (quiet_) return;
  if (error_is_terminal_) {
    std::cerr << "\r\x1b[K" << doing << " ..." << std::flush;
    line_open_ = true;
  } else if (std::chrono::steady_clock::now() - started_ > kLongWork) {
    std::cerr << doing << '\n';
  }
}

void Console::note(std::string_view text) {
  if (quiet_) return;
  done();
  std::string lead;
  for (const std::string& line : report::wrapped(text, style_.width - kHangingIndent)) {
    std::cerr << lead << line << '\n';
    lead.assign(kHangingIndent, ' ');
  }
}

void Console::flaws(std::span<const Diagnostic> diagnostics) {
  for (const std::string& flaw : report::flaws_in_full(diagnostics)) note(flaw);
  quality(diagnostics);
}

void Console::quality(std::span<const Diagnostic> diagnostics, std::string_view whose) {
  const std::string summary = report::diagnostics_summary(diagnostics);
  if (summary.empty()) return;
  note(whose.empty() ? summary : std::string(whose) + ": " + summary);
}

void Console::done() {
  if (!line_open_) return;
  std::cerr << "\r\x1b[K" << std::flush;
  line_open_ = false;
}

}  // namespace interlace::cli
