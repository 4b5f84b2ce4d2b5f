#include "simulator/base/diagnostics.hpp"

#include <algorithm>

#include "simulator/base/saturating.hpp"

namespace interlace {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kDataLoss: return "data loss";
  }
  return "unknown";
}

void Diagnostics::count(const DiagnosticKind& kind, std::string_view place, std::int64_t times) {
  if (times <= 0) return;
  add({std::string(kind.code), kind.severity, std::string(kind.meaning), std::string(kind.advice), times,
       std::string(place)});
}

void Diagnostics::add(const Diagnostic& found) {
  const auto same = std::ranges::find(entries_, found.code, &Diagnostic::code);
  if (same == entries_.end()) {
    entries_.push_back(found);
  } else {
    same->count = saturating_sum(same->count, found.count);
  }
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Diagnostic& entry : other.entries_) add(entry);
}

std::int64_t Diagnostics::count_of(std::string_view code) const {
  const auto found = std::ranges::find(entries_, code, &Diagnostic::code);
  return found == entries_.end() ? 0 : found->count;
}

}  // namespace interlace
