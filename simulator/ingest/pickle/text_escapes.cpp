#include "simulator/ingest/pickle/text_escapes.hpp"

#include <charconv>
#include <cstdint>

namespace interlace::ingest::pickle {

namespace {

/// The number of exactly so many digits at the front of the text, which are taken off.
std::optional<std::uint32_t> take_digits(std::string_view& text, std::size_t digits, int base) {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + digits;
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stopped != end) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

char low_byte(std::uint32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); }

void append_utf8(std::string& text, std::uint32_t point) {
  const auto tail = [&](unsigned shift) { return low_byte(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80U) {
    text += low_byte(point);
  } else if (point < 0x800U) {
    text += {low_byte(0xC0U | (point >> 6U)), tail(0)};
  } else if (point < 0x10000U) {
    text += {low_byte(0xE0U | (point >> 12U)), tail(6), tail(0)};
  } else {
    text += {low_byte(0xF0U | (point >> 18U)), tail(12), tail(6), tail(0)};
  }
}

/// The character that the escape behind a backslash means; the escape is taken off.
std::optional<char> take_escape(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const char mark = text.front();
  if (mark >= '0' && mark <= '7') {
    std::size_t digits = 1;
    while (digits < 3 && digits < text.size() && text[digits] >= '0' && text[digits] <= '7') ++digits;
    const auto number = take_digits(text, digits, 8);
    return number ? std::optional(low_byte(*number)) : std::nullopt;
  }
  text.remove_prefix(1);
  switch (mark) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case '\\':
    case '\'':
    case '"': return mark;
    case 'x': {
      const auto number = take_digits(text, 2, 16);
      return number ? std::optional(low_byte(*number)) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> unquoted(std::string_view literal) {
  const bool is_quoted =
      literal.size() >= 2 && (literal.front() == '\'' || literal.front() == '"') && literal.back() == literal.front();
  if (!is_quoted) return std::nullopt;
  std::string_view rest = literal.substr(1, literal.size() - 2);
  std::string text;
  while (!rest.empty()) {
    const char next = rest.front();
    rest.remove_prefix(1);
    if (next != '\\') {
      text += next;
      continue;
    }
    const auto meant = take_escape(rest);
    if (!meant) return std::nullopt;
    text += *meant;
  }
  return text;
}

std::optional<std::string> from_raw_unicode_escape(std::string_view escaped) {
  std::string text;
  while (!escaped.empty()) {
    const char next = escaped.front();
    escaped.remove_prefix(1);
    const bool is_escape = next == '\\' && !escaped.empty() && (escaped.front() == 'u' || escaped.front() == 'U');
    if (!is_escape) {
      append_utf8(text, static_cast<unsigned char>(next));
      continue;
    }
    const std::size_t digits = escaped.front() == 'u' ? 4 : 8;
    escaped.remove_prefix(1);
    const auto point = take_digits(escaped, digits, 16);
    if (!point || *point > 0x10FFFFU) return std::nullopt;
    append_utf8(text, *point);
  }
  return text;
}

}  // namespace interlace::ingest::pickle
