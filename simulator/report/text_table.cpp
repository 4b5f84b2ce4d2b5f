#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

constexpr char kColourBegin = '\x1b';
constexpr std::size_t kDeeper = 4;  ///< indent of the further lines of a row

std::string padded(std::string_view cell, std::size_t width, Align align) {
  const std::string space(width - std::min(width, columns_of(cell)), ' ');
  return align == Align::kLeft ? std::string(cell) + space : space + std::string(cell);
}

std::size_t count_distinct(const std::vector<std::string>& texts) {
  return std::set<std::string_view>(texts.begin(), texts.end()).size();
}

std::vector<std::string> column_of(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  std::vector<std::string> cells;
  for (const auto& row : rows) cells.push_back(row[column]);
  return cells;
}

void set_column(std::vector<std::vector<std::string>>& rows, std::size_t column, std::vector<std::string> cells) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][column] = std::move(cells[i]);
}

std::size_t widest_of(const std::vector<std::string>& texts) {
  std::size_t widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, columns_of(text));
  return widest;
}

/// Takes the column's briefer cells, where they are narrower and tell rows apart as well.
bool make_brief(std::vector<std::vector<std::string>>& rows, std::size_t column,
                std::string (*brief)(std::string_view)) {
  const std::vector<std::string> cells = column_of(rows, column);
  std::vector<std::string> briefer;
  for (const std::string& cell : cells) briefer.push_back(brief(cell));
  if (widest_of(briefer) >= widest_of(cells) || count_distinct(briefer) < count_distinct(cells)) return false;
  set_column(rows, column, std::move(briefer));
  return true;
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

TextTable::Rows TextTable::brief_rows(std::size_t room) const {
  Rows rows = rows_;
  std::vector<std::size_t> width;  // with titles broken into words
  std::vector<bool> can_be_brief;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    can_be_brief.push_back(column.brief != nullptr);
    if (widest_of(column_of(rows, i)) > column.most) {
      if (can_be_brief[i]) make_brief(rows, i, column.brief);
      can_be_brief[i] = false;
    }
    width.push_back(
        std::max(std::min(widest_of(column_of(rows, i)), column.most), widest_of(wrapped(column.title, 1))));
  }
  while (std::accumulate(width.begin(), width.end(), 2 * (width.size() - 1)) > room) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < width.size(); ++i) {
      if (can_be_brief[i] && (!widest || width[i] > width[*widest])) widest = i;
    }
    if (!widest) break;
    can_be_brief[*widest] = false;
    if (!make_brief(rows, *widest, columns_[*widest].brief)) continue;
    width[*widest] = std::max(widest_of(column_of(rows, *widest)), widest_of(wrapped(columns_[*widest].title, 1)));
  }
  return rows;
}

std::vector<std::size_t> TextTable::widths(const Rows& rows, std::size_t room) const {
  constexpr std::size_t kNarrowest = 10;  // of a column of shortened names
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::vector<std::size_t> least(columns_.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(columns_of(row[i]), columns_[i].most));
      if (columns_[i].align == Align::kRight || row[i].find(kColourBegin) != std::string::npos) least[i] = widths[i];
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
  Rows rows = brief_rows(room);
  const std::vector<std::size_t> width = widths(rows, room);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    set_column(rows, i, shortened_apart(column_of(rows, i), width[i], columns_[i].cut));
  }
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
  for (const auto& row : rows) {
    for (std::size_t part = 0; part + 1 < begins.size(); ++part) {
      out += line(part, [&](std::size_t i) { return row[i]; }) + "\n";
    }
  }
  return out;
}

}  // namespace interlace::report
