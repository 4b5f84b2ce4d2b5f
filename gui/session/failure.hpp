#pragma once

#include <exception>
#include <string>

namespace interlace::gui {

/// Why something that the user asked for did not happen, for a dialog.
struct Failure {
  std::string title;    ///< what was tried: "The recording cannot be opened"
  std::string problem;  ///< what is wrong
  std::string place;    ///< file, with line or byte where known; may be empty
  std::string advice;   ///< what to do; may be empty
  std::string code;     ///< stable ("ingest.unknown_format"), of a schedule all of them; may be empty
};

/// Of an exception caught; anything that is no interlace::Error is told by its own words, and `place` is where.
[[nodiscard]] Failure failure_of(std::exception_ptr caught, std::string title, std::string place = {});

/// All of it as text, a line each.
[[nodiscard]] std::string text_of(const Failure& failure);

}  // namespace interlace::gui
