#include "gui/timeline/search.hpp"

#include <algorithm>

#include "simulator/base/pattern.hpp"

namespace interlace::gui {

namespace {

Pattern compiled(std::string_view pattern) {
  try {
    return Pattern(pattern, Pattern::Case::kIgnored);
  } catch (const Pattern::Problem& error) {
    throw Error(kBadPattern, std::string(pattern), std::string("no regular expression: ") + error.what(),
                "put a backslash before ( ) [ ] { } . * + ? ^ $ | that are meant as they stand");
  }
}

}  // namespace

void check_pattern(std::string_view pattern) { (void)compiled(pattern); }

SearchHits::SearchHits(const trace::Trace& trace, std::string_view pattern) {
  if (pattern.empty()) return;
  const Pattern expression = compiled(pattern);
  matches_.reserve(trace.strings().size());
  for (const std::string& text : trace.strings()) matches_.push_back(expression.is_in(text));
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (matches(trace.names()[i])) hits_.push_back({i});
  }
}

std::optional<trace::OperationId> SearchHits::next(std::optional<trace::OperationId> from) const {
  if (hits_.empty()) return std::nullopt;
  if (!from) return hits_.front();
  const auto after = std::ranges::upper_bound(hits_, *from);
  return after == hits_.end() ? hits_.front() : *after;
}

std::optional<trace::OperationId> SearchHits::previous(std::optional<trace::OperationId> from) const {
  if (hits_.empty()) return std::nullopt;
  if (!from) return hits_.back();
  const auto at = std::ranges::lower_bound(hits_, *from);
  return at == hits_.begin() ? hits_.back() : *(at - 1);
}

std::size_t SearchHits::number_of(trace::OperationId op) const {
  const auto at = std::ranges::lower_bound(hits_, op);
  if (at == hits_.end() || *at != op) return 0;
  return static_cast<std::size_t>(at - hits_.begin()) + 1;
}

}  // namespace interlace::gui
