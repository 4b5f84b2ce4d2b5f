#pragma once

#include <cstddef>
#include <string_view>

namespace interlace::report {

/// What stands for bytes that are no UTF-8: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length in bytes of the well-formed UTF-8 sequence at `at` (< text.size()); 0 where there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace interlace::report
