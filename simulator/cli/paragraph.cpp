#include "simulator/cli/paragraph.hpp"

#include <algorithm>
#include <ostream>
#include <string>

namespace interlace::cli {

void write_paragraph(std::ostream& out, std::string_view word, std::string_view text, const report::TextStyle& style,
                     const Margin& margin) {
  const std::size_t begin = margin.indent + margin.width;
  std::string lead = std::string(margin.indent, ' ') + std::string(word);
  lead.append(begin - std::min(begin, lead.size()), ' ');
  for (const std::string& line : report::wrapped(text, style.width - lead.size())) {
    out << report::coloured(style, report::Colour::kDim, lead) << line << '\n';
    lead.assign(lead.size(), ' ');
  }
}

}  // namespace interlace::cli
