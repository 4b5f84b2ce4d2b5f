#include "simulator/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace interlace::report {

namespace {

constexpr char kEscape = '\x1b';

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Byte position behind the first `columns` code points.
std::size_t byte_of_column(std::string_view utf8, std::size_t columns) {
  std::size_t at = 0;
  while (at < utf8.size() && columns > 0) {
    ++at;
    while (at < utf8.size() && continues_code_point(utf8[at])) ++at;
    --columns;
  }
  return at;
}

}  // namespace

std::string coloured(const TextStyle& style, Colour colour, std::string_view text) {
  if (!style.colour) return std::string(text);
  static constexpr std::array<std::string_view, 5> kCodes{"1", "2", "1;32", "31", "33"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(colour)], text);
}

std::size_t columns_of(std::string_view utf8) {
  std::size_t columns = 0;
  bool in_escape = false;
  for (const char byte : utf8) {
    if (byte == kEscape) in_escape = true;
    if (!in_escape && !continues_code_point(byte)) ++columns;
    if (in_escape && byte == 'm') in_escape = false;
  }
  return columns;
}

std::string shortened(std::string_view utf8, std::size_t columns) {
  if (columns_of(utf8) <= columns) return std::string(utf8);
  if (columns <= 3) return std::string(utf8.substr(0, byte_of_column(utf8, columns)));
  return std::string(utf8.substr(0, byte_of_column(utf8, columns - 3))) + "...";
}

std::string shortened_middle(std::string_view utf8, std::size_t columns) {
  const std::size_t all = columns_of(utf8);
  if (all <= columns || columns <= 5) return shortened(utf8, columns);
  const std::size_t head = (columns - 3) * 2 / 3;
  const std::size_t tail = columns - 3 - head;
  return fmt::format("{}...{}", utf8.substr(0, byte_of_column(utf8, head)),
                     utf8.substr(byte_of_column(utf8, all - tail)));
}

std::string shortened_front(std::string_view utf8, std::size_t columns) {
  const std::size_t all = columns_of(utf8);
  if (all <= columns || columns <= 3) return shortened(utf8, columns);
  return "..." + std::string(utf8.substr(byte_of_column(utf8, all - (columns - 3))));
}

std::vector<std::string> wrapped(std::string_view utf8, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t at = 0;
  while (at < utf8.size()) {
    const std::size_t end = std::min(utf8.find(' ', at), utf8.size());
    const std::string_view word = utf8.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > columns) lines.push_back(std::exchange(line, {}));
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string milliseconds(Nanoseconds time) {
  return fmt::format("{:.2f}", static_cast<double>(time) / static_cast<double>(kMillisecond));
}

std::string bytes_text(Bytes bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, bytes < kGibibyte ? 1 : 2, kUnits[unit]);
}

std::string percent(double ratio) { return fmt::format("{:.0f} %", ratio * 100.0); }

std::string thousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", thousands(number), noun, number == 1 ? "" : "s");
}

std::string short_kernel_name(std::string_view demangled) {
  if (demangled.starts_with("void ")) demangled.remove_prefix(5);
  // "(anonymous namespace)" is a part of a name; any other parenthesis opens parameters, which end the kernel's name.
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::string name;
  int templates = 0;
  int parameters = 0;
  for (std::size_t at = 0; at < demangled.size(); ++at) {
    if (demangled.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
      if (templates < 2 && parameters == 0) name += "{anonymous}";
      continue;
    }
    const char c = demangled[at];
    if (c == '(' && templates == 0) break;
    if (c == '(') ++parameters;
    if (c == '>' && templates > 0 && parameters == 0) --templates;
    const bool is_bracket = (c == '<' || c == '>') && templates == 1;
    if (parameters == 0 && (templates < 2 || is_bracket)) name += c;
    if (c == '<' && parameters == 0) ++templates;
    if (c == ')' && parameters > 0) --parameters;
  }
  name.erase(name.find_last_not_of(' ') + 1);  // "Memcpy DtoH (Device -> Pinned)"
  return name.empty() ? std::string(demangled) : name;
}

}  // namespace interlace::report
