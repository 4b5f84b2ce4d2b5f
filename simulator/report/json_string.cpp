#include "simulator/report/json_string.hpp"

#include <cstddef>
#include <iterator>

#include "simulator/report/utf8.hpp"

namespace interlace::report {

void append_json_string(fmt::memory_buffer& to, std::string_view text) {
  to.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const char c = text[at];
    if (length == 0) {
      to.append(kReplacement);
    } else if (c == '"' || c == '\\') {
      to.push_back('\\');
      to.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      to.append(text.substr(at, length));
    }
    at += length == 0 ? 1 : length;
  }
  to.push_back('"');
}

}  // namespace interlace::report
