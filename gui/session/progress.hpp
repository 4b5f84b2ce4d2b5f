#pragma once

#include <functional>
#include <stop_token>
#include <string>

namespace interlace::gui {

/// What long work tells and asks while it runs.
struct Progress {
  std::function<void(const std::string& phase)> tell;  ///< "reading 2 files", on any thread; may be empty
  std::stop_token stop;

  /// Throws Cancelled where the work is no longer wanted.
  void go_on() const;

  /// The same, and tells.
  void begin(const std::string& phase) const;
};

/// The user gave up waiting. No error.
struct Cancelled {};

}  // namespace interlace::gui
