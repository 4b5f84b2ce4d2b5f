#include "simulator/report/diagnostics_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>
#include <vector>

namespace interlace::report {

namespace {

constexpr std::size_t kLongestPlace = 60;  // columns

Colour colour_of(Severity severity) {
  switch (severity) {
    case Severity::kDataLoss: return Colour::kBad;
    case Severity::kWarning: return Colour::kWarning;
    case Severity::kInfo: return Colour::kDim;
  }
  return Colour::kDim;
}

}  // namespace

std::vector<Diagnostic> gravest_first(std::span<const Diagnostic> diagnostics) {
  std::vector<Diagnostic> sorted(diagnostics.begin(), diagnostics.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &Diagnostic::severity);
  return sorted;
}

std::string diagnostics_summary(std::span<const Diagnostic> diagnostics) {
  std::string text;
  for (const Severity severity : {Severity::kDataLoss, Severity::kWarning, Severity::kInfo}) {
    const auto kinds = std::ranges::count(diagnostics, severity, &Diagnostic::severity);
    if (kinds == 0) continue;
    const std::string_view plural = severity == Severity::kDataLoss ? "es" : severity == Severity::kWarning ? "s" : "";
    text += fmt::format("{}{} {}{}", text.empty() ? "data quality: " : ", ", kinds, to_string(severity),
                        kinds == 1 ? "" : plural);
  }
  return text;
}

std::string flaw_text(const Diagnostic& found) {
  const std::string times = found.count == 1 ? "" : " x " + thousands(found.count);
  const std::string first =
      found.first_place.empty() ? "" : ", first: " + shortened_front(found.first_place, kLongestPlace);
  return fmt::format("{} ({}{}{})", found.meaning, found.code, times, first);
}

std::vector<std::string> flaws_in_full(std::span<const Diagnostic> diagnostics) {
  std::vector<std::string> texts;
  for (const Diagnostic& found : gravest_first(diagnostics)) {
    if (found.severity == Severity::kInfo) break;
    texts.push_back(fmt::format("{}: {}{}{}", found.severity == Severity::kDataLoss ? "lost" : "beware",
                                flaw_text(found), found.advice.empty() ? "" : " -> ", found.advice));
  }
  return texts;
}

void write_diagnostics(std::ostream& out, std::span<const Diagnostic> diagnostics, const TextStyle& style) {
  out << coloured(style, Colour::kBold, "data quality") << '\n';
  if (diagnostics.empty()) {
    out << "  nothing was missing, repaired or inferred\n";
    return;
  }
  constexpr std::size_t kIndent = 13;
  for (const Diagnostic& found : gravest_first(diagnostics)) {
    out << fmt::format("  {}{}{} x {}\n", coloured(style, colour_of(found.severity), to_string(found.severity)),
                       std::string(kIndent - 2 - to_string(found.severity).size(), ' '), found.code,
                       thousands(found.count));
    std::string meaning = found.meaning;
    const std::size_t longest = std::min(kLongestPlace, style.width - kIndent - 1);
    if (!found.first_place.empty()) meaning += fmt::format(" (first: {})", shortened_front(found.first_place, longest));
    for (const std::string& text : {meaning, found.advice.empty() ? std::string() : "-> " + found.advice}) {
      for (const std::string& line : wrapped(text, style.width - kIndent)) {
        out << std::string(kIndent, ' ') << line << '\n';
      }
    }
  }
}

}  // namespace interlace::report
