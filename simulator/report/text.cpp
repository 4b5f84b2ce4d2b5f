#include "simulator/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <optional>
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

std::string padded(std::string_view cell, std::size_t width, Align align) {
  const std::string space(width - std::min(width, columns_of(cell)), ' ');
  return align == Align::kLeft ? std::string(cell) + space : space + std::string(cell);
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

namespace {

constexpr std::size_t kDeeper = 4;  ///< indent of the further lines of a row

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(std::size_t room) const {
  constexpr std::size_t kNarrowest = 10;  // of a column of shortened names
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::vector<std::size_t> least(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
      if (columns_[i].align == Align::kRight || row[i].find(kEscape) != std::string::npos) least[i] = widths[i];
    }
  }
  const auto excess = [&] {
    const std::size_t all = std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
    return all > room ? all - room : 0;
  };
  const std::vector<std::size_t> of_cells = widths;
  for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], columns_of(columns_[i].title));
  if (excess() == 0) return widths;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (const std::string& word : wrapped(columns_[i].title, 1)) least[i] = std::max(least[i], columns_of(word));
    widths[i] = std::max(of_cells[i], least[i]);
  }
  const std::vector<std::size_t> unshortened = widths;
  while (excess() > 0) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool shrinks = widths[i] > std::max(least[i], kNarrowest);
      if (shrinks && (!widest || widths[i] > widths[*widest])) widest = i;
    }
    if (!widest) {  // shortened they need several lines all the same
      widths = unshortened;
      for (std::size_t& width : widths) width = std::min(width, room - std::min(room, kDeeper));
      break;
    }
    --widths[*widest];
  }
  return widths;
}

std::vector<std::size_t> TextTable::line_begins(const std::vector<std::size_t>& widths, std::size_t room) {
  std::vector<std::size_t> begins{0};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool is_first = i == begins.back();
    if (!is_first && taken + 2 + widths[i] > room) {
      begins.push_back(i);
      taken = kDeeper + widths[i];
    } else {
      taken += (is_first ? 0 : 2) + widths[i];
    }
  }
  begins.push_back(widths.size());
  return begins;
}

std::string TextTable::text(const TextStyle& style, std::size_t indent) const {
  const std::size_t room = style.width - std::min(style.width, indent);
  const std::vector<std::size_t> width = widths(room);
  const std::vector<std::size_t> begins = line_begins(width, room);
  const auto line = [&](std::size_t part, const auto& cell_of) {
    std::string out(indent + (part == 0 ? 0 : kDeeper), ' ');
    for (std::size_t i = begins[part]; i < begins[part + 1]; ++i) {
      if (i > begins[part]) out += "  ";
      out += padded(cell_of(i), width[i], columns_[i].align);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::vector<std::vector<std::string>> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) titles.push_back(wrapped(columns_[i].title, width[i]));
  std::string out;
  for (std::size_t part = 0; part + 1 < begins.size(); ++part) {
    std::size_t height = 1;
    for (std::size_t i = begins[part]; i < begins[part + 1]; ++i) height = std::max(height, titles[i].size());
    // Titles of several lines stand on the bottom.
    for (std::size_t left = height; left > 0; --left) {
      const auto title = [&](std::size_t i) {
        return left > titles[i].size() ? std::string() : titles[i][titles[i].size() - left];
      };
      out += coloured(style, Colour::kDim, line(part, title)) + "\n";
    }
  }
  const auto fitted = [&](const std::string& cell, std::size_t columns) {
    return columns_of(cell) > columns ? shortened_middle(cell, columns) : cell;
  };
  for (const auto& row : rows_) {
    for (std::size_t part = 0; part + 1 < begins.size(); ++part) {
      out += line(part, [&](std::size_t i) { return fitted(row[i], width[i]); }) + "\n";
    }
  }
  return out;
}

}  // namespace interlace::report
