#include "simulator/cli/console.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>

#include "simulator/cli/terminal.hpp"
#include "simulator/report/diagnostics_table.hpp"

namespace interlace::cli {

namespace {

constexpr std::chrono::seconds kLongWork{3};
constexpr std::size_t kHangingIndent = 2;  // of what follows the first line of a note

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
