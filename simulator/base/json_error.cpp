#include "simulator/base/json_error.hpp"

namespace interlace {

namespace {

constexpr std::string_view kLine = " at line ";

}  // namespace

std::string_view json_complaint(std::string_view what) {
  if (what.starts_with("[json.exception.")) {
    const std::size_t name = what.find("] ");
    if (name != std::string_view::npos) what.remove_prefix(name + 2);
  }
  const std::size_t line = what.find(kLine);
  const std::size_t complaint = line == std::string_view::npos ? line : what.find(": ", line);
  return complaint == std::string_view::npos ? what : what.substr(complaint + 2);
}

std::string not_json(std::string_view what) {
  std::string text = "not JSON: " + std::string(json_complaint(what));
  const std::size_t line = what.find(kLine);
  if (line == std::string_view::npos) return text;
  const std::string_view number = what.substr(line + kLine.size());
  return "line " + std::string(number.substr(0, number.find_first_not_of("0123456789"))) + ": " + text;
}

}  // namespace interlace
