#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string_view>

#include "simulator/base/diagnostics.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

/// Columns before what stands under a title.
inline constexpr std::size_t kIndent = 2;

/// Where the text of a paragraph begins: behind the indent and a margin that holds a word.
struct Margin {
  std::size_t indent = kIndent;
  std::size_t width = 10;
};
/// A paragraph with a word in its margin.
void write_paragraph(std::ostream& out, std::string_view word, std::string_view text, const report::TextStyle& style,
                     const Margin& margin = {});
/// Flaws that may shift an answer, a paragraph each: "lost" or "beware". flaws: the gravest first. whose: said in
/// front.
void write_flaws(std::ostream& out, std::string_view whose, std::span<const Diagnostic> flaws,
                 const report::TextStyle& style, const Margin& margin);

}  // namespace interlace::cli
