#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace interlace::ingest::kineto {

/// Walks over JSON text without building anything: finds where values end. It knows strings, escapes and nesting, and
/// nothing else; whether a value is sound shows when it is parsed.
class Scanner {
 public:
  explicit Scanner(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  /// The next character that is no white space, without passing it; none at the end of the text.
  [[nodiscard]] std::optional<char> peek();
  /// Passes the next character where it is this one.
  bool accept(char wanted);

  /// Passes a value. Its text; none where the text ends first (the position then is the end) or no value begins here
  /// (the position then stays).
  std::optional<std::string_view> value();

 private:
  bool pass_string();
  bool pass_nested();

  std::string_view text_;
  std::size_t at_;
};

/// Where the next event seems to begin: the first '{' at or behind `from` that follows a comma, and whose first key is
/// one of an event's. This is a guess (such text may stand inside a string or a nested list) to be verified by parsing
/// up to it. None where there is no such place.
[[nodiscard]] std::optional<std::size_t> likely_event(std::string_view text, std::size_t from);

/// Where traceEvents seems to end, if its last event is the damaged one at `event`: the first ']' in [event, until)
/// that closes no less braces than were opened, and behind which the text is that of an object's end: any number of
/// fields,
/// '}', nothing. (Without the braces, text that is cut off behind a list within an event would look complete.)
/// scanned: increased by the number of characters looked at to tell.
[[nodiscard]] std::optional<std::size_t> likely_events_end(std::string_view text, std::size_t event, std::size_t until,
                                                           std::size_t& scanned);

}  // namespace interlace::ingest::kineto
