#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace interlace::ingest::pickle {

/// The text between the quotes of a Python string literal, as protocol 0 writes STRING: with quotes of either kind
/// around it and backslash escapes in it. None where it is no such literal.
[[nodiscard]] std::optional<std::string> unquoted(std::string_view literal);

/// A text as protocol 0 writes UNICODE: Latin-1 with \uXXXX and \UXXXXXXXX for all beyond; gives UTF-8. None where an
/// escape is damaged.
[[nodiscard]] std::optional<std::string> from_raw_unicode_escape(std::string_view escaped);

}  // namespace interlace::ingest::pickle
