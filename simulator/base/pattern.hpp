#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace re2 {
class RE2;
}

namespace interlace {

/// A regular expression of a user, in RE2's syntax. Searching takes time in proportion to the text, whatever the
/// expression, and no stack: texts come from recordings, which may hold anything.
class Pattern {
 public:
  enum class Case : std::uint8_t { kTold, kIgnored };

  /// Throws Problem.
  explicit Pattern(std::string_view expression, Case letters = Case::kTold);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  /// Is it found anywhere in the text?
  [[nodiscard]] bool is_in(std::string_view text) const;
  /// What group 1 holds of the first place where it is found: empty where the group took no part, none where there is
  /// no group or nothing was found.
  [[nodiscard]] std::optional<std::string_view> capture_in(std::string_view text) const;

  /// Why a text is no regular expression.
  struct Problem : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

 private:
  std::unique_ptr<re2::RE2> expression_;
};

}  // namespace interlace
