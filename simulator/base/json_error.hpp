#pragma once

#include <string>
#include <string_view>

namespace interlace {

/// What a JSON library's error says without the library's own name, code and place in front: of
/// "[json.exception.parse_error.101] parse error at line 2, column 1: syntax error - unexpected '}'" the part from
/// "syntax" on.
[[nodiscard]] std::string_view json_complaint(std::string_view what);

/// The same of a text that cannot be parsed, for the user: "line 2: not JSON: syntax error - unexpected '}'".
[[nodiscard]] std::string not_json(std::string_view what);

}  // namespace interlace
