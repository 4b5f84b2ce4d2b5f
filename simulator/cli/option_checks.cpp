#include "simulator/cli/option_checks.hpp"

#include <fmt/format.h>

#include <charconv>

namespace interlace::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  CLI::Validator validator;
  validator.operation([least, most](const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [read, failure] = std::from_chars(text.data(), end, value);
    const bool good = failure == std::errc() && read == end && value >= least && value <= most;
    return good ? std::string() : fmt::format("\"{}\" is no whole number from {} to {}", text, least, most);
  });
  return validator;
}

CLI::Validator number(const std::string& what, double least, double most) {
  CLI::Validator validator;
  validator.operation([what, least, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;  // NaN is neither
    return good ? std::string() : fmt::format("\"{}\" is no {} from {} to {}", text, what, least, most);
  });
  return validator;
}

}  // namespace interlace::cli
