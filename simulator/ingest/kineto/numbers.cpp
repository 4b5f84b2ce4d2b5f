#include "simulator/ingest/kineto/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace interlace::ingest::kineto {

namespace {

constexpr Nanoseconds kLargest = std::int64_t{1} << 62U;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// digits * 10^shift, where the digits stand in `text` with at most one point among them. None where that is not so.
std::optional<std::int64_t> scale_digits(std::string_view text, std::int64_t shift) {
  std::int64_t value = 0;
  bool seen_digit = false;
  bool seen_point = false;
  std::int64_t digits_wanted_after_point = shift;  // may be negative: the last digits before the point are cut, too
  std::int64_t digits_before_point = 0;
  for (std::size_t i = 0; i < text.size() && text[i] != '.'; ++i) ++digits_before_point;

  std::int64_t place = digits_before_point + digits_wanted_after_point;  // digits left that count
  bool round_up = false;
  for (const char c : text) {
    if (c == '.') {
      if (seen_point) return std::nullopt;
      seen_point = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    seen_digit = true;
    if (place > 0) {
      if (value > (kLargest - 9) / 10) return std::nullopt;
      value = value * 10 + (c - '0');
    } else if (place == 0) {
      round_up = c >= '5';
    }
    --place;
  }
  if (!seen_digit) return std::nullopt;
  for (; place > 0; --place) {
    if (value == 0) break;
    if (value > kLargest / 10) return std::nullopt;
    value *= 10;
  }
  return value + (round_up ? 1 : 0);
}

}  // namespace

std::optional<Nanoseconds> parse_microseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t exponent = 0;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{} || end != digits.data() + digits.size() || exponent > 30 || exponent < -30) {
      return std::nullopt;
    }
    text = text.substr(0, e);
  }
  const auto magnitude = scale_digits(text, 3 + exponent);
  if (!magnitude) return std::nullopt;
  return negative ? -*magnitude : *magnitude;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (rest.empty()) return value;
  const bool is_zero_fraction = rest.starts_with('.') && rest.find_first_not_of('0', 1) == std::string_view::npos;
  return is_zero_fraction ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::optional<std::vector<std::int64_t>> parse_integers(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::int64_t> values;
  for (bool has_next = !text.empty(); has_next;) {
    const std::size_t comma = text.find(',');
    has_next = comma != std::string_view::npos;
    const auto value = parse_integer(text.substr(0, comma));
    if (!value) return std::nullopt;
    values.push_back(*value);
    text.remove_prefix(has_next ? comma + 1 : text.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return values;
}

}  // namespace interlace::ingest::kineto
