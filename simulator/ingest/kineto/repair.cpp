#include "simulator/ingest/kineto/repair.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace interlace::ingest::kineto {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the valid UTF-8 sequence that begins `text`; 0 where none does (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

bool closes_string(std::string_view text, std::size_t quote) {
  const std::size_t next = text.find_first_not_of(" \n\r\t", quote + 1);
  return next == std::string_view::npos || std::string_view(",:}]").find(text[next]) != std::string_view::npos;
}

/// Appends the escape that begins at `at` (a backslash), mended; how many characters it took.
std::size_t copy_escape(std::string_view text, std::size_t at, std::string& out) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
  if (kind == 'u') {
    const std::string_view digits = text.substr(at + 2).substr(0, 4);
    const bool is_hex = digits.size() == 4 && std::ranges::all_of(digits, [](char c) {
                          return std::isxdigit(static_cast<unsigned char>(c)) != 0;
                        });
    if (is_hex) {
      // Half of a surrogate pair alone is refused by parsers. A whole pair that stands in a damaged event is given up.
      const bool may_be_surrogate = digits[0] == 'd' || digits[0] == 'D';
      out += may_be_surrogate ? kReplacement : text.substr(at, 6);
      return 6;
    }
  } else if (kind != '\0' && std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos) {
    out += text.substr(at, 2);
    return 2;
  }
  out += "\\\\";
  return 1;
}

}  // namespace

std::string repair_event(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      out += kReplacement;
      ++at;
    } else if (length > 1) {
      out += text.substr(at, length);
      at += length;
    } else if (in_string && c == '\\') {
      at += copy_escape(text, at, out);
    } else if (c == '"') {
      if (!in_string) {
        in_string = true;
        out += c;
      } else if (closes_string(text, at)) {
        in_string = false;
        out += c;
      } else {
        out += "\\\"";
      }
      ++at;
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      ++at;
    }
  }
  return out;
}

}  // namespace interlace::ingest::kineto
