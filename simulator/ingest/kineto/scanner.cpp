#include "simulator/ingest/kineto/scanner.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace interlace::ingest::kineto {

namespace {

constexpr std::string_view kWhiteSpace = " \n\r\t";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// The position of the last character before `at` that is no white space.
std::optional<std::size_t> before(std::string_view text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1])) --at;
  return at > 0 ? std::optional(at - 1) : std::nullopt;
}

bool begins_with_event_key(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kKeys{"\"ph\"",  "\"name\"", "\"cat\"", "\"ts\"", "\"pid\"",
                                                         "\"tid\"", "\"args\"", "\"dur\"", "\"id\""};
  return std::ranges::any_of(kKeys, [&](std::string_view key) { return text.starts_with(key); });
}

bool passes_last_fields(Scanner& scan) {
  while (scan.accept(',')) {
    if (scan.peek() != '"' || !scan.value() || !scan.accept(':') || !scan.value()) return false;
  }
  return scan.accept('}') && !scan.peek();
}

}  // namespace

std::optional<char> Scanner::peek() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  return at_ < text_.size() ? std::optional(text_[at_]) : std::nullopt;
}

bool Scanner::accept(char wanted) {
  if (peek() != wanted) return false;
  ++at_;
  return true;
}

bool Scanner::pass_string() {
  std::size_t from = at_ + 1;
  while (true) {
    const std::size_t quote = text_.find('"', from);
    if (quote == std::string_view::npos) {
      at_ = text_.size();
      return false;
    }
    std::size_t first_backslash = quote;
    while (first_backslash > from && text_[first_backslash - 1] == '\\') --first_backslash;
    from = quote + 1;
    if ((quote - first_backslash) % 2 == 0) break;  // an even number of backslashes escape each other
  }
  at_ = from;
  return true;
}

bool Scanner::pass_nested() {
  std::size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!pass_string()) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 0) return true;
  }
  return false;
}

std::optional<std::string_view> Scanner::value() {
  const auto first = peek();
  if (!first) return std::nullopt;
  const std::size_t begin = at_;
  bool whole = true;
  if (*first == '"') {
    whole = pass_string();
  } else if (*first == '{' || *first == '[') {
    whole = pass_nested();
  } else {
    at_ = std::min(text_.find_first_of(",]}:{[\" \n\r\t", at_), text_.size());
    whole = at_ > begin && at_ < text_.size();
  }
  return whole ? std::optional(text_.substr(begin, at_ - begin)) : std::nullopt;
}

std::optional<std::size_t> likely_event(std::string_view text, std::size_t from) {
  for (std::size_t brace = text.find('{', from); brace != std::string_view::npos; brace = text.find('{', brace + 1)) {
    const auto comma = before(text, brace);
    if (!comma || text[*comma] != ',') continue;
    const std::size_t key = text.find_first_not_of(kWhiteSpace, brace + 1);
    if (key != std::string_view::npos && begins_with_event_key(text.substr(key))) return brace;
  }
  return std::nullopt;
}

std::optional<std::size_t> likely_events_end(std::string_view text, std::size_t event, std::size_t until,
                                             std::size_t& scanned) {
  std::ptrdiff_t open_braces = 0;
  for (std::size_t at = text.find_first_of("{}]", event); at < until; at = text.find_first_of("{}]", at + 1)) {
    if (text[at] == '{') ++open_braces;
    if (text[at] == '}') --open_braces;
    if (text[at] != ']' || open_braces > 0) continue;
    Scanner behind(text, at + 1);
    const bool is_end = passes_last_fields(behind);
    scanned += behind.at() - at;
    if (is_end) return at;
  }
  return std::nullopt;
}

}  // namespace interlace::ingest::kineto
