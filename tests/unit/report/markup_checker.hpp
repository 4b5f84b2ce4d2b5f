#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlace::report {

/// What is wrong with a text as XML, apart from its names: tags that do not match, attributes without quotes, loose
/// '<' or '&'. None where it is well-formed. (A check for tests of what this project writes, not a parser.)
inline std::optional<std::string> markup_problem(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto here = [&] { return std::string(text.substr(at, 60)); };
    if (text[at] == '&') {
      const std::size_t end = text.find(';', at);
      if (end == std::string_view::npos || end - at > 7) return "loose &: " + here();
    }
    if (text[at] == '>') return "loose >: " + here();
    if (text[at] != '<') continue;
    if (text.substr(at).starts_with("<!DOCTYPE")) {
      at = text.find('>', at);
      continue;
    }
    std::size_t end = at + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "loose <: " + here();
    }
    if (end == text.size()) return "tag without end: " + here();
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    const std::string name(
        tag.substr(tag.starts_with('/') ? 1 : 0, tag.find_first_of(" /\n", 1) - (tag.starts_with('/') ? 1 : 0)));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != name) return "closes what is not open: " + here();
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  if (!open.empty()) return "never closed: " + open.back();
  return std::nullopt;
}

}  // namespace interlace::report
