#include "simulator/cli/paragraph.hpp"

#include <algorithm>
#include <ostream>
#include <string>

#include "simulator/report/diagnostics_table.hpp"

namespace interlace::cli {

void write_paragraph(std::ostream& out, std::string_view word, std::string_view text, const report::TextStyle& style,
                     const Margin& margin) {
  const std::size_t begin = margin.indent + margin.width;
  std::string lead = std::string(margin.indent, ' ') + std::string(word);
  lead.append(std::max(begin, lead.size() + (word.empty() ? 0 : 1)) - lead.size(), ' ');
  for (const std::string& line : report::wrapped(text, style.width - lead.size())) {
    out << report::coloured(style, report::Colour::kDim, lead) << line << '\n';
    lead.assign(lead.size(), ' ');
  }
}

void write_flaws(std::ostream& out, std::string_view whose, std::span<const Diagnostic> flaws,
                 const report::TextStyle& style, const Margin& margin) {
  for (const Diagnostic& flaw : flaws) {
    if (flaw.severity == Severity::kInfo) break;
    write_paragraph(out, flaw.severity == Severity::kDataLoss ? "lost" : "beware",
                    std::string(whose) + report::flaw_text(flaw), style, margin);
  }
}

}  // namespace interlace::cli
