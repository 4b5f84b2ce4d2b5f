#pragma once

#include <fmt/format.h>

#include <string_view>

namespace interlace::report {

/// Appends `text` as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
void append_json_string(fmt::memory_buffer& to, std::string_view text);

}  // namespace interlace::report
