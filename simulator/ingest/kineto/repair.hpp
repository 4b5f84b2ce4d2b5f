#pragma once

#include <string>
#include <string_view>

namespace interlace::ingest::kineto {

/// Mends the text of one event as far as that can be done without guessing numbers: bytes that are no UTF-8 become
/// U+FFFD, control characters within strings become spaces, a quote within a string (one that neither follows
/// `{ [ , :` nor precedes `} ] , :`) is escaped, and so is a backslash before a letter that JSON does not know.
/// The result may still be invalid.
[[nodiscard]] std::string repair_event(std::string_view text);

}  // namespace interlace::ingest::kineto
