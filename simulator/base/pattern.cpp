#include "simulator/base/pattern.hpp"

#include <re2/re2.h>

#include <array>

namespace interlace {

Pattern::Pattern(std::string_view expression, Case letters) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(letters == Case::kTold);
  expression_ = std::make_unique<re2::RE2>(re2::StringPiece(expression.data(), expression.size()), options);
  if (!expression_->ok()) throw Problem(expression_->error());
}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::is_in(std::string_view text) const {
  return expression_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::optional<std::string_view> Pattern::capture_in(std::string_view text) const {
  if (expression_->NumberOfCapturingGroups() == 0) return std::nullopt;
  std::array<re2::StringPiece, 2> found;
  if (!expression_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, found.data(), 2)) {
    return std::nullopt;
  }
  return std::string_view(found[1].data(), found[1].size());
}

}  // namespace interlace
