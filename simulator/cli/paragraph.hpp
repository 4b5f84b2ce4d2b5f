#pragma once

#include <cstddef>
#include <iosfwd>
#include <string_view>

#include "simulator/report/text.hpp"

namespace interlace::cli {

/// Where the text of a paragraph begins: behind the indent and a margin that holds a word.
struct Margin {
  std::size_t indent = 2;
  std::size_t width = 10;
};
/// A paragraph with a word in its margin.
void write_paragraph(std::ostream& out, std::string_view word, std::string_view text, const report::TextStyle& style,
                     const Margin& margin = {});

}  // namespace interlace::cli
