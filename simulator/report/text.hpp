#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::report {

/// How text for people is laid out.
struct TextStyle {
  bool colour = false;      ///< ANSI colours; only for a terminal whose user did not set NO_COLOR
  bool unicode = true;      ///< drawing characters beyond ASCII
  std::size_t width = 100;  ///< columns; lines are wrapped or shortened to fit

  bool operator==(const TextStyle&) const = default;
};

enum class Colour : std::uint8_t { kBold, kDim, kGood, kBad, kWarning };

/// `text` in that colour where the style has colours, else as it is.
[[nodiscard]] std::string coloured(const TextStyle& style, Colour colour, std::string_view text);

/// Columns a text takes: its code points, escape sequences of `coloured` aside. (Every character is taken as one wide.)
[[nodiscard]] std::size_t columns_of(std::string_view utf8);
/// The first `columns` columns at most; a cut text ends in "...".
[[nodiscard]] std::string shortened(std::string_view utf8, std::size_t columns);
/// Shortened in the middle, so that beginning and end stay readable.
[[nodiscard]] std::string shortened_middle(std::string_view utf8, std::size_t columns);
/// Shortened in front, as paths are best.
[[nodiscard]] std::string shortened_front(std::string_view utf8, std::size_t columns);
/// Breaks at spaces into lines of at most `columns`; a longer word has a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view utf8, std::size_t columns);

/// "33.92": milliseconds with two decimals.
[[nodiscard]] std::string milliseconds(Nanoseconds time);
/// "12 B", "1.5 KiB", "24.0 MiB", "13.49 GiB".
[[nodiscard]] std::string bytes_text(Bytes bytes);
/// "85 %" of a ratio in [0, 1].
[[nodiscard]] std::string percent(double ratio);
/// "1,234,567".
[[nodiscard]] std::string thousands(std::int64_t number);
/// "1 step", "12,345 steps". noun: one whose plural ends in s.
[[nodiscard]] std::string counted(std::int64_t number, std::string_view noun);

/// A kernel's name without return type and parameter lists, template arguments without theirs: for columns, not
/// identity. "void a::k<4, b<float>>(int)" -> "a::k<4, b<>>".
[[nodiscard]] std::string short_kernel_name(std::string_view demangled);

enum class Align : std::uint8_t { kLeft, kRight };
/// Where a cell without room is cut.
enum class Cut : std::uint8_t { kMiddle, kFront };

/// The texts of one column in `columns` each: cut where `cut` says, but those that would then read the same are cut
/// elsewhere, so that what tells them apart stays where it finds room.
[[nodiscard]] std::vector<std::string> shortened_apart(const std::vector<std::string>& texts, std::size_t columns,
                                                       Cut cut);

/// Rows of cells in columns two spaces apart. Cells may hold colours. What is wider than the style has its titles
/// broken into lines, then the widest columns that have briefer forms of their cells in these, and then its longest
/// left-aligned cells shortened so that rows stay apart (shortened_apart), those with colours aside. Columns that still
/// find no room stand below the others, in further lines of their row.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    Cut cut = Cut::kMiddle;
    std::size_t most = std::string::npos;  ///< columns it takes in a wide table, too
    /// A cell without what it can do without, taken for all cells of the column where they stay as distinct.
    std::string (*brief)(std::string_view cell) = nullptr;
  };
  explicit TextTable(std::vector<Column> columns);

  /// As many cells as columns.
  void add(std::vector<std::string> cells);
  /// Lines, each indented by `indent` spaces and ended by a newline; titles dim.
  [[nodiscard]] std::string text(const TextStyle& style, std::size_t indent = 0) const;

 private:
  using Rows = std::vector<std::vector<std::string>>;
  /// The cells, in their briefer forms where there is no room for the others.
  [[nodiscard]] Rows brief_rows(std::size_t room) const;
  /// Of columns, so that a line takes at most `room` where that can be had.
  [[nodiscard]] std::vector<std::size_t> widths(const Rows& rows, std::size_t room) const;
  /// The first column of each line of a row, and the number of columns behind them.
  [[nodiscard]] static std::vector<std::size_t> line_begins(const std::vector<std::size_t>& widths, std::size_t room);

  std::vector<Column> columns_;
  Rows rows_;
};

}  // namespace interlace::report
