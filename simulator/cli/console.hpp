#pragma once

#include <chrono>
#include <iosfwd>
#include <span>
#include <string_view>

#include "simulator/base/diagnostics.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

/// The terminal as a subcommand sees it: results go to `out`, everything else to standard error.
class Console {
 public:
  /// Looks at the environment (NO_COLOR, TERM, COLUMNS, the locale) and at what standard output and error are.
  Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  /// Wipes the progress line.
  ~Console();

  /// --quiet: no progress, no notes.
  void silence() { quiet_ = true; }
  /// For tables on standard output.
  [[nodiscard]] const report::TextStyle& style() const { return style_; }
  [[nodiscard]] std::ostream& out() const;

  /// What is being done now: one line that the next replaces on a terminal; elsewhere a line of its own, but only once
  /// the program has run for some seconds.
  void progress(std::string_view doing);
  /// A paragraph on standard error that stays, wrapped.
  void note(std::string_view text);
  /// Each warning and data loss with what to do about it, then the line of `quality`; for commands whose answer does
  /// not tell them.
  void flaws(std::span<const Diagnostic> diagnostics);
  /// One line that sums the diagnostics up, where there are any. whose: said where there are those of several.
  void quality(std::span<const Diagnostic> diagnostics, std::string_view whose = {});
  /// Wipes the progress line. To be called before anything else is written.
  void done();

 private:
  report::TextStyle style_;
  bool error_is_terminal_ = false;
  bool quiet_ = false;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace interlace::cli
